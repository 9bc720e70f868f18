// What each flow of CXL.cache costs when nothing else is under way: the sum of its parts, to the picosecond.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/support/coherence_flows.hpp"
#include "core/support/system.hpp"
#include "memory/memory_owner.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr Time kMemoryWay = 30_ns;  // between the host and memory of a device

constexpr int kHost = -1;

/// An access of a device, or of the host.
struct HomeStep {
  int device;
  std::uint64_t address;
  AccessKind kind;
  std::uint16_t size = kLineBytes;
};

struct HomeOptions {
  Value::Map cache;
  Value::Map agent;
  bool cached = true;           // the devices have caches
  bool memory_outside = false;  // host-managed memory of a device
  bool write_allocate = true;
};

/// A host and devices before its memory, whose accesses come far apart: the latency of each, in the order of
/// the steps.
struct HomeRun {
  HomeRun(int devices, const std::vector<HomeStep>& steps, const HomeOptions& options = {})
      : outside(options.memory_outside) {
    SpecBuilder system;
    const Value::Map memory{
        {"capacity", "1MiB"},
        {"controller_time", "40ns"},
        {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "60ns"}}}};
    Value::Map cache{{"access_time", "12ns"}, {"ways", 0}};
    for (const auto& each : options.cache) cache.emplace_back(each);
    if (!Value(cache).find("size")) cache.emplace_back("size", "1KiB");
    if (!options.write_allocate) cache.emplace_back("write_allocate", false);
    Value::Map agent{{"lookup_time", "7ns"}};
    for (const auto& each : options.agent) agent.emplace_back(each);
    Value::Map host{{"process_time", "10ns"}, {"cache", cache}, {"home_agent", agent}};
    if (!options.memory_outside) host.emplace_back("memory", memory);
    system.device("host", "host", host).device("sw", "switch", {{"switching_time", "0ns"}});
    system.link("host", "sw", {{"port_delay", "0ns"}});
    if (options.memory_outside)
      system.device("mem", "memory", memory).link("sw", "mem", {{"port_delay", "15ns"}});
    const auto replay = [&](const std::string& name, int device) {
      std::vector<Access> accesses;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].device != device) continue;
        Access access = access_to(steps[i].address, steps[i].kind);
        access.size = steps[i].size;
        access.timed = true;
        access.timestamp = 10_us * static_cast<std::int64_t>(i);
        accesses.push_back(access);
      }
      // A last access of each to other memory, so that the window stays open for the steps of all.
      Access last = access_to(0x100000 + kLineBytes * static_cast<std::uint64_t>(device + 1));
      last.timed = true;
      last.timestamp = 10_us * static_cast<std::int64_t>(steps.size());
      accesses.push_back(last);
      system.replay(name, accesses, {{"replay", "timestamps"}});
    };
    replay("host", kHost);
    for (int d = 0; d < devices; ++d) {
      const std::string name = "d" + std::to_string(d);
      Value::Map device{{"process_time", "10ns"}};
      if (options.cached) device.emplace_back("cache", cache);
      system.device(name, "accelerator", device).link(name, "sw", {{"port_delay", "25ns"}});
      replay(name, d);
    }
    system.device("other", "memory", {{"capacity", "1MiB"}}).link("sw", "other");
    system.region({options.memory_outside ? "mem" : "host"}, {{"coherence", "hdm-h"}, {"home", "host"}});
    system.region({"other"});
    run = std::make_unique<Running>(system);
    run->to_end();
    latency.resize(steps.size() + 1);
    rows.resize(steps.size() + 1);
    for (std::size_t row = 0; row < run->table().rows(); ++row) {
      const auto step = static_cast<std::size_t>(run->created(row).ps() / (10_us).ps());
      latency[step] = run->latency(row);
      rows[step] = row;
    }
    latency.pop_back();
  }
  /// Time of all accesses to the coherent memory, in controller and media: it tells reads from writes.
  Time memory_time() const {
    const System& system = run->simulation().system();
    MemoryOwner& memory = *system.roles().of<MemoryOwner>(run->node(outside ? "mem" : "host"));
    return Time{static_cast<std::int64_t>(memory.memory_queue_integral(run->simulation().now()))};
  }
  double of_agent(std::string_view measure) const { return run->number({"per_home", "host", measure}); }

  bool outside;
  std::unique_ptr<Running> run;
  std::vector<Time> latency;
  std::vector<std::size_t> rows;
};

TEST(HomeAgentLatency, ADeviceReadsOverTheLinkAndTheHostInside) {
  const HomeRun played(1, {{0, 0, R}, {kHost, 64, R}, {0, 0, R}, {0, 0, W}, {kHost, 64, W}});
  EXPECT_EQ(played.latency[0], kThere + kMemoryRead + kWay);
  EXPECT_EQ(played.latency[1], kInside + kMemoryRead);
  for (const int hit : {2, 3, 4}) EXPECT_EQ(played.latency[hit], kProcess + kCache) << hit;
  EXPECT_EQ(played.run->number({"per_memory", "host", "reads"}), 2.0);
  EXPECT_EQ(played.run->number({"per_memory", "host", "writes"}), 0.0);
}

TEST(HomeAgentLatency, MemoryOfADeviceIsAWayFurther) {
  HomeOptions options;
  options.memory_outside = true;
  const HomeRun played(1, {{0, 0, R}, {kHost, 64, R}}, options);
  EXPECT_EQ(played.latency[0], kThere + kMemoryWay + kMemoryRead + kMemoryWay + kWay);
  EXPECT_EQ(played.latency[1], kInside + kMemoryWay + kMemoryRead + kMemoryWay);
}

TEST(HomeAgentLatency, ACleanCopyOfAnotherIsSnoopedAndMemoryRead) {
  const HomeRun played(2, {{0, 0, R}, {1, 0, R}, {0, 0, R}, {kHost, 64, R}, {0, 64, R}});
  EXPECT_EQ(played.latency[1], kThere + kSnoop + kMemoryRead + kWay);
  EXPECT_EQ(played.latency[2], kProcess + kCache);  // it kept a shared copy
  EXPECT_EQ(played.latency[4], kThere + kCache + kMemoryRead + kWay);
}

TEST(HomeAgentLatency, AModifiedCopyComesWithTheAnswerToTheSnoop) {
  for (const AccessKind second : {R, W}) {
    const HomeRun played(2, {{0, 0, W}, {1, 0, second}, {kHost, 64, W}, {0, 64, second}, {kHost, 0, second}});
    EXPECT_EQ(played.latency[1], kThere + kSnoop + kWay);
    EXPECT_EQ(played.run->segment(played.rows[1], Segment::kSnoop), kCache);
    EXPECT_EQ(played.run->segment(played.rows[1], Segment::kMedia), 0_ns);
    EXPECT_EQ(played.latency[3], kThere + kCache + kWay);
    // After a read d0 and d1 share line 0, and memory has it.
    EXPECT_EQ(played.latency[4], second == W ? kInside + kSnoop : kInside + kMemoryRead);
    // Two lines were read, and each modified copy was written when a read made it a shared one or a write
    // took it.
    EXPECT_EQ(played.memory_time(),
              kMemoryRead * (second == W ? 2 : 3) + kMemoryWrite * (second == W ? 3 : 2));
  }
}

TEST(HomeAgentLatency, AnUpgradeWaitsForTheSharersAndMovesNoData) {
  for (const int devices : {1, 2, 4}) {
    std::vector<HomeStep> steps{{kHost, 0, R}};
    for (int d = 0; d < devices; ++d) steps.push_back({d, 0, R});
    steps.push_back({0, 0, W});
    const HomeRun played(devices, steps);
    const Time slowest = devices > 1 ? kSnoop : kCache;  // of the other devices, or the host's cache alone
    EXPECT_EQ(played.latency.back(), kThere + slowest + kWay) << devices;
    EXPECT_EQ(played.run->number({"per_requester", "d0", "upgrades"}), 1.0);
    EXPECT_EQ(played.of_agent("lines_invalidated"), devices);
    EXPECT_EQ(played.of_agent("bisnp_sent"), 0.0);
    EXPECT_EQ(played.of_agent("snoops_sent"), devices + 1.0);  // the first device's read made the host share
  }
}

TEST(HomeAgentLatency, AReadForASharedCopyMakesTheFirstWriteAsk) {
  for (const bool shared : {false, true}) {
    HomeOptions options;
    if (shared) options.cache = {{"read_state", "shared"}};
    const HomeRun played(1, {{0, 0, R}, {0, 0, W}, {kHost, 64, R}, {kHost, 64, W}}, options);
    EXPECT_EQ(played.latency[1], shared ? kThere + kWay : kProcess + kCache);
    EXPECT_EQ(played.latency[3], shared ? kInside : kProcess + kCache);
  }
}

TEST(HomeAgentLatency, AFullFilterTakesALineBackFirstAndWritesItBehind) {
  HomeOptions options;
  options.agent = {{"filter", Value::Map{{"entries", 1}}}};
  for (const bool dirty : {false, true}) {
    const HomeRun played(1, {{0, 0, dirty ? W : R}, {0, 64, R}, {0, 0, R}}, options);
    EXPECT_EQ(played.latency[1], kThere + kSnoop + kMemoryRead + kWay);
    EXPECT_EQ(played.latency[2], kThere + kSnoop + kMemoryRead + kWay);
    EXPECT_EQ(played.memory_time(), kMemoryRead * 3 + kMemoryWrite * (dirty ? 1 : 0));
  }
}

TEST(HomeAgentLatency, FalseSharingSendsTheLineToAndFroPastMemory) {
  for (const int devices : {2, 4}) {
    std::vector<HomeStep> steps;
    for (int i = 0; i < 3 * devices; ++i)
      steps.push_back({i % devices, static_cast<std::uint64_t>(8 * (i % devices)), W, 8});
    const HomeRun played(devices, steps);
    for (std::size_t i = 1; i < steps.size(); ++i) {
      EXPECT_EQ(played.latency[i], kThere + kSnoop + kWay) << i;
    }
  }
}

// GO_WritePull says that a write of a whole line is done; of less, the data go first, and GO comes when
// memory has them.
TEST(HomeAgentLatency, AWritePastTheCachesHasItsDataPulled) {
  for (const bool cached : {false, true}) {
    HomeOptions options;
    options.cached = cached;
    options.write_allocate = false;
    const Time there = cached ? kThere : kThere - kCache;
    const HomeRun played(
        1, {{0, 0, W}, {0, 64, W, 8}, {kHost, 64, R}, {kHost, 64, W}, {0, 64, W, 8}, {0, 64, W}}, options);
    EXPECT_EQ(played.latency[0], there + kWay);
    EXPECT_EQ(played.latency[1], there + kWay + kWay + kMemoryWrite + kWay);
    EXPECT_EQ(played.latency[2], kInside + kMemoryRead);
    EXPECT_EQ(played.latency[3], kProcess + kCache);
    // The host's changes are written before a part of the line is, and are nobody's where all of it is.
    EXPECT_EQ(played.latency[4], there + kCache + kMemoryWrite + kWay + kWay + kMemoryWrite + kWay);
    EXPECT_EQ(played.latency[5], there + kWay);
    EXPECT_EQ(played.memory_time(), kMemoryRead * 1 + kMemoryWrite * 5);
  }
}

TEST(HomeAgentLatency, AReadPastTheCachesGetsTheCurrentValue) {
  HomeOptions options;
  options.cached = false;
  const HomeRun played(1, {{0, 0, R}, {kHost, 0, W}, {0, 0, R}, {kHost, 0, W}}, options);
  EXPECT_EQ(played.latency[0], kThere - kCache + kMemoryRead + kWay);
  EXPECT_EQ(played.latency[2], kThere - kCache + kCache + kWay);
  EXPECT_EQ(played.latency[3], kProcess + kCache);  // it kept its copy
  EXPECT_EQ(played.memory_time(), kMemoryRead * 2);
}

TEST(HomeAgentLatency, DirtyVictimsArePulledAndCleanOnesAnnounced) {
  for (const bool notified : {false, true}) {
    HomeOptions options;
    options.cache = {{"size", "64B"}, {"clean_evictions", notified ? "notified" : "silent"}};
    const HomeRun played(1, {{0, 0, W}, {0, 64, R}, {0, 128, R}, {kHost, 0, R}, {kHost, 64, R}}, options);
    for (const int i : {0, 1, 2}) EXPECT_EQ(played.latency[i], kThere + kMemoryRead + kWay) << i;
    EXPECT_EQ(played.run->number({"per_requester", "d0", "write_backs"}), 1.0);
    EXPECT_EQ(played.memory_time(), kMemoryRead * 5 + kMemoryWrite * 1);
    EXPECT_EQ(played.latency[3], kInside + kMemoryRead);
    EXPECT_EQ(played.latency[4], kInside + (notified ? 0_ns : kSnoop) + kMemoryRead);
  }
}

TEST(HomeAgentLatency, ClearingALineTakesItsTime) {
  HomeOptions options;
  options.cache = {{"clear_time", "30ns"}};
  const HomeRun played(2, {{0, 0, R}, {1, 0, W}, {0, 0, R}}, options);
  EXPECT_EQ(played.latency[1], kThere + kSnoop + 30_ns + kMemoryRead + kWay);
  EXPECT_EQ(played.latency[2], kThere + kSnoop + kWay);  // a snoop that leaves a copy clears nothing
}

}  // namespace
}  // namespace cxloom::test
