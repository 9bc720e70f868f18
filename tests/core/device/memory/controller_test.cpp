#include "device/memory/controller.hpp"

#include <gtest/gtest.h>

#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::Running;
using test::SpecBuilder;

TEST(MemoryController, AQueueLimitOfOneServesOneAfterTheOther) {
  // Controller 40 ns and media 45 ns for each, one at a time: the k-th ends at (k + 1) x 85 ns.
  SpecBuilder system;
  system.device("host", "host", {{"process_time", "0ns"}});
  system.device("mem", "memory", {{"controller_time", "40ns"}, {"queue", 1}});
  system.link("host", "mem").region({"mem"}).replay("host", std::vector<Access>(20, access_to(0)));
  Running run(system);
  run.to_end();
  ASSERT_EQ(run.table().rows(), 20U);
  for (std::size_t k = 0; k < 20; ++k) {
    EXPECT_EQ(run.completed(k), 85_ns * static_cast<std::int64_t>(k + 1));
    EXPECT_EQ(run.segment(k, Segment::kMediaQueue), 85_ns * static_cast<std::int64_t>(k));
    EXPECT_EQ(run.segment(k, Segment::kController), 40_ns);
  }
}

TEST(MemoryController, AQueueLimitSetsTheRateToSlotsPerServiceTime) {
  // Saturated: `queue` requests in 85 ns.
  for (const std::int64_t queue : {2, 7, 64}) {
    SpecBuilder system;
    system.device("host", "host", {{"process_time", "0ns"}, {"queue", 256}});
    system.device("mem", "memory", {{"queue", queue}}).link("host", "mem").region({"mem"});
    system.work("host", {{"pattern", "random"}, {"requests", 8500}, {"footprint", "1MiB"}})
        .run_with({{"warmup", 1000}});
    Running run(system);
    run.to_end();
    EXPECT_NEAR(run.number({"bandwidth_gb_per_s"}), static_cast<double>(queue) * 64.0 / 85.0,
                static_cast<double>(queue) * 64.0 / 85.0 * 0.01);
    EXPECT_NEAR(run.number({"per_memory", "mem", "queue_mean"}), static_cast<double>(queue), 0.01);
    EXPECT_EQ(run.number({"per_memory", "mem", "queue_max"}), static_cast<double>(queue));
  }
}

TEST(MemoryController, WhatWaitsOutsideHoldsItsCredits) {
  // One slot in the memory, two buffers before it: the third waits outside, the fourth has no credit and
  // waits at the host. The link takes no time, so a credit is back as soon as its message is admitted.
  SpecBuilder system;
  system.device("host", "host", {{"process_time", "0ns"}});
  system.device("mem", "memory", {{"queue", 1}});
  system.link("host", "mem", {{"credits", 2}})
      .region({"mem"})
      .replay("host", std::vector<Access>(6, access_to(0)));
  Running run(system);
  run.to_end();
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_EQ(run.completed(k), 85_ns * static_cast<std::int64_t>(k + 1));
    // Admitted at k x 85 ns; it gets a buffer when the one two places before it is admitted.
    const Time admitted = 85_ns * static_cast<std::int64_t>(k);
    const Time buffered = k < 3 ? 0_ns : 85_ns * static_cast<std::int64_t>(k - 2);
    EXPECT_EQ(run.segment(k, Segment::kCredit), buffered);
    EXPECT_EQ(run.segment(k, Segment::kMediaQueue), admitted - buffered);
  }
}

TEST(MemoryController, CountsReadsAndWritesOfTheWindow) {
  SpecBuilder system;
  system.device("host", "host").device("mem", "memory").link("host", "mem").region({"mem"});
  std::vector<Access> accesses;
  for (int i = 0; i < 30; ++i)
    accesses.push_back(access_to(0, i % 3 == 0 ? AccessKind::kWrite : AccessKind::kRead));
  Running run(system.replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.number({"per_memory", "mem", "reads"}), 20.0);
  EXPECT_EQ(run.number({"per_memory", "mem", "writes"}), 10.0);
  EXPECT_EQ(run.number({"reads"}), 20.0);
  EXPECT_EQ(run.number({"writes"}), 10.0);
}

}  // namespace
}  // namespace cxloom
