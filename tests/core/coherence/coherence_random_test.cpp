// Random systems of hosts, caches and coherency agents under random accesses to few lines: what each access
// sees is checked against a memory without caches, and every state against one writer or many readers
// (support/coherence_oracle.hpp). One kind of home in each; mixed_random_test.cpp has several.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/support/random_coherence.hpp"

namespace cxloom {
namespace {

using test::Draw;
using test::RandomCase;
using test::RandomRequester;

constexpr std::uint64_t kOfHost = 200;

/// The accesses of a requester.
std::vector<Access> drawn_program(Draw& draw, std::uint64_t seed, std::uint64_t lines) {
  const std::uint64_t reads = draw.between(0, 10);
  const std::uint64_t atomics = draw.chance(2) ? 0 : draw.between(1, 10);
  Draw of_program(seed);
  std::vector<Access> program;
  for (std::uint64_t i = 0; i < kOfHost; ++i) {
    const bool read = of_program.below(10) < reads;
    const bool atomic = atomics > 0 && of_program.below(10) < atomics;
    Access& access = program.emplace_back(test::access_to(of_program.below(lines) * kLineBytes));
    access.kind = atomic ? AccessKind::kAtomic : read ? AccessKind::kRead : AccessKind::kWrite;
    if (atomic) access.size = kAtomicBytes;
  }
  return program;
}

/// A host without its accesses. The one that keeps lines coherent has `own` besides, and is an accelerator if
/// it goes by bias; others have null.
RandomRequester drawn_host(Draw& draw, test::SpecBuilder& system, const std::string& name, bool may_cache,
                           const Value::Map* own, bool by_bias) {
  Value::Map host{{"process_time", draw.ns(10)}, {"queue", static_cast<std::int64_t>(draw.between(1, 8))}};
  RandomRequester requester{name, {}, {}};
  if (may_cache && !draw.chance(6)) test::add_drawn_cache(draw, host, requester.cache.emplace());
  if (own) host.insert(host.end(), own->begin(), own->end());
  const bool accelerator = own ? by_bias : draw.chance(4);
  system.device(name, accelerator ? "accelerator" : "host", host);
  return requester;
}

/// The parameters of a link.
Value::Map drawn_link(Draw& draw, const char* flit, bool credits) {
  Value::Map params{{"port_delay", draw.ns(30)}};
  if (flit) {
    params.emplace_back("phy", flit == std::string("256B")  ? "pcie6-x16"
                               : flit == std::string("68B") ? "pcie5-x8"
                                                            : "pcie6-x8");
    params.emplace_back("flit", flit);
  }
  if (credits) params.emplace_back("credits", static_cast<std::int64_t>(draw.between(1, 4)));
  return params;
}

/// The mode of flits, or null. Snoops to caches are not in those of 68 bytes.
const char* drawn_flit(Draw& draw, bool snoops) {
  const bool flits = draw.chance(3);
  const char* const flit = snoops ? draw.one_of({"256B", "256B-lo", "256B-pbr"})
                                  : draw.one_of({"68B", "256B", "256B-lo", "256B-pbr"});
  return flits ? flit : nullptr;
}

/// The keeper of coherence: agents of the memories, one for all, a host, or an accelerator by bias.
struct Keeper {
  std::string coherence;
  bool by_host = coherence == "hdm-h";
  bool by_bias = coherence == "hdm-d";
  bool apart = false;
};
Keeper drawn_keeper(Draw& draw) {
  Keeper keeper{draw.one_of({"hdm-db", "hdm-db", "hdm-h", "hdm-h", "hdm-d"})};
  keeper.apart = !keeper.by_host && !keeper.by_bias && draw.chance(3);
  return keeper;
}

RandomCase made_of_hosts(std::uint64_t seed) {
  Draw draw(seed);
  RandomCase made;
  const auto hosts = static_cast<int>(draw.between(1, 4));
  const std::uint64_t lines = draw.between(1, 12);
  const auto [coherence, by_host, by_bias, apart] = drawn_keeper(draw);
  const char* const flit = drawn_flit(draw, !by_host && !by_bias);
  const bool credits = draw.chance(2);
  const auto link = [&](const std::string& a, const std::string& b) {
    made.system.link(a, b, drawn_link(draw, flit, credits));
  };
  made.system.device("sw", "switch",
                     {{"switching_time", draw.ns(10)}, {"queueing", draw.one_of({"output", "voq"})}});
  const Value::Map agent = test::drawn_home(draw, coherence, lines);
  Value::Map region{{"coherence", coherence}, {"interleave", "64B"}, {"policy", "weighted"}};
  std::vector<std::string> memories;
  Value::Map own;  // what the first requester has besides
  bool first_is_home = by_bias;
  if (by_bias) {
    Value::Map memory = test::drawn_memory(draw, "1MiB");
    memory.emplace_back("bias", agent);
    own.emplace_back("memory", memory);
    memories.emplace_back("h0");
  } else if (by_host) {
    first_is_home = draw.chance(2);
    own.emplace_back("home_agent", agent);
    if (draw.chance(2)) {
      own.emplace_back("memory", test::drawn_memory(draw, "1MiB"));
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
    Value::Map memory = test::drawn_memory(draw, "1MiB");
    if (!apart && !by_host) memory.emplace_back("dcoh", agent);
    made.system.device(name, "memory", memory);
    link("sw", name);
    memories.push_back(name);
  }
  if (apart) {
    Value::Map home = agent;
    home.insert(home.begin(), {"io_time", "10ns"});
    made.system.device("home", "dcoh", home);
    link("sw", "home");
    region.emplace_back("home", "home");
  }
  for (int h = 0; h < hosts; ++h) {
    const std::string name = "h" + std::to_string(h);
    // A device that keeps memory coherent by bias knows one host that caches.
    const bool is_home = h == 0 && first_is_home;
    RandomRequester requester =
        drawn_host(draw, made.system, name, !by_bias || h <= 1, is_home ? &own : nullptr, by_bias);
    link(name, "sw");
    requester.program = drawn_program(draw, seed * 64 + static_cast<std::uint64_t>(h) + 1, lines);
    made.requesters.push_back(std::move(requester));
  }
  made.system.region(memories, region);
  made.system.run_with({{"seed", static_cast<std::int64_t>(seed % 1000)}});
  return made;
}

TEST(CoherenceRandom, EveryAccessSeesTheLatestValue) {
  test::play_random(made_of_hosts, 60'000, 2 * kOfHost);
}

}  // namespace
}  // namespace cxloom
