#include "device/requester/core_cluster.hpp"

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
using test::core;
using test::expect_parts_to_sum;
using test::reads_apart;
using test::Running;
using test::SpecBuilder;
using test::with_core;

TEST(CoreCluster, OneReadComesAfterTheInstructionsBeforeIt) {
  Running run(with_core({}).replay("host", reads_apart(1, 400)));
  run.to_end();
  EXPECT_EQ(run.created(0), 25_ns);  // 400 instructions of a quarter of 250 ps
  EXPECT_EQ(run.completed(0), 125_ns);
  EXPECT_EQ(core(run, "instructions"), 400);
  EXPECT_EQ(core(run, "busy_ns"), 25.0);
  EXPECT_EQ(core(run, "time_ns"), 125.0);
  expect_parts_to_sum(run);
}

TEST(CoreCluster, AChainOfReadsTakesALatencyAndItsComputingEach) {
  std::vector<Access> accesses = reads_apart(100, 8);
  for (std::size_t i = 1; i < accesses.size(); ++i) {
    accesses[i].dependence = 1;
    accesses[i].dependence_cycles = 20;  // 5 ns
  }
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  for (std::size_t k = 0; k < 100; ++k)
    EXPECT_EQ(run.created(k), Time{500 + 105'000 * static_cast<std::int64_t>(k)});
  EXPECT_NEAR(core(run, "time_ns"), 0.5 + 99 * 105 + 100, 1e-9);
  EXPECT_NEAR(core(run, "chain_ns"), 99 * 5, 99 * 0.5);  // in part hidden by its instructions
  expect_parts_to_sum(run);
}

TEST(CoreCluster, TheWindowLetsSoManyReadsOverlap) {
  // In a window of 128 instructions, a read in every 32: the read 128 instructions behind comes in as the
  // first retires. Four reads take the latency, and that the first of the next four is dispatched with it.
  for (const std::int64_t window : {32, 64, 128, 256, 512}) {
    const std::int64_t overlap = window / 32;
    Running run(with_core({{"window", window}}).replay("host", reads_apart(512, 32)));
    run.to_end();
    // The k-th is the (k % overlap)-th of its group; in a group they are 32 instructions apart, which is 2
    // ns.
    for (std::int64_t k = 0; k < 512; ++k)
      EXPECT_EQ(run.created(static_cast<std::size_t>(k)), 2_ns * (1 + k % overlap) + 100_ns * (k / overlap))
          << window << " " << k;
    expect_parts_to_sum(run);
  }
}

TEST(CoreCluster, WhereTheWindowIsLongEnoughInstructionsAloneTakeTime) {
  Running run(with_core({{"window", 2048}, {"mshrs", 64}})
                  .replay("host", reads_apart(512, 32)));  // 64 reads in the window, 128 ns
  run.to_end();
  for (std::size_t k = 0; k < 512; ++k) EXPECT_EQ(run.created(k), 2_ns * static_cast<std::int64_t>(k + 1));
  EXPECT_EQ(core(run, "busy_ns"), 1024.0);
  EXPECT_EQ(core(run, "time_ns"), 1124.0);  // to the last answer
  EXPECT_NEAR(core(run, "instructions_per_cycle"), 512 * 32 / (1124.0 * 4), 1e-12);
}

TEST(CoreCluster, MissRegistersBoundTheReadsUnderWay) {
  for (const std::int64_t mshrs : {1, 4, 16}) {
    Running run(with_core({{"window", 65536}, {"mshrs", mshrs}}).replay("host", reads_apart(64, 4)));
    run.to_end();
    for (std::int64_t k = 0; k < 64; ++k)
      EXPECT_EQ(run.created(static_cast<std::size_t>(k)), 250_ps * (1 + k % mshrs) + 100_ns * (k / mshrs));
    expect_parts_to_sum(run);
  }
}

TEST(CoreCluster, StoresHoldNothingUpUntilTheirBufferIsFull) {
  for (const std::int64_t room : {1, 2, 8, 64}) {
    std::vector<Access> accesses = reads_apart(64, 4);
    for (Access& access : accesses) access.role = AccessRole::kStoreFill;
    Running run(with_core({{"window", 4}, {"store_buffer", room}, {"mshrs", 1024}}).replay("host", accesses));
    run.to_end();
    for (std::int64_t k = 0; k < 64; ++k)
      EXPECT_EQ(run.created(static_cast<std::size_t>(k)), 250_ps * (1 + k % room) + 100_ns * (k / room));
    expect_parts_to_sum(run);
  }
}

TEST(CoreCluster, WriteBacksHoldNothingUp) {
  std::vector<Access> accesses = reads_apart(64, 4);
  for (Access& access : accesses) {
    access.kind = AccessKind::kWrite;
    access.role = AccessRole::kWriteBack;
  }
  Running run(with_core({{"window", 4}, {"store_buffer", 1}, {"mshrs", 1}}).replay("host", accesses));
  run.to_end();
  for (std::size_t k = 0; k < 64; ++k) EXPECT_EQ(run.created(k), 250_ps * static_cast<std::int64_t>(k + 1));
  EXPECT_EQ(core(run, "time_ns"), 16.0);
}

// A process is waited for as long as the oldest access without an answer is of it, whoever comes next.
TEST(CoreCluster, WaitsAreThoseOfTheProcessThatMadeTheAccess) {
  std::vector<Access> accesses = reads_apart(4, 4);
  for (std::size_t i = 1; i < accesses.size(); ++i) accesses[i].dependence = 1;
  for (const std::size_t own : {0U, 1U}) accesses[own].process = kKernelProcess;
  accesses[2].process = kLastProcess;
  Running run(with_core({{"window", 4}}).replay("host", accesses));
  run.to_end();
  const auto waits = [&](const char* process) {
    return run.number({"per_requester", "host", "core", "waits_ns", process});
  };
  // Each comes 0.25 ns after the one before, and is answered 100 ns after that one is, or after it came.
  EXPECT_EQ(core(run, "time_ns"), 400.25);
  EXPECT_EQ(waits("1"), 200 - 2 * 0.25);
  EXPECT_EQ(waits("4095"), 100 - 0.25);
  EXPECT_EQ(waits("0"), 100);
  expect_parts_to_sum(run);
}

TEST(CoreCluster, NothingIsWaitedForByProcessWhereNoneIsTold) {
  Running run(with_core({}).replay("host", reads_apart(4, 4)));
  run.to_end();
  const Value summary = run.summary();
  EXPECT_EQ(summary.find("per_requester")->find("host")->find("core")->find("waits_ns"), nullptr);
}

TEST(CoreCluster, AnAccessBehindAFenceWaitsForAllOfItsThread) {
  std::vector<Access> accesses = reads_apart(4, 4);
  accesses[0].role = AccessRole::kStoreFill;
  accesses[2].dependence = kAllBefore;
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(1), 500_ps);
  EXPECT_EQ(run.created(2), 100'500_ps);
  EXPECT_EQ(run.created(3), 100'750_ps);
}

TEST(CoreCluster, AReadThatWaitsLetsOthersBehindItPass) {
  std::vector<Access> accesses = reads_apart(3, 4);
  accesses[1].dependence = 1;
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(0), 250_ps);
  EXPECT_EQ(run.created(1), 750_ps);      // in the order of their making: the third access
  EXPECT_EQ(run.created(2), 100'250_ps);  // the second, when the first is answered
}

TEST(CoreCluster, ThreadsHaveCoresOfTheirOwn) {
  // Two chains, whose accesses alternate in the trace, take as long as one.
  std::vector<Access> accesses = reads_apart(100, 4);
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    accesses[i].thread = static_cast<std::uint32_t>(i % 2);
    if (i >= 2) accesses[i].dependence = 2;
  }
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(core(run, "threads"), 2);
  EXPECT_NEAR(core(run, "time_ns"), 2 * (0.25 + 50 * 100), 1e-9);
  expect_parts_to_sum(run);
}

// A read, 8 instructions; a branch that needs it, was predicted wrongly and takes 20 cycles; another read, 8
// instructions later.
TEST(CoreCluster, WhatFollowsABranchWaitsForWhatTheBranchNeeds) {
  std::vector<Access> accesses = reads_apart(3, 8);
  accesses[1].role = AccessRole::kBranch;
  accesses[1].dependence = 1;
  accesses[1].dependence_cycles = 20;
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(0), Time{500});
  EXPECT_EQ(run.created(1), Time{100'500 + 5'000 + 500});
  EXPECT_EQ(core(run, "time_ns"), 100.5 + 5 + 0.5 + 100);
  EXPECT_EQ(core(run, "chain_ns"), 5.0);
  expect_parts_to_sum(run);
}

// What the branch needs needs another read: both are waited for, one behind the other.
TEST(CoreCluster, ABranchBehindAChainWaitsForEachOfItsReads) {
  std::vector<Access> accesses = reads_apart(4, 8);
  accesses[1].dependence = 1;
  accesses[2].role = AccessRole::kBranch;
  accesses[2].dependence = 1;
  accesses[2].dependence_cycles = 20;
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(2), Time{200'500 + 5'000 + 500});
  EXPECT_EQ(core(run, "time_ns"), 200.5 + 5 + 0.5 + 100);
  EXPECT_EQ(core(run, "chain_ns"), 5.0);
  expect_parts_to_sum(run);
}

// A store; 800 instructions later, which is more than the window has, a store that has no place before the
// first is done; a read, 8 instructions later.
TEST(CoreCluster, WhatFollowsAStoreWithoutAPlaceWaitsForTheStoreThatHasIt) {
  std::vector<Access> accesses = reads_apart(3, 8);
  accesses[0].role = AccessRole::kStoreFill;
  accesses[1].role = AccessRole::kBranch;
  accesses[1].dependence = 1;
  accesses[1].instruction_gap = 800;
  Running run(with_core({{"window", 16}}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(0), Time{500});
  EXPECT_EQ(run.created(1), Time{100'500 + 500});
  EXPECT_EQ(core(run, "busy_ns"), 0.5 + 50 + 0.5);
  EXPECT_EQ(core(run, "time_ns"), 100.5 + 0.5 + 100);
  expect_parts_to_sum(run);
}

TEST(CoreCluster, ABranchWhoseDataAreThereHoldsNothingUp) {
  std::vector<Access> accesses = reads_apart(3, 8);
  accesses[1].role = AccessRole::kBranch;
  accesses[1].dependence = 1;
  accesses[1].instruction_gap = 1608;  // 100.5 ns
  Running run(with_core({{"window", 4096}}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(1), Time{500 + 100'500 + 500});
  expect_parts_to_sum(run);
}

TEST(CoreCluster, CyclesOfATraceTakeThePlaceOfThoseOfItsInstructions) {
  std::vector<Access> accesses = reads_apart(10, 4);
  for (Access& access : accesses) access.cycles = 40;
  Running run(with_core({{"cycles_per_instruction", 3.0}}).replay("host", accesses));
  run.to_end();
  for (std::size_t k = 0; k < 10; ++k) EXPECT_EQ(run.created(k), 10_ns * static_cast<std::int64_t>(k + 1));
}

TEST(CoreCluster, AccessesOfAPatternAreAnInstructionEach) {
  SpecBuilder system = with_core({{"window", 16}});
  system.work("host", {{"pattern", "sequential"}, {"requests", 160}, {"footprint", "1MiB"}});
  Running run(system);
  run.to_end();
  EXPECT_EQ(core(run, "instructions"), 160);
  // 16 at a time; the first of the next 16 is dispatched with the first answer.
  EXPECT_NEAR(run.completed(159).ns(), 1000.0 + 16 * 0.0625, 0.01);
}

/// The rules applied to every instruction: dispatch in order, `width` retire per cycle and in order.
std::vector<Time> by_instruction(const std::vector<Access>& accesses, std::int64_t window) {
  constexpr std::int64_t kSlot = 125;  // picoseconds: two instructions per cycle
  constexpr std::int64_t kLatency = 100'000;
  std::vector<std::int64_t> retired{0};  // of instructions, from 1
  std::vector<std::int64_t> done(accesses.size());
  std::vector<std::int64_t> made;
  std::vector<std::int64_t> asked(accesses.size());
  std::int64_t leads = 0;
  std::int64_t dispatched = 0;
  std::int64_t last_retired = -kLatency;
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    for (std::uint32_t i = 0; i < accesses[k].instruction_gap; ++i) {
      dispatched += kSlot;
      const auto number = static_cast<std::int64_t>(retired.size());
      if (number > window)
        dispatched = std::max(dispatched, retired[static_cast<std::size_t>(number - window)]);
      std::int64_t complete = dispatched;
      if (i + 1 == accesses[k].instruction_gap) {
        std::int64_t ready = dispatched;
        if (accesses[k].dependence != 0) ready = std::max(ready, done[k - accesses[k].dependence]);
        // A prefetch comes when what stands before it has its place.
        if (accesses[k].role == AccessRole::kPrefetch) ready = std::max(ready, leads);
        // A use has its place when its line's record has its turn.
        asked[k] = accesses[k].role == AccessRole::kUse ? asked[k - accesses[k].dependence] : ready;
        if (accesses[k].role != AccessRole::kPrefetch) leads = std::max(dispatched, asked[k]);
        done[k] = ready;
        if (accesses[k].role != AccessRole::kUse) {
          made.push_back(ready);
          done[k] += kLatency;
        }
        if (accesses[k].role != AccessRole::kPrefetch) complete = done[k];
      }
      last_retired = std::max(last_retired + kSlot, complete);
      retired.push_back(last_retired);
    }
  }
  std::vector<Time> times;
  for (const std::int64_t time : made) times.emplace_back(time);
  return times;
}

TEST(CoreCluster, AgreesWithAModelOfEachInstruction) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, "core", "test");
    const std::int64_t window = std::int64_t{1} << random.below(10);
    std::vector<Access> accesses = reads_apart(60, 1);
    for (std::size_t k = 0; k < accesses.size(); ++k) {
      accesses[k].instruction_gap = static_cast<std::uint32_t>(1 + random.below(100));
      if (random.below(3) == 0)
        accesses[k].dependence = static_cast<std::uint32_t>(random.below(std::min<std::uint64_t>(k, 9) + 1));
      if (random.below(4) == 0) accesses[k].role = AccessRole::kPrefetch;
      if (accesses[k].dependence != 0 && random.below(2) == 0) accesses[k].role = AccessRole::kUse;
    }
    Running run(
        with_core({{"window", window}, {"width", 2}, {"cycles_per_instruction", 0.5}, {"mshrs", 1024}})
            .replay("host", accesses));
    run.to_end();
    std::vector<Time> expected = by_instruction(accesses, window);
    std::sort(expected.begin(), expected.end());
    for (std::size_t k = 0; k < expected.size(); ++k)
      EXPECT_EQ(run.created(k), expected[k]) << seed << " " << k << " window " << window;
    expect_parts_to_sum(run);
  }
}

}  // namespace
}  // namespace cxloom
