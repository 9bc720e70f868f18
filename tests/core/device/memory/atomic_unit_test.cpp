// Atomic operations in a memory that nobody keeps coherent: each alone on its line, from its read until its
// write is done.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::Running;
using test::SpecBuilder;

constexpr AccessKind R = AccessKind::kRead;
constexpr AccessKind W = AccessKind::kWrite;
constexpr AccessKind A = AccessKind::kAtomic;

// 40 ns of controller; in the media 45 ns for a read and 105 ns for a write; 20 ns for the operation.
constexpr Time kController = 40_ns;
constexpr Time kReadTime = 45_ns;
constexpr Time kWriteTime = 105_ns;
constexpr Time kMake = 45_ns + 20_ns + 105_ns;

struct At {
  Time when;
  std::uint64_t address;
  AccessKind kind;
};

/// A host without a cache, and a memory at its side: the latency of each access, in their order.
std::vector<Time> atomic_latencies(const std::vector<At>& accesses, const Value::Map& more = {}) {
  Value::Map memory{{"atomic_time", "20ns"}};
  memory.insert(memory.end(), more.begin(), more.end());
  if (!Value(memory).find("media")) {
    memory.emplace_back("media",
                        Value::Map{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "105ns"}});
  }
  SpecBuilder system;
  system.device("host", "host", {{"process_time", "0ns"}, {"queue", 64}}).device("mem", "memory", memory);
  system.link("host", "mem").region({"mem"});
  std::vector<Access> trace;
  for (const At& each : accesses) {
    Access& access = trace.emplace_back(access_to(each.address, each.kind));
    access.timestamp = each.when;
    access.timed = true;
    if (each.kind == A) access.size = kAtomicBytes;
  }
  Running run(system.replay("host", trace, {{"replay", "timestamps"}}));
  run.to_end();
  std::vector<Time> found(accesses.size());
  for (std::size_t row = 0; row < run.table().rows(); ++row) found[run.table().id[row]] = run.latency(row);
  return found;
}

using Times = std::vector<Time>;

TEST(AtomicUnit, ReadsTakesItsTimeAndWrites) {
  EXPECT_EQ(atomic_latencies({{0_ns, 0, A}}), Times{kController + kMake});
  EXPECT_EQ(atomic_latencies({{0_ns, 0, A}}, {{"controller_time", "0ns"}}), Times{kMake});
}

TEST(AtomicUnit, OthersOnItsLineWaitAndNobodyElse) {
  const Time end = kController + kMake;
  for (const auto& [kind, takes] : {std::pair(R, kReadTime), {W, kWriteTime}, {A, kMake}}) {
    const Times found = atomic_latencies({{0_ns, 0, A}, {10_ns, 8, kind}, {10_ns, 64, kind}});
    EXPECT_EQ(found[0], end);
    EXPECT_EQ(found[1], end - 10_ns + takes);
    EXPECT_EQ(found[2], kController + takes);
  }
}

TEST(AtomicUnit, WaitsForWhatIsInTheMediaOfItsLine) {
  for (const auto& [kind, takes] : {std::pair(R, kReadTime), {W, kWriteTime}}) {
    // The unit is there since the first operation; it has seen what came behind that, line by line.
    const Times found = atomic_latencies({{0_ns, 128, A}, {500_ns, 0, kind}, {501_ns, 0, A}, {502_ns, 0, R}});
    EXPECT_EQ(found[1], kController + takes);
    EXPECT_EQ(found[2], kController - 1_ns + takes + kMake);
    EXPECT_EQ(found[3], kController - 2_ns + takes + kMake + kReadTime);
  }
}

// What came before it knew only the controller: it waits for all of it, whatever the line.
TEST(AtomicUnit, TheFirstOfAMemoryWaitsForAllThatIsInTheMedia) {
  for (const auto& [kind, takes] : {std::pair(R, kReadTime), {W, kWriteTime}}) {
    for (const std::uint64_t line : {0, 640}) {
      const Times found =
          atomic_latencies({{0_ns, line, kind}, {1_ns, 0, A}, {2_ns, 0, R}, {500_ns, 64, R}, {501_ns, 0, A}});
      EXPECT_EQ(found[0], kController + takes);
      EXPECT_EQ(found[1], kController - 1_ns + takes + kMake);
      EXPECT_EQ(found[2], kController - 2_ns + takes + kMake + kReadTime);
      EXPECT_EQ(found[4], kController + kMake);  // the second one waits for its line alone
    }
  }
}

TEST(AtomicUnit, WhatPassesItIsNoneOfThoseThatItWaitsFor) {
  // The read of another line comes behind the operation and is done before the write that was there first.
  const Times found = atomic_latencies({{0_ns, 640, W}, {1_ns, 0, A}, {2_ns, 64, R}});
  EXPECT_EQ(found[2], kController + kReadTime);
  EXPECT_EQ(found[1], kController - 1_ns + kWriteTime + kMake);
}

// Media of one latency say at once when an access will be done.
TEST(AtomicUnit, TheFirstOfAMemoryWaitsForWhatWillBeDone) {
  const Value::Map same{{"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}};
  const Times found = atomic_latencies({{0_ns, 640, W}, {1_ns, 0, A}}, same);
  EXPECT_EQ(found[1], kController - 1_ns + kReadTime + kReadTime + 20_ns + kReadTime);
}

TEST(AtomicUnit, WhoWaitsKeepsItsPlaceInLine) {
  const Times found =
      atomic_latencies({{0_ns, 0, A}, {1_ns, 0, R}, {2_ns, 0, R}, {3_ns, 0, A}, {4_ns, 0, R}, {5_ns, 0, W}});
  Time at = kController + kMake;
  EXPECT_EQ(found[1], at + kReadTime - 1_ns);
  EXPECT_EQ(found[2], at + kReadTime - 2_ns);  // two reads at once
  at += kReadTime + kMake;
  EXPECT_EQ(found[3], at - 3_ns);
  EXPECT_EQ(found[4], at + kReadTime - 4_ns);
  EXPECT_EQ(found[5], at + kWriteTime - 5_ns);
}

TEST(AtomicUnit, TakesAPlaceUntilItsEnd) {
  for (const char* const places : {"queue", "read_buffer"}) {
    const Times found = atomic_latencies({{0_ns, 0, A}, {10_ns, 64, R}}, {{places, 1}});
    EXPECT_EQ(found[1], kController + kMake - 10_ns + kController + kReadTime) << places;
  }
  EXPECT_EQ(atomic_latencies({{0_ns, 0, A}, {10_ns, 64, W}}, {{"read_buffer", 1}})[1],
            kController + kWriteTime);
}

TEST(AtomicUnit, IsNotPosted) {
  const Value::Map posts{{"write_buffer", 8}, {"posted_writes", true}};
  // A write is answered from the buffer, and the operation waits until the media have it.
  const Times found = atomic_latencies(
      {{0_ns, 128, A}, {500_ns, 0, W}, {501_ns, 0, A}, {900_ns, 0, R}, {2000_ns, 0, W}}, posts);
  EXPECT_EQ(found[0], kController + kMake);
  EXPECT_EQ(found[1], kController);
  EXPECT_EQ(found[2], kController - 1_ns + kWriteTime + kMake);
  EXPECT_EQ(found[3], kController + kReadTime);
  EXPECT_EQ(found[4], kController);
}

TEST(AtomicUnit, HoldsItsCreditUntilItsEndIfCreditsAreReleasedThen) {
  const auto latency = [](const char* release) {
    SpecBuilder system;
    system.device("host", "host", {{"process_time", "0ns"}, {"queue", 64}});
    system.device(
        "mem", "memory",
        {{"atomic_time", "20ns"},
         {"credit_release", release},
         {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "105ns"}}}});
    system.link("host", "mem", {{"credits", 1}}).region({"mem"});
    std::vector<Access> trace(2, access_to(0, A));
    trace[1].address = Address{64};
    for (Access& access : trace) access.size = kAtomicBytes;
    Running run(system.replay("host", trace));
    run.to_end();
    return run.latency(1);
  };
  EXPECT_EQ(latency("drain"), kController + kMake);
  EXPECT_EQ(latency("completion"), kController + kMake + kController + kMake);
}

// Any accesses to few lines: the operations of a line never overlap, and neither do others overlap them.
TEST(AtomicUnit, OperationsOnALineNeverOverlapAnything) {
  RandomStream random(5, "atomic unit", "test");
  for (const Value::Map& more :
       {Value::Map{}, Value::Map{{"queue", 5}}, Value::Map{{"write_buffer", 4}, {"read_buffer", 3}}}) {
    std::vector<At> accesses;
    Time at;
    for (int i = 0; i < 500; ++i) {
      at += Time{static_cast<std::int64_t>(random.below(120'000))};
      accesses.push_back({at, 64 * random.below(3), std::array{R, W, A, A}[random.below(4)]});
    }
    accesses.front().kind = A;
    const Times found = atomic_latencies(accesses, more);
    // In the media: an operation from the end of its wait on, the others from theirs.
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      const Time end = accesses[i].when + found[i];
      const Time begin = end - (accesses[i].kind == A   ? kMake
                                : accesses[i].kind == W ? kWriteTime
                                                        : kReadTime);
      for (std::size_t j = 0; j < i; ++j) {
        if (accesses[j].address != accesses[i].address || (accesses[i].kind != A && accesses[j].kind != A))
          continue;
        const Time others_end = accesses[j].when + found[j];
        const Time others_begin = others_end - (accesses[j].kind == A   ? kMake
                                                : accesses[j].kind == W ? kWriteTime
                                                                        : kReadTime);
        EXPECT_TRUE(end <= others_begin || others_end <= begin) << i << " and " << j;
      }
    }
  }
}

}  // namespace
}  // namespace cxloom
