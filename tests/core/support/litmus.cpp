#include "core/support/litmus.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace cxloom::test {

namespace {

constexpr std::uint32_t kLines = 2;

/// An access of a program, and the value that it writes.
struct LitmusAccess {
  bool sees() const { return step.kind != AccessKind::kWrite; }

  Step step;
  std::size_t thread;
  std::size_t number;  // in the thread
  int writes = 0;
};

std::vector<LitmusAccess> accesses_of(const LitmusProgram& program) {
  std::vector<LitmusAccess> all;
  std::array<int, kLines> written{};
  for (std::size_t thread = 0; thread < program.size(); ++thread) {
    for (std::size_t i = 0; i < program[thread].size(); ++i) {
      const Step& step = program[thread][i];
      all.push_back({step, thread, i, step.kind != AccessKind::kRead ? ++written[step.line] : 0});
    }
  }
  return all;
}

std::array<int, kLines> writes_of(const std::vector<LitmusAccess>& accesses) {
  std::array<int, kLines> writes{};
  for (const LitmusAccess& access : accesses) writes[access.step.line] += access.writes > 0 ? 1 : 0;
  return writes;
}

/// `seen` by access, `last` by line.
std::string outcome(const std::vector<LitmusAccess>& accesses, const std::vector<int>& seen,
                    const std::array<int, kLines>& last) {
  std::string text;
  const auto add = [&](int value) { text += (text.empty() ? "" : " ") + std::to_string(value); };
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    if (accesses[i].sees()) add(seen[i]);
  }
  const std::array<int, kLines> writes = writes_of(accesses);
  for (std::uint32_t line = 0; line < kLines; ++line) {
    if (writes[line] > 1) add(last[line]);
  }
  return text;
}

/// Every order of the accesses in which none comes before one that `behind(access, other)` it must follow.
LitmusOutcomes outcomes_of(const LitmusProgram& program,
                           const std::function<bool(const LitmusAccess&, const LitmusAccess&)>& behind) {
  const std::vector<LitmusAccess> accesses = accesses_of(program);
  LitmusOutcomes found;
  std::vector<int> seen(accesses.size());
  std::vector<bool> done(accesses.size());
  std::array<int, kLines> memory{};
  const std::function<void(std::size_t)> go_on = [&](std::size_t left) {
    if (left == 0) found.insert(outcome(accesses, seen, memory));
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      if (done[i]) continue;
      bool ready = true;
      for (std::size_t other = 0; other < accesses.size(); ++other)
        ready = ready && (done[other] || other == i || !behind(accesses[i], accesses[other]));
      if (!ready) continue;
      const std::array<int, kLines> before = memory;
      int& at = memory[accesses[i].step.line];
      seen[i] = at;
      if (accesses[i].writes > 0) at = accesses[i].writes;
      done[i] = true;
      go_on(left - 1);
      done[i] = false;
      memory = before;
    }
  };
  go_on(accesses.size());
  return found;
}

/// The outcome at an end of an exploration, where each thread has made so many accesses before the program's.
std::string outcome(const std::vector<LitmusAccess>& accesses, const CoherenceBench& bench,
                    std::size_t before) {
  const CoherenceBench::Results results = bench.results();
  const auto version = [&](const LitmusAccess& access) {
    return *results[access.thread][before + access.number];
  };
  std::array<std::map<CoherenceOracle::Version, int>, kLines> value_of;  // those before are zero
  for (const LitmusAccess& access : accesses) {
    if (access.writes > 0) value_of[access.step.line][version(access)] = access.writes;
  }
  std::vector<int> seen;
  for (const LitmusAccess& access : accesses) {
    // An atomic operation has read the version before the one that it made.
    const CoherenceOracle::Version made = access.step.kind == AccessKind::kAtomic ? 1 : 0;
    seen.push_back(value_of[access.step.line][version(access) - made]);
  }
  std::array<int, kLines> last{};
  for (std::uint32_t line = 0; line < kLines; ++line)
    last[line] = value_of[line][bench.oracle().latest(LineAddress{line})];
  return outcome(accesses, seen, last);
}

}  // namespace

LitmusProgram litmus_program(const std::string& text) {
  LitmusProgram program(1);
  bool fence = false;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word == "/") {
      program.emplace_back();
    } else if (word.size() == 2 && std::string("RWA").find(word[0]) != std::string::npos &&
               (word[1] == 'x' || word[1] == 'y')) {
      const std::uint32_t line = word[1] == 'x' ? 0 : 1;
      Step& step = program.back().emplace_back(word[0] == 'R'   ? read_of(line)
                                               : word[0] == 'W' ? write_of(line)
                                                                : atomic_of(line));
      step.fenced = std::exchange(fence, false);
    } else if (word == "F") {
      fence = true;
    } else {
      throw std::runtime_error("no access of a litmus test: " + word);
    }
  }
  return program;
}

LitmusOutcomes outcomes_in_order(const LitmusProgram& program) {
  return outcomes_of(program, [](const LitmusAccess& access, const LitmusAccess& other) {
    return access.thread == other.thread && other.number < access.number;
  });
}

LitmusOutcomes outcomes_in_order_of_lines(const LitmusProgram& program) {
  return outcomes_of(program, [&](const LitmusAccess& access, const LitmusAccess& other) {
    if (access.thread != other.thread || access.number < other.number) return false;
    const std::vector<Step>& steps = program[access.thread];
    bool fence = false;  // between the two
    for (std::size_t i = other.number + 1; i <= access.number; ++i) fence = fence || steps[i].fenced;
    return fence || access.step.line == other.step.line;
  });
}

LitmusOutcomes outcomes_thinkable(const LitmusProgram& program) {
  const std::vector<LitmusAccess> accesses = accesses_of(program);
  const std::array<int, kLines> writes = writes_of(accesses);
  LitmusOutcomes all;
  std::vector<int> seen(accesses.size());
  const std::function<void(std::size_t)> choose = [&](std::size_t i) {
    if (i == accesses.size()) {
      for (int x = std::min(1, writes[0]); x <= writes[0]; ++x) {
        for (int y = std::min(1, writes[1]); y <= writes[1]; ++y) all.insert(outcome(accesses, seen, {x, y}));
      }
      return;
    }
    const int most = accesses[i].sees() ? writes[accesses[i].step.line] : 0;
    for (seen[i] = 0; seen[i] <= most; ++seen[i]) {
      if (seen[i] == 0 || seen[i] != accesses[i].writes)
        choose(i + 1);  // nobody reads what it has yet to write
    }
  };
  choose(0);
  return all;
}

LitmusFound outcomes_explored(const LitmusProgram& program, LitmusStart start, CoherenceSetup system,
                              const CacheAgentParams& cache, std::uint32_t in_flight, AtomicsAt atomics) {
  const std::vector<LitmusAccess> accesses = accesses_of(program);
  const std::size_t before = start == LitmusStart::kEmpty ? 0 : 1;
  for (std::vector<Step> thread : program) {
    const std::uint32_t last = thread.back().line;
    if (before > 0)
      thread.insert(thread.begin(), start == LitmusStart::kShared ? read_of(last) : write_of(last));
    system.hosts.push_back({cache, {thread, false, in_flight}, atomics});
  }
  LitmusFound found;
  Explorer explorer([&] {
    auto bench = std::make_unique<CoherenceBench>(system);
    for (std::size_t thread = program.size(); before > 0 && thread-- > 0;) bench->run_step(thread);
    return bench;
  });
  explorer.show([&](const Explorable& state, const std::string& /*fingerprint*/) {
    if (state.choices() > 0) return;
    found.outcomes.insert(outcome(accesses, static_cast<const CoherenceBench&>(state), before));
  });
  found.exploration = explorer.explore();
  return found;
}

}  // namespace cxloom::test
