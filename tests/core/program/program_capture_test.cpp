#include "program/program_capture.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "core/support/program_capture_test.hpp"

namespace cxloom {
namespace {

using test::add;
using test::cycles_of;
using test::instruction;
using test::kA;
using test::kB;
using test::kC;
using test::kStackPointer;
using test::kThread;
using test::load;
using test::Numbers;
using test::ProgramCaptureTest;
using test::read;
using test::store;
using test::timed;
using test::write;

TEST_F(ProgramCaptureTest, EachLoadOfAChaseWaitsForTheOneBefore) {
  start();
  for (std::uint64_t i = 0; i < 4; ++i) run({load(kA, kA)}, {read(0, 4096 * i)});
  EXPECT_EQ(dependences(), (Numbers{0, 1, 1, 1}));
}

TEST_F(ProgramCaptureTest, StreamsAreIndependent) {
  start();
  for (std::uint64_t i = 0; i < 3; ++i) {
    // sum += a[i]; sum2 += b[i]; the pointers are counted up.
    run({load(kC, kA), add(kStackPointer, kC), load(kC, kB), add(kStackPointer, kC), add(kA, 0), add(kB, 0)},
        {read(0, 64 * i), read(2, 9999 + 64 * i)});
  }
  EXPECT_EQ(dependences(), (Numbers{0, 0, 0, 0, 0, 0}));
}

TEST_F(ProgramCaptureTest, AStoreWaitsForItsDataButItsLineDoesNot) {
  const std::vector<BlockInstruction> copy{load(kC, kA), store(kC, kB)};
  start();
  run(copy, {read(0, 0), write(1, 4096)});
  EXPECT_EQ(dependences(), (Numbers{0, 1}));
  start({}, 4096);
  records_.clear();
  run(copy, {read(0, 0), write(1, 4096)});
  EXPECT_EQ(dependences(), (Numbers{0, 0}));  // the second is the read of the line for the write
}

TEST_F(ProgramCaptureTest, DependencesPassThroughMemory) {
  start();
  run({load(kA, kB)}, {read(0, 4096)});              // 1
  run({store(kA, kStackPointer)}, {write(0, 800)});  // 2, waits for 1
  run({load(kC, kStackPointer)},
      {read(0, 800)});  // 3: its address is ready, its data come with 1, or from memory with 3
  run({load(kA, kC)}, {read(0, 8192)});  // 4 waits for what was read
  EXPECT_EQ(dependences(), (Numbers{0, 1, 0, 1}));
}

// With caches the stack is not in the trace, and what passed through it still waits for the miss.
TEST_F(ProgramCaptureTest, HitsPassOnWhatTheyWaitFor) {
  start({}, 4096);
  run({load(kB, kStackPointer)}, {read(0, 800)});    // record 1: the stack's line
  run({load(kA, kB)}, {read(0, 40960)});             // record 2
  run({store(kA, kStackPointer)}, {write(0, 800)});  // hits
  run({load(kC, kStackPointer)}, {read(0, 800)});    // hits, with the data of record 2
  run({load(kA, kC)}, {read(0, 81920)});             // record 3
  EXPECT_EQ(dependences(), (Numbers{0, 1, 1}));
}

TEST_F(ProgramCaptureTest, ANeighbourOnTheLineComesWithTheMiss) {
  start({}, 4096);
  for (std::uint64_t i = 0; i < 3; ++i) {
    // key = node->key; node = node->next
    run({load(kC, kA), load(kA, kA)}, {read(0, 40960 * i), read(1, 40960 * i + 8)});
  }
  EXPECT_EQ(dependences(), (Numbers{0, 1, 1}));
}

TEST_F(ProgramCaptureTest, PointersThatMoveOnDoNotWaitForWhatIsRead) {
  start();
  const BlockInstruction pop = instruction(InstructionClass::kMove, kStackPointer, 0, kA, kStackPointer);
  for (std::uint64_t i = 0; i < 3; ++i) run({pop}, {read(0, 800 + 8 * i)});
  EXPECT_EQ(dependences(), (Numbers{0, 0, 0}));
}

TEST_F(ProgramCaptureTest, ThreadsHaveRegistersOfTheirOwn) {
  start();
  run({load(kA, kA)}, {read(0, 0)}, {1, 0});
  run({load(kA, kA)}, {read(0, 64)}, {2, 0});
  run({load(kA, kA)}, {read(0, 128)}, {1, 0});
  EXPECT_EQ(dependences(), (Numbers{0, 0, 2}));
  EXPECT_EQ(records()[1].thread, 2U);
}

TEST_F(ProgramCaptureTest, GapsCountEachInstructionOnce) {
  start();
  const BlockInstruction none = add(kC, 0);
  run({none, load(kA, kB), none, none, store(kA, kB), none}, {read(1, 0), write(4, 8)});
  run({none, load(kA, kB)}, {read(1, 16)});
  const BlockInstruction repeated =
      instruction(InstructionClass::kString, kB, 0, 0, kB, BlockInstruction::kRepeated);
  run({repeated}, {write(0, 24)});
  run({repeated}, {write(0, 25)}, kThread, true);
  run({none}, {});
  std::vector<std::uint32_t> gaps;
  for (const Access& record : records()) gaps.push_back(record.instruction_gap);
  EXPECT_EQ(gaps, (Numbers{2, 3, 3, 1, 0}));
  EXPECT_EQ(filter_->instructions(), 10U);
  EXPECT_EQ(capture_->loads(), 2U);
  EXPECT_EQ(capture_->stores(), 3U);
}

TEST_F(ProgramCaptureTest, AnAtomicOperationReadsAndWrites) {
  start();
  run({instruction(InstructionClass::kInteger, kB, kA, kA, 0, BlockInstruction::kAtomic)},
      {{64, 8, 0, true, true}});
  ASSERT_EQ(records().size(), 2U);
  EXPECT_EQ(records_[0].kind, AccessKind::kRead);
  EXPECT_EQ(records_[1].kind, AccessKind::kWrite);
  EXPECT_EQ(records_[1].instruction_gap, 0U);
  EXPECT_EQ(records_[1].dependence, 1U);
}

TEST_F(ProgramCaptureTest, OnlyBetweenTheMarks) {
  start({.regions = true});
  const BlockInstruction begin =
      instruction(InstructionClass::kNothing, 0, 0, 0, 0, BlockInstruction::kRegionBegin);
  const BlockInstruction end =
      instruction(InstructionClass::kNothing, 0, 0, 0, 0, BlockInstruction::kRegionEnd);
  run({load(kA, kB)}, {read(0, 0)});
  run({load(kA, kB), begin, load(kA, kB)}, {read(0, 64), read(2, 128)});
  run({begin}, {});  // nested
  run({end}, {});
  run({load(kA, kB), end, load(kA, kB)}, {read(0, 192), read(2, 256)});
  run({end}, {});  // one too many
  run({load(kA, kB)}, {read(0, 320)});
  ASSERT_EQ(records().size(), 2U);
  EXPECT_EQ(records_[0].address, Address{128});
  EXPECT_EQ(records_[1].address, Address{192});
  EXPECT_EQ(records_[0].instruction_gap, 1U);  // since the mark
  EXPECT_EQ(records_[1].instruction_gap, 3U);  // two marks, and itself
  EXPECT_EQ(capture_->regions(), 2U);
  EXPECT_EQ(filter_->instructions(), 1U + 1 + 1 + 2);
}

TEST_F(ProgramCaptureTest, AFunctionEndsWithTheReturnOfItsCall) {
  start({.regions = true});
  const BlockInstruction entry =
      instruction(InstructionClass::kNothing, 0, 0, 0, 0, BlockInstruction::kRegionEntry);
  const BlockInstruction call = instruction(InstructionClass::kCall, 0, 0, 0);
  const BlockInstruction back = instruction(InstructionClass::kReturn, 0, 0, 0);
  run({load(kA, kB), call}, {read(0, 0)});
  run({entry, load(kA, kB), call}, {read(1, 64)});  // calls another
  run({load(kA, kB), back}, {read(0, 128)});        // which belongs to it
  run({load(kA, kB), call}, {read(0, 192)});        // it calls itself
  run({entry, load(kA, kB), back}, {read(1, 256)});
  run({load(kA, kB), back}, {read(0, 320)});  // its end
  run({load(kA, kB)}, {read(0, 384)});
  ASSERT_EQ(records().size(), 5U);
  EXPECT_EQ(records_.front().address, Address{64});
  EXPECT_EQ(records_.back().address, Address{320});
  EXPECT_EQ(capture_->regions(), 1U);
  // From its first instruction to its last: 3 + 2 + 2 + 3 + 2, of which the last is behind all records.
  EXPECT_EQ(filter_->instructions(), 12U);
  std::uint64_t sum = 0;
  for (const Access& record : records_) sum += record.instruction_gap;
  EXPECT_EQ(sum, 11U);
}

TEST_F(ProgramCaptureTest, ASampleIsTheEndOfEachPeriod) {
  start({.window = 10, .period = 100});
  for (std::uint64_t i = 0; i < 1000; ++i) run({load(kA, kB)}, {read(0, 64 * i)});
  ASSERT_EQ(records().size(), 100U);
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(records_[i].address, Address{64 * (i / 10 * 100 + 90 + i % 10)});
    EXPECT_EQ(records_[i].instruction_gap, 1U);
  }
  EXPECT_EQ(filter_->instructions(), 100U);
}

TEST_F(ProgramCaptureTest, WhatIsBeforeARegionTakesNoTimeOfIt) {
  // A thousand instructions that reach no memory, then the region: ten, and a miss. The caches have seen all
  // of them.
  CaptureParts parts = timed();
  parts.regions = true;
  start(parts, 65536);
  const BlockInstruction entry =
      instruction(InstructionClass::kNothing, 0, 0, 0, 0, BlockInstruction::kRegionEntry);
  const BlockInstruction nothing = instruction(InstructionClass::kNothing, 0, 0, 0);
  for (int i = 0; i < 1000; ++i) run({nothing}, {});
  run({entry, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing, load(kA, kB)},
      {read(9, 64)});
  ASSERT_EQ(records().size(), 1U);
  EXPECT_EQ(records_[0].instruction_gap, 10U);
  EXPECT_LE(records_[0].cycles, 4U);  // four instructions a cycle
}

TEST_F(ProgramCaptureTest, EachWrongPredictionTakesItsPenalty) {
  // Blocks of four instructions, of which every other one ends with a branch that goes to one of two places
  // by chance. Whoever predicts cannot know more; each wrong prediction takes the penalty instead of the
  // cycle to the next block.
  std::array<std::uint64_t, 2> cycles{};
  std::uint64_t wrong = 0;
  for (const std::uint32_t penalty : {1U, 17U}) {
    start(timed(penalty), 4096);
    RandomStream random(1, "branches", "test");
    for (int i = 0; i < 10'000; ++i) {
      const BlockInstruction none = instruction(InstructionClass::kInteger, 0, 0, 0);
      run({none, none, none, instruction(InstructionClass::kBranch, 0, 0, 0)}, {});
      run({none, none, none, none}, {}, kThread, false, random.below(2) == 0 ? 16 : 4096);
    }
    run({load(kA, kB)}, {read(0, 0)});
    cycles[penalty == 1 ? 0 : 1] = cycles_of(records());
    records_.clear();
    wrong = capture_->mispredictions();
    EXPECT_EQ(capture_->branches(), 10'000U);
  }
  EXPECT_EQ(cycles[0], 20'000U);  // one a block
  EXPECT_EQ(cycles[1], 20'000 + 16 * wrong);
  EXPECT_NEAR(static_cast<double>(wrong), 5000, 250);
}

TEST_F(ProgramCaptureTest, AHitInTheSecondLevelTakesItsTimeInAChain) {
  // 64 lines, of which the first level holds 16: lru keeps none of a cycle. A neighbour on the line comes
  // with it, not before.
  for (const bool key_first : {false, true}) {
    start(timed(), 1024, 65536);
    auto lap = [&] {
      for (std::uint64_t i = 0; i < 64; ++i) {
        if (key_first) run({load(kC, kA), load(kA, kA)}, {read(0, 64 * i), read(1, 64 * i + 8)});
        else run({load(kA, kA)}, {read(0, 64 * i)});
      }
    };
    lap();
    const std::uint64_t before = cycles_of(records());
    for (int i = 0; i < 100; ++i) lap();
    run({load(kB, kA)}, {read(0, 1'000'000)});
    // The last one is dispatched when that a window before it retires, be it one or two for each step.
    const std::uint64_t window = key_first ? 32 : 64;
    EXPECT_NEAR(static_cast<double>(cycles_of(records()) - before),
                15.0 * (6400 - static_cast<double>(window)), 5.0 * 64 + 15)
        << key_first;
    records_.clear();
  }
}

TEST_F(ProgramCaptureTest, IndependentHitsInTheSecondLevelOverlap) {
  start(timed(), 1024, 65536);
  for (std::uint64_t i = 0; i < 6400; ++i) run({load(kC, kB)}, {read(0, i % 64 * 64)});
  run({load(kB, kA)}, {read(0, 1'000'000)});
  EXPECT_NEAR(static_cast<double>(cycles_of(records())), 6400.0 / 4, 16);
}

TEST_F(ProgramCaptureTest, WhatIsStoredComesBackNoEarlierThanItIsKnown) {
  // A counter in memory: load, add, store; each load has the store before it to wait for.
  start(timed(), 4096);
  for (int i = 0; i < 1000; ++i)
    run({load(kC, kStackPointer), add(kC, 0), store(kC, kStackPointer)}, {read(0, 800), write(2, 800)});
  run({load(kB, kA)}, {read(0, 1'000'000)});
  // Five cycles from what is stored to what is loaded, one for the addition; the last window is still under
  // way.
  EXPECT_NEAR(static_cast<double>(cycles_of(records())), 6.0 * (1000 - 64.0 / 3), 12);
}

// What follows waits for the branch, and the branch for the data that its condition is made of.
TEST_F(ProgramCaptureTest, ABranchThatNeedsAMissIsRecordedIfItIsPredictedWrongly) {
  start(timed(), 4096);
  const BlockInstruction compare = instruction(InstructionClass::kInteger, 0, kA, kC);
  const BlockInstruction branch = instruction(InstructionClass::kBranch, 0, kC, 0);
  // An unknown branch is taken to be not taken... or the other way round: one of the two is wrong.
  for (const std::uint64_t target : {std::uint64_t{12}, std::uint64_t{400}}) {
    start(timed(), 4096);
    records_.clear();
    run({load(kA, kB), compare, branch}, {read(0, 40960)});
    run({load(kB, kB)}, {read(0, 81920)}, kThread, false, target);
    if (capture_->mispredictions() == 0) {
      EXPECT_EQ(dependences(), (Numbers{0, 0}));
      continue;
    }
    ASSERT_EQ(records().size(), 3U);
    EXPECT_EQ(records_[1].role, AccessRole::kBranch);
    EXPECT_EQ(records_[1].dependence, 1U);
    EXPECT_EQ(records_[1].dependence_cycles, 1U + 17U);
    EXPECT_EQ(records_[1].instruction_gap, 2U);
    EXPECT_EQ(records_[1].cycles, 5U + 1 + 17);  // as if the load hit
    EXPECT_EQ(records_[2].dependence, 0U);
  }
}

// Stores that hit wait in the store buffer behind one that does not. Of three places the first is there again
// when the third store behind a miss comes, and nothing comes into the window before that.
TEST_F(ProgramCaptureTest, AStoreWithoutAPlaceIsRecordedWithTheMissThatKeepsIt) {
  CaptureParts parts = timed();
  parts.core->store_buffer = 3;
  start(parts, 4096);
  const std::vector<BlockInstruction> next{add(kC, 0), store(kA, kB)};
  run(next, {write(1, 0)});
  run(next, {write(1, 8)});
  run(next, {write(1, 16)});
  EXPECT_EQ(records().size(), 1U);
  for (std::uint64_t i = 3; i < 8; ++i) run(next, {write(1, 8 * i)});
  ASSERT_EQ(records().size(), 2U);
  EXPECT_EQ(records_[1].role, AccessRole::kBranch);
  EXPECT_EQ(records_[1].dependence, 1U);
  EXPECT_EQ(records_[1].dependence_cycles, 0U);
  EXPECT_EQ(records_[1].instruction_gap, 6U);
}

TEST_F(ProgramCaptureTest, EachStoreThatMissesIsWaitedForInItsTurn) {
  CaptureParts parts = timed();
  parts.core->store_buffer = 2;
  start(parts, 4096);
  for (std::uint64_t i = 0; i < 4; ++i) run({store(kA, kB)}, {write(0, 64 * i)});
  // Line, line, wait for the first, line, wait for the second, line.
  EXPECT_EQ(dependences(), (Numbers{0, 0, 2, 0, 3, 0}));
}

TEST_F(ProgramCaptureTest, TheKernelOfAMachineIsCountedApart) {
  constexpr std::uint64_t kKernel = 0xFFFF'FFFF'8100'0000;
  start({}, 4096);
  run({load(kA, kB), add(kA, 0)}, {read(0, 4096)});
  EXPECT_TRUE(capture_->kernel().empty());
  run({load(kA, kB), load(kC, kB), add(kA, 0)}, {read(0, 4096), read(1, 8192)}, kThread, false, kKernel);
  run({load(kA, kB)}, {read(0, 8192)}, kThread, true, kKernel);  // goes on: no other instruction
  EXPECT_EQ(capture_->kernel().at(1).instructions, 3U);
  EXPECT_EQ(capture_->kernel().at(1).records, 1U);  // the line that nobody had accessed
}

TEST_F(ProgramCaptureTest, ProcessesOfAMachineHaveWhatRunsOutsideOfItsKernel) {
  constexpr std::uint64_t kKernel = 0xFFFF'FFFF'8100'0000;
  const auto at = [](ProgramAccess access, std::uint64_t place) {
    access.place = place;
    return access;
  };
  start({}, 4096);
  EXPECT_EQ(capture_->guest_uses(), nullptr);
  capture_->process_goes_on(kThread, {.space = 1, .parent = 0, .pid = 7, .name = "app"});
  capture_->space_mapped({.space = 1, .begin = 0, .end = 8192, .name = "[heap]"});
  run({load(kA, kB), add(kA, 0)}, {at(read(0, 4096), 0x5000)});
  run({load(kA, kB), add(kA, 0)}, {at(read(0, 4096), 0x6000)}, kThread, false, kKernel);
  run({load(kA, kB)}, {at(read(0, 4096), 0x5000)});  // in the cache
  capture_->set_recording(false);
  run({load(kA, kB)}, {at(read(0, 0), 0x7000)});
  const GuestUses& uses = *capture_->guest_uses();
  ASSERT_EQ(uses.processes().size(), 1U);
  EXPECT_EQ(uses.processes()[0].instructions, 3U);
  EXPECT_EQ(uses.processes()[0].records, 1U);
  ASSERT_EQ(uses.mappings().size(), 1U);
  EXPECT_EQ(uses.mappings()[0].pages, (std::unordered_map<std::uint64_t, std::uint64_t>{{5, 1}}));
}

// Records say whose they are, and the cycles of all are those of the records.
TEST_F(ProgramCaptureTest, CyclesAndRecordsAreByProcess) {
  constexpr std::uint64_t kKernel = 0xFFFF'FFFF'8100'0000;
  start(timed(), 4096);
  const std::vector<BlockInstruction> block{load(kA, kB), add(kA, 0), add(kA, kA), add(kA, kA), load(kA, kC)};
  const auto play = [&](std::uint64_t place, std::uint64_t at) {
    run(block, {read(0, place), read(4, place + 64)}, kThread, false, at);
  };
  play(1U << 16U, 0);  // of nobody who is known
  play(2U << 16U, kKernel);
  capture_->process_goes_on(kThread, {.space = 1, .parent = 0, .pid = 7, .name = "app"});
  play(3U << 16U, 0);
  capture_->process_goes_on(kThread, {.space = 2, .parent = 0, .pid = 8, .name = "other"});
  play(4U << 16U, 0);
  play(5U << 16U, kKernel);
  std::vector<std::uint16_t> of;
  for (const Access& record : records()) of.push_back(record.process);
  EXPECT_EQ(of, (std::vector<std::uint16_t>{0, 0, 1, 1, 2, 2, 3, 3, 1, 1}));
  capture_->thread_ends(kThread);
  const std::vector<std::uint64_t>& cycles = capture_->cycles();
  ASSERT_EQ(cycles.size(), 4U);
  std::uint64_t sum = 0;
  for (const std::uint64_t each : cycles) {
    EXPECT_GT(each, 0U);
    sum += each;
  }
  EXPECT_EQ(sum, cycles_of(records()));
}

TEST_F(ProgramCaptureTest, CyclesThatAreNotRecordedAreOfNobody) {
  start(timed(), 4096);
  capture_->set_recording(false);
  run({load(kA, kB), add(kA, 0)}, {read(0, 4096)}, kThread, false, 0xFFFF'FFFF'8100'0000);
  EXPECT_TRUE(capture_->cycles().empty());
}

TEST_F(ProgramCaptureTest, RegistersOfDevicesAreCountedWhileItIsRecorded) {
  start({}, 4096);
  capture_->register_accessed(kThread);
  capture_->set_recording(false);
  capture_->register_accessed(kThread);
  EXPECT_EQ(capture_->register_accesses(), 1U);
}

}  // namespace
}  // namespace cxloom
