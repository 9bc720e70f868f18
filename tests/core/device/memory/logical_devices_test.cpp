#include "device/memory/logical_devices.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::Running;
using test::SpecBuilder;

constexpr const char* kEach = "64MiB";  // of each logical device
constexpr std::uint64_t kEachBytes = 64ULL << 20U;

/// Hosts on a switch, each with a logical device of its own in one memory that serves 640 MB/s: one access
/// after the other, 100 ns each.
struct Split {
  struct Host {
    int weight = 1;
    int queue = 64;
    double reads = 0.5;
    Value::Map work = {};
    Value::Map ld = {};  ///< besides
    bool works = true;
  };
  std::vector<Host> hosts;
  Value::Map link = {};
  Value::Map memory = {};
  bool heads = false;  ///< each host has a port of the memory, without a switch
  std::int64_t requests = 4000;
};

std::string name_of(std::size_t host) { return "h" + std::to_string(host); }

SpecBuilder system_of(const Split& split) {
  SpecBuilder system;
  Value::List devices;
  for (const Split::Host& host : split.hosts) {
    Value::Map ld{{"capacity", kEach}, {"allocated_bandwidth", host.weight}};
    ld.insert(ld.end(), host.ld.begin(), host.ld.end());
    devices.emplace_back(ld);
  }
  Value::Map memory = split.memory;
  const auto count = static_cast<std::int64_t>(split.hosts.size());
  memory.insert(memory.end(), {{"queue", 1},
                               {"controller_time", "0ns"},
                               {"logical_devices", devices},
                               {"heads", split.heads ? count : 1},
                               {"media", Value::Map{{"kind", "fixed"}, {"latency", "100ns"}}}});
  system.device("mem", "memory", memory);
  if (!split.heads) system.device("hub", "switch", {{"queueing", "voq"}}).link("hub", "mem", split.link);
  for (std::size_t i = 0; i < split.hosts.size(); ++i) {
    const Split::Host& host = split.hosts[i];
    system.device(name_of(i), "host", {{"queue", host.queue}});
    system.link(name_of(i), split.heads ? "mem" : "hub", split.heads ? split.link : Value::Map{});
    system.region({"mem"}, {{"ld", static_cast<std::int64_t>(i)}});
    Value::Map work = host.work;
    work.insert(work.end(), {{"pattern", "random"},
                             {"footprint", "1MiB"},
                             {"base", "0x" + std::string(1, "048C"[i]) + "000000"},
                             {"reads", host.reads},
                             {"requests", split.requests}});
    if (host.works) system.work(name_of(i), work);
  }
  system.run_with({{"warmup", std::int64_t{500}}});
  return system;
}

struct Had {
  std::vector<double> rates;  ///< GB/s
  std::vector<double> latency;
};

Had had_by(const Split& split) {
  Running run(system_of(split));
  run.to_end();
  Had had;
  for (std::size_t i = 0; i < split.hosts.size(); ++i) {
    const bool works = split.hosts[i].works;
    had.rates.push_back(works ? run.number({"per_requester", name_of(i), "bandwidth_gb_per_s"}) : 0.0);
    had.latency.push_back(works ? run.number({"per_requester", name_of(i), "latency_ns", "mean"}) : 0.0);
  }
  return had;
}

constexpr double kServed = 0.64;  // GB/s

TEST(LogicalDevices, SharesAreTheAllocatedBandwidths) {
  for (const std::vector<int>& weights :
       {std::vector<int>{1, 1}, {3, 1}, {1, 15}, {128, 96, 32}, {1, 2, 4, 9}}) {
    for (const bool heads : {false, true}) {
      for (const int credits : {0, 8}) {
        Split split{.heads = heads};
        for (const int weight : weights) split.hosts.push_back({.weight = weight});
        if (credits > 0) split.link = {{"credits", credits}};
        const Had had = had_by(split);
        const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
        for (std::size_t i = 0; i < weights.size(); ++i) {
          const double due = kServed * weights[i] / sum;
          EXPECT_NEAR(had.rates[i], due, 0.01 * due) << i << " of " << weights.size() << " " << heads;
        }
      }
    }
  }
}

TEST(LogicalDevices, WhatOneLeavesTheOthersShare) {
  Split split{.hosts = {{.weight = 4}, {.weight = 3}, {.weight = 1}}};
  split.hosts[0].works = false;
  const Had had = had_by(split);
  EXPECT_NEAR(had.rates[1], kServed * 3 / 4, 0.01 * kServed);
  EXPECT_NEAR(had.rates[2], kServed / 4, 0.01 * kServed);
}

// A hundredth of what the memory serves: it has all of it, and waits for one access of the other under way at
// most.
TEST(LogicalDevices, AGreedyHostStarvesNobody) {
  Split split{.hosts = {{.work = {{"rate", "100k/s"}}}, {.queue = 2048}}};
  const Had had = had_by(split);
  EXPECT_NEAR(had.rates[0], 100e3 * 64 / 1e9, 2e-4);  // an access more or less at the ends of the window
  split.hosts[1].works = false;
  const Had alone = had_by(split);
  EXPECT_LE(had.latency[0], alone.latency[0] + 100.0);
}

// The receive buffer of the port has room for eight. The queue of an LD takes what comes, so that its backlog
// holds no credits; where it has room for four, the greedy host's requests hold them all, and the other's
// wait for one, of which one comes back an access.
TEST(LogicalDevices, AQueueOfItsOwnKeepsABacklogOutOfTheWay) {
  Split split{.hosts = {{.work = {{"rate", "100k/s"}}}, {.queue = 512}}, .link = {{"credits", 8}}};
  const double apart = had_by(split).latency[0];
  for (Split::Host& host : split.hosts) host.ld = {{"queue", 4}};
  const double together = had_by(split).latency[0];
  EXPECT_GT(together, apart + 100.0);
}

// Alone and limited to 100 MB/s: 64 B every 640 ns. The k-th of n at once leaves the queue k x 640 ns after
// the first.
TEST(LogicalDevices, TheLimitIsExact) {
  for (const char* limit : {"100MB/s", "300MB/s", "77MB/s"}) {
    Split split{.hosts = {{.ld = {{"bandwidth_limit", limit}}}}};
    SpecBuilder system = system_of(split);
    constexpr std::size_t kCount = 50;
    system.replay("h0", std::vector<Access>(kCount, access_to(0))).run_with({});
    Running run(system);
    run.to_end();
    ASSERT_EQ(run.table().rows(), kCount);
    const double bytes_per_s = std::stod(limit) * 1e6;
    for (std::size_t k = 1; k < kCount; ++k) {
      const auto due = static_cast<std::int64_t>(static_cast<double>(k) * 64 * 1e12 / bytes_per_s);
      EXPECT_NEAR(static_cast<double>((run.completed(k) - run.completed(0)).ps()), static_cast<double>(due),
                  1.0)
          << k;
    }
  }
}

TEST(LogicalDevices, NobodyHasMoreThanItsLimit) {
  Split split{.hosts = {{.weight = 15, .ld = {{"bandwidth_limit", "100MB/s"}}}, {.weight = 1}}};
  const Had had = had_by(split);
  EXPECT_NEAR(had.rates[0], 0.1, 0.001);
  EXPECT_NEAR(had.rates[1], kServed - 0.1, 0.01);
}

/// The accesses of one after the other, by time.
std::vector<std::int64_t> latencies_in_turn(SpecBuilder system) {
  Running run(system);
  run.to_end();
  std::vector<std::int64_t> all;
  for (std::size_t row = 0; row < run.table().rows(); ++row) all.push_back(run.latency(row).ps());
  return all;
}

TEST(LogicalDevices, OneAtATimePaysNothing) {
  const auto with = [](Value::Map memory, Value::Map region) {
    SpecBuilder system;
    memory.insert(memory.end(), {{"capacity", kEach}, {"queue", 4}});
    system.device("h", "host", {{"queue", 1}}).device("mem", "memory", memory).link("h", "mem");
    system.region({"mem"}, std::move(region));
    system.work("h", {{"pattern", "random"}, {"reads", 0.5}, {"requests", 200}, {"footprint", "1MiB"}});
    return latencies_in_turn(system);
  };
  const Value::List whole{Value::Map{{"capacity", kEach}}};
  EXPECT_EQ(with({{"logical_devices", whole}}, {{"ld", 0}}), with({}, {}));
}

TEST(LogicalDevices, AnotherHostIsAnsweredWithAnErrorOnce) {
  Split split{.hosts = {{}, {}}};
  split.hosts[0].ld = {{"host", "h0"}};
  for (const bool heads : {false, true}) {
    split.heads = heads;
    split.hosts[0].works = split.hosts[1].works = false;
    SpecBuilder system = system_of(split);
    system.replay("h1", {access_to(0), access_to(kEachBytes), access_to(64, AccessKind::kWrite)})
        .run_with({});
    Running run(system);
    run.to_end();
    ASSERT_EQ(run.table().rows(), 3U);
    EXPECT_EQ(run.number({"errors", "requests"}), 2.0);
    EXPECT_EQ(run.number({"per_memory", "mem", "logical_devices", "0", "refused"}), 2.0);
    EXPECT_EQ(run.number({"per_memory", "mem", "logical_devices", "0", "requests"}), 0.0);
    EXPECT_EQ(run.number({"per_memory", "mem", "logical_devices", "1", "requests"}), 1.0);
  }
}

TEST(LogicalDevices, LiveInTheirPartOfTheMemory) {
  SpecBuilder system;
  const Value::List two{Value::Map{{"capacity", "4KiB"}}, Value::Map{{"capacity", "8KiB"}}};
  system.device("h", "host")
      .device("a", "memory", {{"logical_devices", two}})
      .device("b", "memory", {{"logical_devices", two}});
  system.device("bus", "bus").link("h", "bus").link("bus", "a").link("bus", "b");
  system.region({"a", "b"}, {{"ld", 1}, {"size", "8KiB"}})
      .region({"a"}, {{"ld", 1}})
      .region({"a"}, {{"ld", 0}});
  system.replay("h", {access_to(0)});
  Running run(system);
  const AddressMap& map = run.simulation().system().address_map();
  const auto place = [&](std::uint64_t address) { return *map.find(Address{address}); };
  EXPECT_EQ(place(0).device_address, Address{4096});  // behind LD 0
  EXPECT_EQ(place(0).ld, 1);
  EXPECT_EQ(place(256).target, run.node("b"));
  EXPECT_EQ(place(256).device_address, Address{4096});
  EXPECT_EQ(place(8192).device_address, Address{4096 + 4096});  // what the first region left of LD 1
  EXPECT_EQ(place(8192 + 4096).device_address, Address{0});
  EXPECT_EQ(place(8192 + 4096).ld, 0);
}

void expect_refused(const Value::Map& memory, const Value::Map& region, const std::string& path,
                    const std::string& problem) {
  SpecBuilder system;
  system.device("h", "host").device("mem", "memory", memory).link("h", "mem").region({"mem"}, region);
  system.replay("h", {access_to(0)});
  try {
    Running run(system);
    ADD_FAILURE() << "taken: " << problem;
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), path);
    EXPECT_NE(std::string(error.what()).find(problem), std::string::npos) << error.what();
  }
}

TEST(LogicalDevices, RefuseWhatHasNoMeaning) {
  const Value::Map one{{"capacity", kEach}};
  const auto lds = [](const Value::Map& ld) { return Value::Map{{"logical_devices", Value::List{ld}}}; };
  expect_refused(lds(one), {}, "address_map[0].to[0]", "within one of them");
  expect_refused(lds(one), {{"ld", 1}}, "address_map[0].to[0]", "has 1 logical device");
  expect_refused({}, {{"ld", 0}}, "address_map[0].to[0]", "without logical devices");
  expect_refused(lds(one), {{"ld", 0}, {"coherence", "hdm-db"}}, "address_map[0].ld",
                 "nobody keeps it coherent");
  expect_refused(lds({{"capacity", kEach}, {"host", "x"}}), {{"ld", 0}},
                 "devices.mem.logical_devices[0].host", "unknown device");
  expect_refused(lds({{"capacity", kEach}, {"host", "mem"}}), {{"ld", 0}},
                 "devices.mem.logical_devices[0].host", "makes no requests");
  expect_refused(lds({{"capacity", kEach}, {"allocated_bandwidth", 2}}), {{"ld", 0}},
                 "devices.mem.logical_devices", "needs a queue");
  expect_refused(lds({{"capacity", kEach}, {"allocated_bandwidth", 0}}), {{"ld", 0}},
                 "devices.mem.logical_devices[0].allocated_bandwidth", "out of bounds");
  Value::Map small = lds(one);
  small.emplace_back("capacity", "4KiB");
  expect_refused(small, {{"ld", 0}}, "devices.mem.logical_devices", "more bytes than the memory");
  expect_refused({{"logical_devices", Value::List(17, Value(one))}}, {{"ld", 0}},
                 "devices.mem.logical_devices", "too many");
}

}  // namespace
}  // namespace cxloom
