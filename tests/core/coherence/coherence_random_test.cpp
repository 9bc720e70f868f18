// Random systems of hosts, caches and coherency agents under random accesses to few lines: what each access sees is checked
// against a memory without caches, and every state against one writer or many readers (support/coherence_oracle.hpp).
//
// CXLOOM_COHERENCE_ACCESSES says how many accesses to make in all (default: a slice that takes seconds), CXLOOM_COHERENCE_SEED
// where to begin. A failure names its seed, makes the system play fewer accesses as long as it fails, and prints the log of the last.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/coherence_oracle.hpp"
#include "core/support/system.hpp"
#include "device/sequencer.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {
namespace {

using test::CoherenceOracle;
using test::Running;
using test::System;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed, "coherence", "systems") {}
  std::uint64_t below(std::uint64_t limit) { return random_.below(limit); }
  bool chance(std::uint64_t in) { return below(in) == 0; }
  std::uint64_t between(std::uint64_t least, std::uint64_t most) { return least + below(most - least + 1); }
  const char* one_of(std::initializer_list<const char*> choices) {
    return choices.begin()[below(choices.size())];
  }
  std::string ns(std::uint64_t most) { return std::to_string(below(most + 1)) + "ns"; }

 private:
  RandomStream random_;
};

/// What a seed stands for.
struct Case {
  System system;
  std::vector<CleanEvictions> notices;  // by host: of those with a cache
  std::vector<bool> has_cache;
  bool apart = false;
  const char* coherence = "hdm-db";
};

Value::Map filter_of(Draw& draw, std::uint64_t lines, bool blocks) {
  Value::Map filter;
  const std::uint64_t ways = draw.chance(3) ? draw.between(1, 2) : 0;
  const std::uint64_t entries =
      ways == 0 ? draw.between(1, lines + 2) : ways * draw.between(1, lines / 2 + 1);
  filter.emplace_back("entries", static_cast<std::int64_t>(entries));
  if (ways != 0) filter.emplace_back("ways", static_cast<std::int64_t>(ways));
  if (entries > 1 && ways != 1) {
    filter.emplace_back(
        "policy", draw.one_of({"lru", "fifo", "lifo", "mru", "random", "lfi", "srrip", "longest-block"}));
  }
  const std::uint64_t block = !blocks || draw.chance(2) || entries < 4 ? 1 : draw.between(2, 4);
  if (block > 1) filter.emplace_back("block", static_cast<std::int64_t>(block));
  if (block == 3 || (block > 1 && draw.chance(2))) filter.emplace_back("alignment", "free");
  return filter;
}

Case make(std::uint64_t seed, std::uint64_t accesses) {
  Draw draw(seed);
  Case made;
  const auto hosts = static_cast<int>(draw.between(1, 4));
  const std::uint64_t lines = draw.between(1, 12);
  // Who keeps the lines coherent: agents of the memories, one for all of them, a host, or an accelerator by bias.
  made.coherence = draw.one_of({"hdm-db", "hdm-db", "hdm-h", "hdm-h", "hdm-d"});
  const bool by_host = made.coherence == std::string("hdm-h");
  const bool by_bias = made.coherence == std::string("hdm-d");
  made.apart = !by_host && !by_bias && draw.chance(3);
  const bool flits = draw.chance(3);
  const char* const flit = by_host || by_bias ? draw.one_of({"68B", "256B", "256B-lo", "256B-pbr"})
                                              : draw.one_of({"256B", "256B-lo", "256B-pbr"});
  const bool credits = draw.chance(2);
  const auto link = [&](const std::string& a, const std::string& b) {
    Value::Map params{{"port_delay", draw.ns(30)}};
    if (flits) {
      params.emplace_back("phy", flit == std::string("256B")  ? "pcie6-x16"
                                 : flit == std::string("68B") ? "pcie5-x8"
                                                              : "pcie6-x8");
      params.emplace_back("flit", flit);
    }
    if (credits) params.emplace_back("credits", static_cast<std::int64_t>(draw.between(1, 4)));
    made.system.link(a, b, params);
  };
  made.system.device("sw", "switch",
                     {{"switching_time", draw.ns(10)}, {"queueing", draw.one_of({"output", "voq"})}});
  Value::Map agent{{"lookup_time", draw.ns(15)}, {"lookup_interval", draw.ns(5)}};
  if (!by_bias && draw.chance(2))
    agent.emplace_back("transactions", static_cast<std::int64_t>(draw.between(1, 6)));
  agent.emplace_back("filter", filter_of(draw, lines, !by_host && !by_bias));
  if (by_bias) {
    agent.emplace_back("page", draw.one_of({"64B", "128B", "256B", "4KiB"}));
    agent.emplace_back("initial", draw.one_of({"host", "device"}));
    agent.emplace_back("flip_after", static_cast<std::int64_t>(draw.between(0, 3)));
  }
  const auto memory_params = [&] {
    Value::Map memory{
        {"capacity", "1MiB"},
        {"controller_time", draw.ns(20)},
        {"atomic_time", draw.ns(10)},
        {"media", Value::Map{{"kind", "fixed"}, {"latency", draw.ns(40)}, {"write_latency", draw.ns(60)}}}};
    if (draw.chance(3)) memory.emplace_back("queue", static_cast<std::int64_t>(draw.between(1, 4)));
    return memory;
  };
  Value::Map region{{"coherence", made.coherence}, {"interleave", "64B"}, {"policy", "weighted"}};
  std::vector<std::string> memories;
  Value::Map own;  // what the first requester has besides
  bool first_is_home = by_bias;
  if (by_bias) {
    Value::Map memory = memory_params();
    memory.emplace_back("bias", agent);
    own.emplace_back("memory", memory);
    memories.emplace_back("h0");
  } else if (by_host) {
    first_is_home = draw.chance(2);
    own.emplace_back("home_agent", agent);
    if (draw.chance(2)) {
      own.emplace_back("memory", memory_params());
      memories.emplace_back(first_is_home ? "h0" : "root");
    }
    region.emplace_back("home", first_is_home ? "h0" : "root");
    if (!first_is_home) {
      made.system.device("root", "host", own);
      link("root", "sw");
      own.clear();
    }
  }
  const int memory_count = by_bias            ? 0
                           : memories.empty() ? static_cast<int>(draw.between(1, 2))
                                              : static_cast<int>(draw.below(2));
  for (int m = 0; m < memory_count; ++m) {
    const std::string name = "mem" + std::to_string(m);
    Value::Map memory = memory_params();
    if (!made.apart && !by_host) memory.emplace_back("dcoh", agent);
    made.system.device(name, "memory", memory);
    link("sw", name);
    memories.push_back(name);
  }
  if (made.apart) {
    agent.insert(agent.begin(), {"io_time", "10ns"});
    made.system.device("home", "dcoh", agent);
    link("sw", "home");
    region.emplace_back("home", "home");
  }
  for (int h = 0; h < hosts; ++h) {
    const std::string name = "h" + std::to_string(h);
    Value::Map host{{"process_time", draw.ns(10)}, {"queue", static_cast<std::int64_t>(draw.between(1, 8))}};
    // A device that keeps memory coherent by bias knows one host that caches.
    const bool cached = by_bias && h > 1 ? false : !draw.chance(6);
    CleanEvictions notices = CleanEvictions::kSilent;
    if (cached) {
      Value::Map cache{{"access_time", draw.ns(12)}};
      const std::uint64_t ways = draw.between(1, 3);
      const std::uint64_t size = ways * draw.between(1, 3) * kLineBytes;
      cache.emplace_back("size", std::to_string(size) + "B");
      cache.emplace_back("ways", static_cast<std::int64_t>(ways));
      if (draw.chance(3)) {
        Value::List levels;
        for (std::uint64_t l = draw.between(1, 2); l > 0; --l) {
          const std::uint64_t behind = draw.between(1, 3);
          levels.emplace_back(
              Value::Map{{"size", std::to_string(behind * draw.between(1, 4) * kLineBytes) + "B"},
                         {"ways", static_cast<std::int64_t>(behind)},
                         {"access_time", draw.ns(10)},
                         {"inclusive", draw.chance(2)}});
        }
        cache.emplace_back("levels", levels);
      }
      if (draw.chance(2)) cache.emplace_back("mshrs", static_cast<std::int64_t>(draw.between(1, 3)));
      if (draw.chance(2)) cache.emplace_back("fill_time", draw.ns(5));
      if (draw.chance(2)) cache.emplace_back("clear_time", draw.ns(20));
      if (draw.chance(3)) cache.emplace_back("write_allocate", false);
      if (draw.chance(3)) cache.emplace_back("read_state", "shared");
      if (draw.chance(2)) {
        notices = CleanEvictions::kNotified;
        cache.emplace_back("clean_evictions", "notified");
      }
      if (draw.chance(2)) cache.emplace_back("atomic_time", draw.ns(100));
      host.emplace_back("cache", cache);
      host.emplace_back("atomics", draw.one_of({"cache", "home", "cache-or-home"}));
    }
    made.has_cache.push_back(cached);
    made.notices.push_back(notices);
    const bool is_home = h == 0 && first_is_home;
    if (is_home) host.insert(host.end(), own.begin(), own.end());
    const bool accelerator = is_home ? by_bias : draw.chance(4);
    made.system.device(name, accelerator ? "accelerator" : "host", host);
    link(name, "sw");
    const std::uint64_t reads = draw.between(0, 10);
    const std::uint64_t atomics = draw.chance(2) ? 0 : draw.between(1, 10);
    Draw of_program(seed * 64 + static_cast<std::uint64_t>(h) +
                    1);  // its own: fewer accesses change nothing else
    std::vector<Access> program;
    for (std::uint64_t i = 0; i < accesses; ++i) {
      const bool read = of_program.below(10) < reads;
      const bool atomic = atomics > 0 && of_program.below(10) < atomics;
      Access& access = program.emplace_back(test::access_to(of_program.below(lines) * kLineBytes));
      access.kind = atomic ? AccessKind::kAtomic : read ? AccessKind::kRead : AccessKind::kWrite;
      if (atomic) access.size = kAtomicBytes;
    }
    made.system.replay(name, program, {});
  }
  made.system.region(memories, region);
  made.system.run_with({{"seed", static_cast<std::int64_t>(seed % 1000)}});
  return made;
}

/// Lets the oracle check between all events.
struct BetweenEvents final : EventWatcher {
  explicit BetweenEvents(CoherenceOracle& checked) : oracle(checked) {}
  void before(const Event& /*event*/) override { oracle.settled(); }
  CoherenceOracle& oracle;
};

/// What went wrong; empty: nothing. With a log if wanted.
std::string play(std::uint64_t seed, std::uint64_t accesses, bool log) {
  const Case made = make(seed, accesses);
  Running run(made.system);
  const cxloom::System& system = run.simulation().system();
  CoherenceOracle oracle(system.address_map());
  oracle.keep_log(log);
  for (std::size_t h = 0; h < made.has_cache.size(); ++h) {
    if (!made.has_cache[h]) continue;
    const NodeId node = system.component("h" + std::to_string(h)).id();
    oracle.add(node, *system.roles().requesters.of(node)->cache(), made.notices[h]);
  }
  for (const auto& [component, home] : system.roles().homes)
    oracle.add(component->id(), static_cast<const DirectoryAgent&>(*home));
  BetweenEvents between(oracle);
  run.simulation().watch(&oracle);
  run.simulation().watch(&between);
  std::string wrong;
  try {
    run.to_end();
    oracle.idle();
    wrong = oracle.violation();
    for (std::size_t row = 0; wrong.empty() && row < run.table().rows(); ++row) {
      Time sum;
      for (std::size_t s = 0; s < kSegmentCount; ++s) sum += run.segment(row, static_cast<Segment>(s));
      if (sum != run.latency(row)) wrong = "a request whose segments do not sum to its latency";
    }
    if (wrong.empty() && run.simulation().state() != Simulation::State::kFinished)
      wrong = "not finished: " + run.simulation().stop_reason();
  } catch (const std::exception& error) {
    wrong = oracle.violation().empty() ? error.what() : oracle.violation();
    if (log) oracle.idle();  // the log ends with what is still under way
  }
  if (log) {
    for (const std::string& line : oracle.log()) std::cout << line << "\n";
  }
  return wrong;
}

TEST(CoherenceRandom, EveryAccessSeesTheLatestValue) {
  constexpr std::uint64_t kOfHost = 200;
  const std::uint64_t wanted = setting("CXLOOM_COHERENCE_ACCESSES", 60'000);
  const std::uint64_t first = setting("CXLOOM_COHERENCE_SEED", 1);
  std::uint64_t made = 0;
  for (std::uint64_t seed = first; made < wanted; ++seed, made += kOfHost * 2) {
    const std::string wrong = play(seed, kOfHost, false);
    if (wrong.empty()) continue;
    // The accesses of a host are drawn one after the other: fewer are the beginning of the same.
    std::uint64_t least = kOfHost;
    for (std::uint64_t fewer = 1; fewer < kOfHost; ++fewer) {
      if (play(seed, fewer, false).empty()) continue;
      least = fewer;
      break;
    }
    FAIL() << "seed " << seed << ", " << least << " accesses of each host: " << play(seed, least, true);
  }
}

}  // namespace
}  // namespace cxloom
