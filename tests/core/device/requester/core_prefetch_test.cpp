// Fill buffers, prefetches that are records, and the uses of their lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "core/support/core_bench.hpp"
#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::core;
using test::expect_parts_to_sum;
using test::reads_apart;
using test::Running;
using test::with_core;

// The use of the line of the record `distance` before it, `gap` instructions later.
Access use_of(std::uint32_t distance, std::uint32_t gap, AccessKind kind = AccessKind::kRead) {
  Access use;
  use.role = AccessRole::kUse;
  use.dependence = distance;
  use.instruction_gap = gap;
  use.kind = kind;
  return use;
}

TEST(CorePrefetch, FillBuffersBoundTheReadsOfInstructions) {
  for (const std::int64_t buffers : {1, 4, 16}) {
    Running run(with_core({{"window", 65536}, {"mshrs", 48}, {"fill_buffers", buffers}})
                    .replay("host", reads_apart(64, 4)));
    run.to_end();
    for (std::int64_t k = 0; k < 64; ++k)
      EXPECT_EQ(run.created(static_cast<std::size_t>(k)),
                250_ps * (1 + k % buffers) + 100_ns * (k / buffers));
    EXPECT_NEAR(core(run, "fill_buffers_mean"), 64 * 100.0 / (core(run, "time_ns") - 0.25),
                1e-9);  // from the first request on
    expect_parts_to_sum(run);
  }
}

TEST(CorePrefetch, PrefetchesTakeRegistersAndNoFillBuffers) {
  for (const std::int64_t registers : {1, 4, 16}) {
    std::vector<Access> accesses = reads_apart(64, 4);
    for (Access& access : accesses) access.role = AccessRole::kPrefetch;
    Running run(
        with_core({{"window", 4}, {"mshrs", registers}, {"fill_buffers", 1}}).replay("host", accesses));
    run.to_end();
    for (std::int64_t k = 0; k < 64; ++k)
      EXPECT_EQ(run.created(static_cast<std::size_t>(k)),
                std::max(250_ps * (k + 1), 250_ps * (1 + k % registers) + 100_ns * (k / registers)));
    EXPECT_EQ(core(run, "time_ns"), 16.0);  // nobody waits for them
    EXPECT_EQ(core(run, "fill_buffers_mean"), 0.0);
  }
}

// Two registers, both taken by prefetches: of those that wait the read of an instruction is made first.
TEST(CorePrefetch, ReadsOfInstructionsComeBeforePrefetches) {
  std::vector<Access> accesses = reads_apart(4, 4);
  for (const std::size_t k : {0, 1, 2}) accesses[k].role = AccessRole::kPrefetch;
  Running run(with_core({{"mshrs", 2}}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(2), 100'250_ps);
  EXPECT_EQ(run.created(3), 100'500_ps);
  EXPECT_EQ(core(run, "time_ns"), 200.25);  // to the answer to the read
  EXPECT_EQ(core(run, "mshr_ns"), 100.25 - 1);
}

// A prefetch at 250 ps; its line is used g instructions later, and the next read is a window behind the use.
TEST(CorePrefetch, AUseWaitsForTheRestOfItsPrefetch) {
  for (const std::uint32_t gap : {4U, 160U, 1200U, 1600U, 3200U}) {
    std::vector<Access> accesses = reads_apart(3, 4);
    accesses[0].role = AccessRole::kPrefetch;
    accesses[1] = use_of(1, gap);
    Running run(with_core({{"window", 4}}).replay("host", accesses));
    run.to_end();
    const Time dispatched = 250_ps + 250_ps * (gap / 4);
    EXPECT_EQ(run.created(1), std::max(100'250_ps, dispatched + 250_ps)) << gap;
    expect_parts_to_sum(run);
  }
}

TEST(CorePrefetch, AStoreToALineOnItsWayKeepsItsPlaceInTheStoreBuffer) {
  std::vector<Access> accesses = reads_apart(3, 4);
  accesses[0].role = AccessRole::kPrefetch;
  accesses[1] = use_of(1, 4, AccessKind::kWrite);
  accesses[2].role = AccessRole::kStoreFill;
  for (const std::int64_t room : {1, 2}) {
    Running run(with_core({{"store_buffer", room}}).replay("host", accesses));
    run.to_end();
    EXPECT_EQ(run.created(1), room == 1 ? 100'250_ps : 750_ps);
    expect_parts_to_sum(run);
  }
}

// One register: of the prefetches that wait the one whose line is used is made next, for its instruction.
TEST(CorePrefetch, APrefetchThatWaitsIsMadeForTheInstructionThatUsesItsLine) {
  std::vector<Access> accesses = reads_apart(4, 4);
  for (const std::size_t k : {0, 1, 2}) accesses[k].role = AccessRole::kPrefetch;
  accesses[3] = use_of(1, 4);
  Running run(with_core({{"mshrs", 1}, {"fill_buffers", 1}}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.number({"requests"}), 3);
  EXPECT_EQ(core(run, "time_ns"), 200.25);
  // From the use, at 1 ns, to its line; the last request is answered at 300.25 ns.
  EXPECT_NEAR(core(run, "fill_buffers_mean"), 199.25 / 300, 1e-9);
  expect_parts_to_sum(run);
}

// What needs a use needs its line: a chain through lines that were asked for ahead.
TEST(CorePrefetch, AReadWhoseAddressIsInALineOnItsWayWaitsForIt) {
  std::vector<Access> accesses = reads_apart(3, 4);
  accesses[0].role = AccessRole::kPrefetch;
  accesses[1] = use_of(1, 4);
  accesses[2].dependence = 1;
  accesses[2].dependence_cycles = 4;
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(1), 101'250_ps);
  expect_parts_to_sum(run);
}

TEST(CorePrefetch, AFenceDoesNotWaitForPrefetches) {
  std::vector<Access> accesses = reads_apart(2, 4);
  accesses[0].role = AccessRole::kPrefetch;
  accesses[1].dependence = kAllBefore;
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(1), 500_ps);
}

// A list whose nodes have two lines: the first has the use of what was asked for ahead, and needs the node
// before. Uses do not keep fill buffers from what their lines wait for.
TEST(CorePrefetch, UsesOfLinesThatAreNotAskedForYetHaveNoFillBuffers) {
  for (const std::int64_t buffers : {1, 2, 8}) {
    std::vector<Access> accesses;
    for (std::uint64_t node = 0; node < 40; ++node) {
      Access load = access_to(node * 128);
      load.instruction_gap = 1;
      load.dependence = node == 0 ? 0 : 3;
      Access ahead = access_to(node * 128 + 64);
      ahead.role = AccessRole::kPrefetch;
      ahead.dependence = node == 0 ? 0 : 4;
      accesses.insert(accesses.end(), {load, ahead, use_of(1, 1)});
    }
    Running run(with_core({{"mshrs", 16}, {"fill_buffers", buffers}}).replay("host", accesses));
    run.to_end();
    EXPECT_EQ(run.number({"requests"}), 80);
    EXPECT_NEAR(core(run, "time_ns"), 40 * 100.0, 1.0) << "the chain";
    expect_parts_to_sum(run);
  }
}

TEST(CorePrefetch, AUseOfAReadWaitsForItWithOneFillBuffer) {
  std::vector<Access> accesses = reads_apart(2, 4);
  accesses[1].dependence = 1;
  accesses.push_back(use_of(1, 4));
  Running run(with_core({{"fill_buffers", 1}}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(core(run, "time_ns"), 200.25);
  expect_parts_to_sum(run);
}

// A branch and progress are no accesses: what names them as its producer, in another thread, waits for
// nothing.
TEST(CorePrefetch, WhatDependsOnNoAccessDependsOnNothing) {
  for (const AccessRole role : {AccessRole::kProgress, AccessRole::kBranch}) {
    for (const AccessRole dependent : {AccessRole::kDemand, AccessRole::kUse}) {
      std::vector<Access> accesses = reads_apart(4, 4);
      accesses[1].role = role;
      accesses[1].dependence = role == AccessRole::kBranch ? 1 : 0;
      accesses[2].thread = accesses[3].thread = 1;
      accesses[2].role = dependent;
      accesses[2].dependence = 1;
      Running run(with_core({}).replay("host", accesses));
      run.to_end();
      EXPECT_EQ(run.created(1), dependent == AccessRole::kDemand ? 250_ps : 500_ps);
    }
  }
}

}  // namespace
}  // namespace cxloom
