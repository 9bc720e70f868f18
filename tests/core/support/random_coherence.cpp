#include "core/support/random_coherence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <utility>

#include "base/json.hpp"
#include "coherence/common/coherence_home.hpp"
#include "component/component.hpp"
#include "core/support/coherence_oracle.hpp"
#include "core/support/plain_oracle.hpp"
#include "device/requester/requester.hpp"
#include "device/requester/sequencer.hpp"
#include "kernel/kernel.hpp"
#include "memory/memory_owner.hpp"

namespace cxloom::test {

namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Lets the oracle check between all events.
struct BetweenEvents final : EventWatcher {
  explicit BetweenEvents(CoherenceOracle& checked) : oracle(checked) {}
  void before(const Event& /*event*/) override { oracle.settled(); }
  CoherenceOracle& oracle;
};

/// Shows everything to both oracles. What is sent is changed by the fault, if there is one, when they have
/// seen it.
struct Audience final : ProtocolObserver {
  explicit Audience(const AddressMap& map) : coherent(map), plain(map, coherent) {}
  void sent(const Message& message, Time at) override {
    coherent.sent(message, at);
    plain.sent(message, at);
    if (!fault.on_send) return;
    // It is the sender's, which gives it away next.
    const auto fate =
        fault.on_send(const_cast<Message&>(message));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    ensure(fate == MessageBench::Fate::kQueued, "a fault of the order of messages, in a real network");
  }
  void handling(const Message& message, NodeId node, Time now, const std::string& state) override {
    coherent.handling(message, node, now, state);
    plain.handling(message, node, now, state);
  }
  void handled(const std::string& state) override { coherent.handled(state); }
  void lost(const Message& message) override { coherent.lost(message); }
  void performed(NodeId node, LineAddress line, AccessKind kind, Time now) override {
    coherent.performed(node, line, kind, now);
    plain.performed(node, line, kind, now);
  }
  void idle() {
    coherent.idle();
    plain.idle();
  }
  const std::string& violation() const {
    return coherent.violation().empty() ? plain.violation() : coherent.violation();
  }
  CoherenceOracle coherent;
  PlainOracle plain;
  Fault fault;
};

/// What its requests tell when it has come to its end.
std::string wrong_in(Running& run) {
  for (std::size_t row = 0; row < run.table().rows(); ++row) {
    Time sum;
    for (std::size_t s = 0; s < kSegmentCount; ++s) sum += run.segment(row, static_cast<Segment>(s));
    if (sum != run.latency(row)) return "a request whose segments do not sum to its latency";
  }
  if (run.simulation().state() == Simulation::State::kFinished) return {};
  return "not finished: " + run.simulation().stop_reason();
}

Lengths lengths_of(const RandomCase& made, std::size_t most) {
  Lengths lengths;
  for (const RandomRequester& each : made.requesters) lengths.push_back(std::min(each.program.size(), most));
  return lengths;
}

// The accesses of a requester are drawn one after the other: fewer are the beginning of the same.
Lengths shrunk(const RandomCase& made, const MakeFault& fault) {
  const auto fails = [&](const Lengths& lengths) {
    return std::reduce(lengths.begin(), lengths.end()) > 0 && !play(made, lengths, false, fault).empty();
  };
  Lengths least = lengths_of(made, ~std::size_t{0});
  const std::size_t longest = *std::ranges::max_element(least);
  for (std::size_t most = 1; most < longest; ++most) {
    const Lengths fewer = lengths_of(made, most);
    if (!fails(fewer)) continue;
    least = fewer;
    break;
  }
  for (std::size_t& length : least) {
    const std::size_t was = length;
    for (length = 0; length < was && !fails(least); ++length) {
    }
  }
  return least;
}

}  // namespace

Value::Map drawn_filter(Draw& draw, std::uint64_t lines, bool blocks) {
  Value::Map filter;
  const std::uint64_t ways = draw.chance(3) ? draw.between(1, 2) : 0;
  const std::uint64_t entries =
      ways == 0 ? draw.between(1, lines + 2) : ways * draw.between(1, lines / 2 + 1);
  filter.emplace_back("entries", static_cast<std::int64_t>(entries));
  if (ways != 0) filter.emplace_back("ways", static_cast<std::int64_t>(ways));
  if (entries > 1 && ways != 1) {
    filter.emplace_back("policy", draw.one_of({"lru", "fifo", "lifo", "mru", "random", "lfi", "srrip",
                                               "clock", "2q", "longest-block"}));
  }
  const std::uint64_t block = !blocks || draw.chance(2) || entries < 4 ? 1 : draw.between(2, 4);
  if (block > 1) filter.emplace_back("block", static_cast<std::int64_t>(block));
  if (block == 3 || (block > 1 && draw.chance(2))) filter.emplace_back("alignment", "free");
  return filter;
}

Value::Map drawn_home(Draw& draw, const std::string& coherence, std::uint64_t lines) {
  const bool bias = coherence == "hdm-d";
  Value::Map home{{"lookup_time", draw.ns(15)}, {"lookup_interval", draw.ns(5)}};
  if (!bias && draw.chance(2))
    home.emplace_back("transactions", static_cast<std::int64_t>(draw.between(1, 6)));
  home.emplace_back("filter", drawn_filter(draw, lines, coherence == "hdm-db"));
  if (bias) {
    home.emplace_back("page", draw.one_of({"64B", "128B", "256B", "4KiB"}));
    home.emplace_back("initial", draw.one_of({"host", "device"}));
    home.emplace_back("flip_after", static_cast<std::int64_t>(draw.between(0, 3)));
  }
  return home;
}

Value::Map drawn_memory(Draw& draw, const std::string& capacity) {
  Value::Map memory{
      {"capacity", capacity},
      {"controller_time", draw.ns(20)},
      {"atomic_time", draw.ns(10)},
      {"media", Value::Map{{"kind", "fixed"}, {"latency", draw.ns(40)}, {"write_latency", draw.ns(60)}}}};
  if (draw.chance(3)) memory.emplace_back("queue", static_cast<std::int64_t>(draw.between(1, 4)));
  return memory;
}

namespace {

Value::Map drawn_cache(Draw& draw, CleanEvictions& notices) {
  Value::Map cache{{"access_time", draw.ns(12)}};
  const std::uint64_t ways = draw.between(1, 3);
  const std::uint64_t size = ways * draw.between(1, 3) * kLineBytes;
  cache.emplace_back("size", std::to_string(size) + "B");
  cache.emplace_back("ways", static_cast<std::int64_t>(ways));
  if (draw.chance(3)) {
    Value::List levels;
    for (std::uint64_t l = draw.between(1, 2); l > 0; --l) {
      const std::uint64_t behind = draw.between(1, 3);
      levels.emplace_back(Value::Map{{"size", std::to_string(behind * draw.between(1, 4) * kLineBytes) + "B"},
                                     {"ways", static_cast<std::int64_t>(behind)},
                                     {"access_time", draw.ns(10)},
                                     {"inclusive", draw.chance(2)}});
    }
    cache.emplace_back("levels", levels);
  }
  if (draw.chance(2)) cache.emplace_back("mshrs", static_cast<std::int64_t>(draw.between(1, 3)));
  if (draw.chance(2)) {
    cache.emplace_back("prefetch", Value::Map{{"kind", draw.one_of({"next-line", "stride", "best-offset"})},
                                              {"registers", static_cast<std::int64_t>(draw.between(1, 3))}});
  }
  if (draw.chance(2)) cache.emplace_back("fill_time", draw.ns(5));
  if (draw.chance(2)) cache.emplace_back("clear_time", draw.ns(20));
  if (draw.chance(3)) cache.emplace_back("write_allocate", false);
  if (draw.chance(3)) cache.emplace_back("read_state", "shared");
  notices = CleanEvictions::kSilent;
  if (draw.chance(2)) {
    notices = CleanEvictions::kNotified;
    cache.emplace_back("clean_evictions", "notified");
  }
  return cache;
}

}  // namespace

void add_drawn_cache(Draw& draw, Value::Map& requester, CleanEvictions& notices) {
  Value::Map cache = drawn_cache(draw, notices);
  const std::string atomics = draw.one_of({"cache", "home", "cache-or-home"});
  if (atomics != "home" && draw.chance(2)) cache.emplace_back("atomic_time", draw.ns(100));
  requester.emplace_back("cache", std::move(cache));
  requester.emplace_back("atomics", atomics);
}

std::string play(const RandomCase& made, const Lengths& lengths, bool log, const MakeFault& fault) {
  SpecBuilder spec = made.system;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    const RandomRequester& requester = made.requesters[r];
    const auto end = requester.program.begin() + static_cast<std::ptrdiff_t>(lengths[r]);
    if (lengths[r] > 0) spec.replay(requester.name, {requester.program.begin(), end});
  }
  std::optional<Running> made_run;
  try {
    made_run.emplace(spec);
  } catch (const std::exception& error) {
    return std::string("no system: ") + error.what();
  }
  Running& run = *made_run;
  const System& system = run.simulation().system();
  Audience audience(system.address_map());
  CoherenceOracle& oracle = audience.coherent;
  oracle.keep_log(log);
  if (made.fails) {
    oracle.expect_losses([&system](LineAddress line) {
      const auto place = system.address_map().find(line.address());
      if (!system.roles().of<MemoryOwner>(place->target)->contents_lost(line))
        return CoherenceOracle::Lost::kNothing;
      return place->home == place->target ? CoherenceOracle::Lost::kMemoryAndHome
                                          : CoherenceOracle::Lost::kMemory;
    });
  }
  if (fault) audience.fault = fault();
  for (const RandomRequester& requester : made.requesters) {
    if (!requester.cache) continue;
    const NodeId node = run.node(requester.name);
    const CacheAgent& cache = *system.roles().of<Requester>(node)->cache();
    oracle.add(node, cache, *requester.cache);
    audience.plain.add(node, cache);
  }
  for (const auto& [component, home] : system.roles().all<CoherenceHome>())
    oracle.add(component->id(), static_cast<DirectoryAgent&>(*home));
  BetweenEvents between(oracle);
  run.simulation().watch(&audience);
  run.simulation().watch(&between);
  std::string wrong;
  try {
    run.to_end();
    audience.idle();
    wrong = audience.violation();
    if (wrong.empty()) wrong = wrong_in(run);
  } catch (const std::exception& error) {
    wrong = audience.violation().empty() ? error.what() : audience.violation();
    if (log) audience.idle();  // the log ends with what is still under way
  }
  if (log) {
    std::cout << to_json(made.system.value()) << "\n";
    for (const std::string& line : oracle.log()) std::cout << line << "\n";
  }
  return wrong;
}

std::string RandomFailure::text() const {
  std::string text = "seed " + std::to_string(seed) + ", accesses";
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    text += (r == 0 ? " of " : ", ") + made.requesters[r].name + ": " + std::to_string(lengths[r]);
  }
  return text;
}

std::optional<RandomFailure> first_failure(const MakeCase& make, std::uint64_t first, std::uint64_t accesses,
                                           std::uint64_t per_seed, const MakeFault& fault) {
  std::uint64_t played = 0;
  for (std::uint64_t seed = first; played < accesses; ++seed, played += per_seed) {
    RandomCase made = make(seed);
    if (play(made, lengths_of(made, ~std::size_t{0}), false, fault).empty()) continue;
    Lengths least = shrunk(made, fault);
    return RandomFailure{seed, std::move(made), std::move(least)};
  }
  return std::nullopt;
}

void play_random(const MakeCase& make, std::uint64_t accesses, std::uint64_t per_seed) {
  const auto failure = first_failure(make, setting("CXLOOM_COHERENCE_SEED", 1),
                                     setting("CXLOOM_COHERENCE_ACCESSES", accesses), per_seed);
  if (!failure) return;
  const std::string wrong = play(failure->made, failure->lengths, true);
  FAIL() << failure->text() << ": " << wrong;
}

}  // namespace cxloom::test
