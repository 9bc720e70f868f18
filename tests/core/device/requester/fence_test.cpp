// Fences: an access that waits for the answers to all before it.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::Running;
using test::SpecBuilder;

/// A host and a memory that answers any number at once after exactly 100 ns.
SpecBuilder fencing_host(Value::Map host) {
  host.emplace_back("process_time", "0ns");
  return SpecBuilder()
      .device("host", "host", std::move(host))
      .device("mem", "memory",
              {{"controller_time", "0ns"},
               {"capacity", "64MiB"},
               {"media", Value::Map{{"kind", "fixed"}, {"latency", "100ns"}}}})
      .link("host", "mem")
      .region({"mem"});
}

Access behind_a_fence(std::uint64_t address, AccessKind kind = AccessKind::kRead) {
  Access access = access_to(address, kind);
  access.dependence = kAllBefore;
  return access;
}

// n at a time, each 100 ns: N accesses between fences take ceil(N / n) x 100 ns. A fence alone holds its
// access up from when a slot is free: 100 ns if the last of the N leave one, nothing if they all end
// together.
TEST(Fence, EveryNAccessesTakeAsLongAsTheirRounds) {
  for (const std::int64_t queue : {1, 3, 4, 64}) {
    for (const std::int64_t every : {1, 4, 6, 10}) {
      SpecBuilder system = fencing_host({{"queue", queue}});
      system.work(
          "host",
          {{"pattern", "random"}, {"requests", 5 * every}, {"footprint", "1MiB"}, {"fence_every", every}});
      Running run(system);
      run.to_end();
      const std::int64_t rounds = (every + queue - 1) / queue;
      ASSERT_EQ(run.table().rows(), static_cast<std::size_t>(5 * every));
      for (std::size_t row = 0; row < run.table().rows(); ++row) {
        const auto id = static_cast<std::int64_t>(run.table().id[row]);
        EXPECT_EQ(run.created(row), 100_ns * (id / every * rounds + id % every / queue))
            << queue << ' ' << every;
        EXPECT_EQ(run.latency(row), 100_ns);
      }
      EXPECT_EQ(run.number({"per_requester", "host", "fences"}), 4.0);
      EXPECT_EQ(run.number({"per_requester", "host", "fence_wait_ns"}), every % queue == 0 ? 0.0 : 100.0);
    }
  }
}

// One after the other, whatever the reason: the same accesses at the same times. With a cache of reads alone:
// a queue of one has room for one write-back, too.
TEST(Fence, AfterEachAccessItIsAQueueOfOne) {
  for (const bool cached : {false, true}) {
    const auto play = [&](std::int64_t queue, bool fenced) {
      Value::Map host{{"queue", queue}};
      if (cached) host.emplace_back("cache", Value::Map{{"size", "16KiB"}});
      SpecBuilder system = fencing_host(std::move(host));
      Value::Map work{
          {"pattern", "zipf"}, {"requests", 3000}, {"footprint", "64KiB"}, {"reads", cached ? 1.0 : 0.5}};
      if (fenced) work.emplace_back("fence_every", 1);
      Running run(system.work("host", std::move(work)));
      run.to_end();
      return run.table();
    };
    const RequestTable fenced = play(64, true);
    const RequestTable alone = play(1, false);
    EXPECT_EQ(fenced.address, alone.address);
    EXPECT_EQ(fenced.created_ps, alone.created_ps);
    EXPECT_EQ(fenced.completed_ps, alone.completed_ps);
  }
}

TEST(Fence, OfATraceWaitsForAllBeforeItAndHoldsAllBehindIt) {
  Running run(fencing_host({{"issue_interval", "30ns"}})
                  .replay("host", {access_to(0), access_to(64), behind_a_fence(128), access_to(192),
                                   behind_a_fence(256)}));
  run.to_end();
  EXPECT_EQ(run.created(1), 30_ns);
  EXPECT_EQ(run.created(2), 130_ns);  // the second has been answered
  EXPECT_EQ(run.created(3), 160_ns);
  EXPECT_EQ(run.created(4), 260_ns);
  EXPECT_EQ(run.number({"per_requester", "host", "fences"}), 2.0);
  EXPECT_EQ(run.number({"per_requester", "host", "fence_wait_ns"}),
            70.0);  // after 60 and 190 ns: to 130 and 260
}

TEST(Fence, InAnOpenLoopItsWaitIsPartOfTheLatency) {
  std::vector<Access> accesses{access_to(0), behind_a_fence(64)};
  for (Access& access : accesses) access.timed = true;
  accesses[1].timestamp = 20_ns;
  Running run(fencing_host({}).replay("host", accesses, {{"replay", "timestamps"}}));
  run.to_end();
  EXPECT_EQ(run.created(1), 20_ns);
  EXPECT_EQ(run.segment(1, Segment::kRequesterQueue), 80_ns);
  EXPECT_EQ(run.completed(1), 200_ns);
}

// A write is over when it has taken effect in the cache; when the line leaves again does not matter to
// anybody.
TEST(Fence, DoesNotWaitForWriteBacks) {
  const Value::Map one_line{{"size", "64B"}, {"ways", 1}, {"access_time", "0ns"}};
  Running run(
      fencing_host({{"cache", one_line}})
          .replay("host", {access_to(0, AccessKind::kWrite), behind_a_fence(64), behind_a_fence(64)}));
  run.to_end();
  EXPECT_EQ(run.completed(1), 200_ns);  // and the line of the first leaves until 300 ns
  EXPECT_EQ(run.created(2), 200_ns);
  EXPECT_EQ(run.completed(2), 200_ns);
  EXPECT_EQ(run.number({"per_requester", "host", "write_backs"}), 0.0);  // in the window, which ends before
}

TEST(Fence, WithoutOneNothingIsSaidOfThem) {
  Running run(fencing_host({}).replay("host", {access_to(0), access_to(64)}));
  run.to_end();
  EXPECT_EQ(run.summary().find("per_requester")->find("host")->find("fences"), nullptr);
}

}  // namespace
}  // namespace cxloom
