// The backlog of a full queue: the oldest of the requester with the fewest bursts in the queue comes in next.
#include "memory/dram/queue/backlog.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/dram_bench.hpp"

namespace cxloom {
namespace {

using test::DramBench;

const NodeId kA{0};
const NodeId kB{7};
const NodeId kNobody;

TEST(DramBacklog, AdmitsTheOldestOfWhoHasTheFewestInTheQueue) {
  DramBacklog backlog(8);
  std::uint64_t order = 0;
  const auto wait = [&](NodeId requester) {
    DramArrival arrival;
    arrival.burst.requester = requester;
    arrival.order = order++;
    backlog.push(arrival);
  };
  const auto admit = [&] {
    const DramArrival arrival = backlog.pop();
    backlog.entered(arrival.burst.requester);
    return arrival.order;
  };
  for (int i = 0; i < 3; ++i) backlog.entered(kA);
  backlog.entered(kB);
  for (int i = 0; i < 3; ++i) wait(kA);       // 0, 1, 2
  for (int i = 0; i < 3; ++i) wait(kB);       // 3, 4, 5
  for (int i = 0; i < 2; ++i) wait(kNobody);  // 6, 7: writes of which nobody knows whose they are
  EXPECT_EQ(admit(), 6U);                     // 3, 1, 0 are queued
  EXPECT_EQ(admit(), 3U);                     // 3, 1, 1: the second has had so few for longer
  EXPECT_EQ(admit(), 7U);                     // 3, 2, 1
  backlog.left(kA);
  backlog.left(kA);  // 1, 2, 2
  EXPECT_EQ(admit(), 0U);
  EXPECT_EQ(admit(), 4U);  // 2, 2, 2
  EXPECT_FALSE(backlog.empty());
  EXPECT_EQ(admit(), 1U);  // 2, 3, 2
  EXPECT_EQ(admit(), 5U);  // 3, 3, 2
  EXPECT_EQ(admit(), 2U);
  EXPECT_TRUE(backlog.empty());
}

// A read that a waiting write answers takes no place. Its requester has as few as before, and is not passed
// over.
TEST(DramBacklog, TurnsToWhoNeededNoPlaceAgain) {
  DramBacklog backlog(1);
  std::uint64_t order = 0;
  for (const NodeId requester : {kA, kA, kB, kB, kB}) {
    DramArrival arrival;
    arrival.burst.requester = requester;
    arrival.order = order++;
    backlog.push(arrival);
  }
  EXPECT_EQ(backlog.pop().order, 0U);
  backlog.needs_no_place(kA);
  for (const std::uint64_t expected : {2U, 1U, 3U}) {  // by turns, as each has none there
    const DramArrival arrival = backlog.pop();
    EXPECT_EQ(arrival.order, expected);
    backlog.entered(arrival.burst.requester);
    backlog.left(arrival.burst.requester);
  }
}

// Against a search of all that wait: nobody with fewer in the queue is passed over, and nobody overtakes his
// own.
TEST(DramBacklog, NeverPassesOverWhoHasFewer) {
  RandomStream random(1, "dram", "backlog");
  constexpr std::uint32_t kPlaces = 12;
  DramBacklog backlog(kPlaces);
  std::map<std::uint32_t, std::uint32_t> queued;
  std::map<std::uint32_t, std::vector<std::uint64_t>> waiting;
  std::uint32_t in_queue = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const auto who = static_cast<std::uint32_t>(random.below(5));
    if (random.chance(0.5)) {
      DramArrival arrival;
      arrival.burst.requester = NodeId{who};
      arrival.order = i;
      backlog.push(arrival);
      waiting[who].push_back(i);
    }
    const auto leaves = static_cast<std::uint32_t>(random.below(5));
    if (queued[leaves] != 0 && random.chance(0.7)) {
      backlog.left(NodeId{leaves});
      --queued[leaves];
      --in_queue;
    }
    while (in_queue < kPlaces && !backlog.empty()) {
      const DramArrival next = backlog.pop();
      const std::uint32_t index = next.burst.requester.index();
      ASSERT_EQ(next.order, waiting[index].front());
      waiting[index].erase(waiting[index].begin());
      for (const auto& [other, orders] : waiting)
        ASSERT_TRUE(orders.empty() || queued[index] <= queued[other]) << i;
      backlog.entered(next.burst.requester);
      ++queued[index];
      ++in_queue;
    }
  }
}

/// Nanoseconds that a read of one requester takes to another bank, behind forty of another one which all
/// change the row of a bank, with a queue of eight.
double behind_a_crowd(const char* scheduler) {
  DramParams params = DramBench::preset("test-D5");
  params.mapping = "rochrababgco";
  params.refresh.kind = "off";
  params.read_queue = 8;
  params.scheduler.kind = scheduler;
  DramBench bench(params);
  for (std::uint64_t i = 0; i < 40; ++i) bench.access({i << 17U, false, 64, kA}, Time{});
  const std::size_t other = bench.access({1U << 12U, false, 64, kB}, Time{});
  bench.run();
  return bench.latency(other).ns();
}

// It comes in with the first place that is free, and its bank is; where the order counts it comes last.
TEST(DramBacklog, LetsNobodyFillTheQueueForOthers) {
  const DramTiming t = DramBench(DramBench::preset("test-D5")).config().device.timing;
  const double clock = 0.416;
  const double read = static_cast<double>(t.tRCD + t.CL + 8) * clock;
  const double turn = static_cast<double>(t.tRAS + t.tRP) * clock;
  for (const char* const scheduler : {"fr-fcfs", "bliss"})
    EXPECT_NEAR(behind_a_crowd(scheduler), static_cast<double>(t.tRCD) * clock + read, 2 * clock)
        << scheduler;
  EXPECT_GT(behind_a_crowd("fcfs"), 39 * turn + read);
}

}  // namespace
}  // namespace cxloom
