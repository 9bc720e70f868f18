#include "core/support/coherence_explorer.hpp"

#include <algorithm>
#include <exception>
#include <unordered_map>
#include <utility>

#include "base/random.hpp"

namespace cxloom::test {

namespace {

/// A text in 128 bits: millions of states are kept, and two of them are taken for one with probability
/// 10^-26.
struct Digest {
  std::uint64_t low = 0x243f'6a88'85a3'08d3;
  std::uint64_t high = 0x1319'8a2e'0370'7344;

  explicit Digest(const std::string& text) {
    for (const char each : text) {
      const auto byte = static_cast<unsigned char>(each);
      low = (low ^ byte) * 0x0000'0100'0000'01b3;
      high = mix_bits(high + byte);
    }
  }
  bool operator==(const Digest&) const = default;
};

struct DigestHash {
  std::size_t operator()(const Digest& digest) const { return digest.low ^ digest.high; }
};

}  // namespace

std::string Exploration::text() const {
  return std::to_string(states) + " states, " + std::to_string(transitions) + " transitions, depth " +
         std::to_string(depth) + ", " + std::to_string(ends) + " idle" +
         (whole ? "" : ", not the whole space");
}

std::vector<std::uint16_t> Explorer::path_to(std::uint32_t state) const {
  std::vector<std::uint16_t> path;
  for (; state != 0; state = states_[state].from) path.push_back(states_[state].by);
  std::reverse(path.begin(), path.end());
  return path;
}

std::unique_ptr<Explorable> Explorer::replay(const std::vector<std::uint16_t>& path) const {
  std::unique_ptr<Explorable> system = make_();
  for (const std::uint16_t choice : path) system->take(choice);
  return system;
}

// What it violates; empty: nothing.
std::string Explorer::attempt(Explorable& system, std::size_t choice) const {
  try {
    system.take(choice);
  } catch (const std::exception& error) {
    const std::string seen = system.violation();
    return seen.empty() ? error.what() : seen;
  }
  if (const std::string seen = system.violation(); !seen.empty()) return seen;
  if (system.deliveries() == 0 && !system.idle())
    return "deadlock: requests without an answer, and no message is on its way";
  return {};
}

void Explorer::violated(const std::string& what, const std::vector<std::uint16_t>& path) {
  found_.violation = what;
  const std::unique_ptr<Explorable> system = make_();
  system->keep_log();
  for (const std::uint16_t choice : path) {
    if (!attempt(*system, choice).empty()) break;
  }
  for (const std::string& line : system->log()) found_.path += line + "\n";
  found_.path += "violated: " + what + "\n";
}

void Explorer::add(const Explorable& system, const std::string& fingerprint, std::uint32_t from,
                   std::uint16_t by) {
  states_.push_back({from, by, static_cast<std::uint16_t>(system.choices()),
                     static_cast<std::uint16_t>(system.deliveries()), 0});
  if (system.idle()) ++found_.ends;
  if (see_) see_(system, fingerprint);
}

const Exploration& Explorer::explore() {
  std::unordered_map<Digest, std::uint32_t, DigestHash> known;
  const std::unique_ptr<Explorable> start = make_();
  known.emplace(Digest(start->fingerprint()), 0);
  add(*start, start->fingerprint(), 0, 0);
  std::uint32_t next_level = 1;
  for (std::uint32_t from = 0; from < states_.size(); ++from) {
    if (from == next_level) {
      ++found_.depth;
      next_level = static_cast<std::uint32_t>(states_.size());
    }
    states_[from].first = static_cast<std::uint32_t>(to_.size());
    std::vector<std::uint16_t> path = path_to(from);
    for (std::uint16_t choice = 0; choice < states_[from].choices; ++choice) {
      const std::unique_ptr<Explorable> system = replay(path);
      ++found_.transitions;
      if (const std::string wrong = attempt(*system, choice); !wrong.empty()) {
        path.push_back(choice);
        found_.states = states_.size();
        violated(wrong, path);
        return found_;
      }
      const std::string fingerprint = system->fingerprint();
      const auto [at, fresh] =
          known.try_emplace(Digest(fingerprint), static_cast<std::uint32_t>(states_.size()));
      if (fresh) add(*system, fingerprint, from, choice);
      to_.push_back(at->second);
    }
    found_.states = states_.size();
    if (states_.size() > most_states_) return found_;
  }
  found_.whole = true;
  find_livelock();
  return found_;
}

// Takes away states from which no delivery leads on, again and again. If some are left, deliveries lead from
// one to the next for ever.
void Explorer::find_livelock() {
  std::vector<std::vector<std::uint32_t>> before(states_.size());
  std::vector<std::uint32_t> left(states_.size());
  std::vector<std::uint32_t> ended;
  for (std::uint32_t from = 0; from < states_.size(); ++from) {
    left[from] = states_[from].deliveries;
    if (left[from] == 0) ended.push_back(from);
    for (std::uint32_t choice = 0; choice < left[from]; ++choice)
      before[to_[states_[from].first + choice]].push_back(from);
  }
  std::size_t taken = 0;
  for (; !ended.empty(); ++taken) {
    const std::uint32_t at = ended.back();
    ended.pop_back();
    for (const std::uint32_t from : before[at]) {
      if (--left[from] == 0) ended.push_back(from);
    }
  }
  if (taken == states_.size()) return;
  const auto first = std::find_if(left.begin(), left.end(), [](std::uint32_t count) { return count > 0; });
  violated("livelock: from here on messages may follow each other for ever",
           path_to(static_cast<std::uint32_t>(first - left.begin())));
}

std::string Explorer::check_fingerprints() const {
  for (std::uint32_t from = 0; from < states_.size(); ++from) {
    for (std::uint16_t by = 0; by < states_[from].choices; ++by) {
      const State& end = states_[to_[states_[from].first + by]];
      std::vector<std::uint16_t> here = path_to(from);
      here.push_back(by);
      std::vector<std::uint16_t> there = path_to(to_[states_[from].first + by]);
      if (here == there) continue;
      for (std::uint16_t choice = 0; choice < end.choices; ++choice) {
        const std::unique_ptr<Explorable> one = replay(here);
        const std::unique_ptr<Explorable> other = replay(there);
        if (one->choices() != end.choices) return "one fingerprint, different choices: " + one->fingerprint();
        one->take(choice);
        other->take(choice);
        if (one->fingerprint() != other->fingerprint())
          return "one fingerprint, different futures:\n" + one->fingerprint() + "\n" + other->fingerprint();
      }
    }
  }
  return {};
}

}  // namespace cxloom::test
