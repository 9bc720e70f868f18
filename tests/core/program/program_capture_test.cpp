#include "program/program_capture.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "core/support/victims.hpp"

namespace cxloom {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr RegisterSet kA = 1, kB = 2, kC = 4, kStackPointer = 8;
constexpr ProgramThread kThread{1, 0};

BlockInstruction instruction(InstructionClass kind, RegisterSet address, RegisterSet data, RegisterSet result,
                             RegisterSet pointers = 0, std::uint16_t flags = 0) {
  BlockInstruction made;
  made.kind = kind;
  made.address_reads = address;
  made.data_reads = data;
  made.data_writes = result;
  made.pointer_writes = pointers;
  made.length = 4;
  made.flags = flags;
  return made;
}
BlockInstruction load(RegisterSet to, RegisterSet address) {
  return instruction(InstructionClass::kMove, address, 0, to);
}
BlockInstruction store(RegisterSet from, RegisterSet address) {
  return instruction(InstructionClass::kMove, address, from, 0);
}
BlockInstruction add(RegisterSet to, RegisterSet from) {
  return instruction(InstructionClass::kInteger, 0, to | from, to);
}

ProgramAccess read(std::uint16_t of, std::uint64_t address) { return {address, 8, of, true, false}; }
ProgramAccess write(std::uint16_t of, std::uint64_t address) { return {address, 8, of, false, true}; }

// A program is played to a capture, block by block, without caches if nothing else is said.
class ProgramCaptureTest : public testing::Test {
 protected:
  void start(const CaptureParts& parts = {}, std::uint64_t cache_bytes = 0, std::uint64_t second_bytes = 0) {
    std::vector<CacheParams> levels;
    if (cache_bytes > 0) levels.push_back({.size = Bytes{cache_bytes}, .ways = 4});
    if (second_bytes > 0) levels.push_back({.size = Bytes{second_bytes}, .ways = 4});
    filter_.emplace(levels, test::victims(), false, 0, kNoLimit);
    capture_.emplace(*filter_, parts);
  }
  void run(std::vector<BlockInstruction> instructions, std::vector<ProgramAccess> accesses,
           const ProgramThread& thread = kThread, bool continued = false, std::uint64_t at = 0) {
    ProgramBlock block;
    block.instructions = std::move(instructions);
    block.address = at;
    block.last = at;
    for (const BlockInstruction& one : block.instructions) block.last += one.length;
    block.last -= block.instructions.back().length;
    for (const BlockInstruction& one : block.instructions) {
      block.marks |= one.has(BlockInstruction::kRegionBegin | BlockInstruction::kRegionEnd |
                             BlockInstruction::kRegionEntry);
    }
    capture_->block(thread, block, accesses, continued);
  }
  std::vector<std::uint32_t> dependences() {
    std::vector<std::uint32_t> result;
    for (const Access& record : records()) result.push_back(record.dependence);
    return result;
  }
  const std::vector<Access>& records() {
    for (const Access& record : capture_->take()) records_.push_back(record);
    return records_;
  }

  std::optional<CaptureFilter> filter_;
  std::optional<ProgramCapture> capture_;
  std::vector<Access> records_;
};

using Numbers = std::vector<std::uint32_t>;

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

BlockInstruction flushing(RegisterSet address, std::uint16_t flag = BlockInstruction::kFlushDropping) {
  return instruction(InstructionClass::kOther, address, 0, 0, 0, flag);
}
BlockInstruction fence(std::uint16_t flags = BlockInstruction::kOrdersFlushes) {
  return instruction(InstructionClass::kFence, 0, 0, 0, 0, flags);
}

TEST_F(ProgramCaptureTest, AFenceWaitsForTheFlushesOfItsThread) {
  start({}, 4096);
  run({store(kA, kB), flushing(kB), fence(), fence()}, {write(0, 64), read(1, 64)});
  run({fence()}, {}, {2, 0});
  run({load(kA, kB)}, {read(0, 640)});
  ASSERT_EQ(records().size(), 4U);
  EXPECT_EQ(records_[1].kind, AccessKind::kFlush);
  EXPECT_TRUE(records_[1].brings);
  EXPECT_FALSE(records_[1].keeps);
  EXPECT_EQ(records_[1].instruction_gap, 1U);
  EXPECT_EQ(records_[2].role, AccessRole::kProgress);
  EXPECT_EQ(records_[2].dependence, kAllBefore);
  EXPECT_EQ(records_[2].instruction_gap, 1U);
  EXPECT_EQ(records_[2].thread, 1U);
  EXPECT_EQ(records_[3].dependence, 0U);
  EXPECT_EQ(records_[3].instruction_gap, 2U);
  EXPECT_EQ(filter_->records(), 3U);
  EXPECT_EQ(capture_->flushes(), 1U);
  EXPECT_EQ(capture_->loads(), 1U);
}

TEST_F(ProgramCaptureTest, AnAtomicOperationIsAFenceForFlushesAndALoadFenceIsNot) {
  start();
  run({flushing(kB, BlockInstruction::kFlushKeeping), fence(0),
       instruction(InstructionClass::kInteger, kB, kA, kA, 0, BlockInstruction::kAtomic)},
      {read(0, 64), {640, 8, 2, true, true}});
  ASSERT_EQ(records().size(), 4U);
  EXPECT_TRUE(records_[0].keeps);
  EXPECT_EQ(records_[1].dependence, kAllBefore);
  EXPECT_EQ(records_[1].instruction_gap, 2U);  // before its accesses
  EXPECT_EQ(records_[2].kind, AccessKind::kRead);
}

TEST_F(ProgramCaptureTest, AFlushWaitsForItsAddress) {
  start();
  run({load(kA, kB), add(kA, 0), flushing(kA)}, {read(0, 0), read(2, 4096)});
  EXPECT_EQ(dependences(), (Numbers{0, 1}));
}

TEST_F(ProgramCaptureTest, FlushesAreLeftOutIfNobodyWantsThem) {
  start({.flushes = false}, 4096);
  const std::vector<BlockInstruction> all{store(kA, kB), flushing(kB), fence(), load(kA, kB)};
  run(all, {write(0, 64), read(1, 64), read(3, 64)});
  EXPECT_EQ(records().size(), 1U);  // the line stays
  EXPECT_EQ(capture_->flushes(), 1U);
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

// A core whose closed forms are simple: four instructions per cycle.
CaptureParts timed(std::uint32_t penalty = 17) {
  return {.core = CorePipelineParams{
              .width = 4, .window = 64, .load_cycles = {5, 15}, .branch_penalty = penalty}};
}

TEST_F(ProgramCaptureTest, WhatIsBeforeARegionTakesNoTimeOfIt) {
  // A thousand instructions that reach no memory, then the region: ten, and a miss. The caches have seen all of them.
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

/// Cycles up to a last access, which misses.
std::uint64_t cycles_of(const std::vector<Access>& records) {
  std::uint64_t sum = 0;
  for (const Access& record : records) sum += record.cycles;
  return sum;
}

TEST_F(ProgramCaptureTest, EachWrongPredictionTakesItsPenalty) {
  // Blocks of four instructions, of which every other one ends with a branch that goes to one of two places by chance. Whoever
  // predicts cannot know more; each wrong prediction takes the penalty instead of the cycle to the next block.
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
  // 64 lines, of which the first level holds 16: lru keeps none of a cycle. A neighbour on the line comes with it, not before.
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
  // Five cycles from what is stored to what is loaded, one for the addition; the last window is still under way.
  EXPECT_NEAR(static_cast<double>(cycles_of(records())), 6.0 * (1000 - 64.0 / 3), 12);
}

// ---- The TLB

constexpr std::uint64_t kTranslatedPage = 4096;

/// Four pages in the first level, 16 in the second, seven cycles to it.
CaptureParts translated(std::uint32_t walkers = 4) {
  CaptureParts parts = timed();
  parts.tlb = TlbParams{.entries = 4,
                        .ways = 4,
                        .second_entries = 16,
                        .second_ways = 4,
                        .second_cycles = 7,
                        .walk_cache = 8,
                        .walkers = walkers};
  return parts;
}

/// A line of each page, which are in different sets of a cache.
std::uint64_t line_of(std::uint64_t page) { return page * kTranslatedPage + page % 64 * 64; }

std::vector<AccessRole> roles(const std::vector<Access>& records) {
  std::vector<AccessRole> result;
  for (const Access& record : records) result.push_back(record.role);
  return result;
}

struct PagesCase {
  std::uint64_t pages;
  std::uint64_t look_ups;  // cycles of a step besides the load
  std::uint64_t misses;    // of a step
  std::uint64_t walks;
};

// In the first level; in the second; in neither, and the entry of the page is in the nearest cache, below those that are kept.
TEST_F(ProgramCaptureTest, AStepOfAChaseThroughPagesTakesItsLookUps) {
  for (const PagesCase& each : {PagesCase{4, 0, 0, 0}, {16, 7, 1, 0}, {32, 7 + 5, 1, 1}, {64, 7 + 5, 1, 1}}) {
    start(translated(), 65536);
    records_.clear();
    std::uint64_t missed = 0;
    std::vector<std::uint64_t> cycles;
    std::vector<TranslationCounts> counts;
    // So many laps, and a miss whose address is made of the last step.
    const auto laps = [&](std::uint64_t count) {
      for (std::uint64_t i = 0; i < count * each.pages; ++i)
        run({load(kA, kA)}, {read(0, line_of(i % each.pages))});
      run({load(kA, kA)}, {read(0, (1 << 21) + 64 * missed++)});
      cycles.push_back(cycles_of(records()));
      counts.push_back(*capture_->translation());
    };
    for (int i = 0; i < 4; ++i) laps(100);
    laps(200);
    // The last takes a hundred laps more than the one before, which is like it otherwise.
    const std::uint64_t steps = 100 * each.pages;
    const auto more = [](const auto& values, auto member) {
      return values[4].*member - values[3].*member - (values[3].*member - values[2].*member);
    };
    EXPECT_EQ(cycles[4] - cycles[3] - (cycles[3] - cycles[2]), steps * (5 + each.look_ups)) << each.pages;
    EXPECT_EQ(more(counts, &TranslationCounts::misses), steps * each.misses) << each.pages;
    EXPECT_EQ(more(counts, &TranslationCounts::walks), steps * each.walks) << each.pages;
    EXPECT_EQ(more(counts, &TranslationCounts::loads), steps * each.walks) << each.pages;
    EXPECT_EQ(more(counts, &TranslationCounts::cycles), steps * each.look_ups) << each.pages;
  }
}

TEST_F(ProgramCaptureTest, AWalkThatMissesIsAnAccessThatTheNextWaitsFor) {
  start(translated(), 4096);
  // A chase through pages whose entries are in lines of their own, none of which a cache has.
  for (std::uint64_t i = 0; i < 3; ++i) run({load(kA, kA)}, {read(0, i * 512 * kTranslatedPage + i * 1088)});
  // The first walk begins at the root, the others at the directory.
  using enum AccessRole;
  EXPECT_EQ(roles(records()), (std::vector{kPageWalk, kPageWalk, kPageWalk, kPageWalk, kDemand, kPageWalk,
                                           kDemand, kPageWalk, kDemand}));
  // The directory's entries for the three are on one line.
  EXPECT_EQ(dependences(), (Numbers{0, 1, 1, 1, 1, 1, 1, 1, 1}));
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint64_t entry = page_table_entry(0, static_cast<unsigned>(4 - i));
    EXPECT_EQ(records_[i].address.value(), entry);
    EXPECT_EQ(records_[i].size, 64);
    EXPECT_EQ(records_[i].kind, AccessKind::kRead);
  }
  EXPECT_EQ(records_[0].dependence_cycles, 7U);
  EXPECT_EQ(records_[4].dependence_cycles, 0U);
  // From the data to the next address, the second level, and the directory's entry in the nearest cache.
  EXPECT_EQ(records_[5].dependence_cycles, 7U + 5U);
  EXPECT_EQ(records_[5].address.value(), page_table_entry(512 * kTranslatedPage, 1));
  EXPECT_EQ(records_[6].dependence_cycles, 0U);
  std::vector<std::uint32_t> gaps;
  for (const Access& record : records_) gaps.push_back(record.instruction_gap);
  EXPECT_EQ(gaps, (Numbers{1, 0, 0, 0, 0, 1, 0, 1, 0}));
  const TranslationCounts counts = *capture_->translation();
  EXPECT_EQ(counts.misses, 3U);
  EXPECT_EQ(counts.walks, 3U);
  EXPECT_EQ(counts.loads, 4U + 2U + 2U);
  EXPECT_EQ(capture_->loads(), 3U);  // of the program
}

TEST_F(ProgramCaptureTest, AnAccessWithoutAnotherToWaitForWaitsForItsWalk) {
  // The entry of the second page is on the line of the first one's: it may be under way, or has been there for a window.
  for (const bool later : {false, true}) {
    start(translated(), 65536);
    records_.clear();
    run({load(kA, kB)}, {read(0, 640)});
    for (int i = 0; later && i < 65; ++i) run({add(kC, 0)}, {});
    run({load(kA, kB)}, {read(0, 704 + kTranslatedPage)});
    ASSERT_EQ(records().size(), 6U);
    EXPECT_EQ(records_[5].role, AccessRole::kDemand);
    EXPECT_EQ(records_[5].dependence, later ? 0U : 2U);
    EXPECT_EQ(records_[5].dependence_cycles, later ? 7U + 5U : 0U);
  }
}

TEST_F(ProgramCaptureTest, ASecondAccessToAPageWaitsForTheWalkUnderWay) {
  // The other line of the page is read first: the next address of the chase waits for the same walk.
  start(translated(), 4096);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::uint64_t page = i * 512 * kTranslatedPage + i * 1088;
    run({load(kC, kA), load(kA, kA)}, {read(0, page + 2048), read(1, page)});
  }
  using enum AccessRole;
  EXPECT_EQ(roles(records()), (std::vector{kPageWalk, kPageWalk, kPageWalk, kPageWalk, kDemand, kDemand,
                                           kPageWalk, kDemand, kDemand, kPageWalk, kDemand, kDemand}));
  EXPECT_EQ(dependences(), (Numbers{0, 1, 1, 1, 1, 2, 1, 1, 2, 1, 1, 2}));
  // A window later it is over.
  for (int i = 0; i < 65; ++i) run({add(kB, 0)}, {});
  run({load(kB, kB)}, {read(0, 2 * 512 * kTranslatedPage + 3072)});
  EXPECT_EQ(dependences().back(), 0U);
  EXPECT_EQ(records_.back().dependence_cycles, 0U);
}

TEST_F(ProgramCaptureTest, AChaseIsNotCutByAWalkThatBeganWithoutIt) {
  start(translated(), 4096);
  run({load(kA, kA)}, {read(0, 0)});
  // The walk needs nothing that is read; the second access to its page has an address that the chase read.
  run({load(kC, kB), load(kA, kA)}, {read(0, 512 * kTranslatedPage + 2048), read(1, 512 * kTranslatedPage)});
  using enum AccessRole;
  EXPECT_EQ(roles(records()),
            (std::vector{kPageWalk, kPageWalk, kPageWalk, kPageWalk, kDemand, kPageWalk, kDemand, kDemand}));
  EXPECT_EQ(records_[7].dependence, 3U);
}

TEST_F(ProgramCaptureTest, ASecondAccessWaitsForTheLookUpInTheSecondLevel) {
  // Pages that the second level has, and of each a line that no cache has, behind one that is in them.
  start(translated(), 65536);
  for (int lap = 0; lap < 2; ++lap)
    for (std::uint64_t i = 0; i < 8; ++i) run({load(kC, kB)}, {read(0, line_of(i))});
  for (int i = 0; i < 65; ++i) run({add(kC, 0)}, {});
  const std::size_t before = records().size();
  run({load(kC, kB), load(kC, kB)}, {read(0, line_of(0)), read(1, line_of(0) + 1024)});
  ASSERT_EQ(records().size(), before + 1);
  EXPECT_EQ(records_.back().dependence, 0U);
  EXPECT_EQ(records_.back().dependence_cycles, 7U);
}

TEST_F(ProgramCaptureTest, AFlushWaitsForTheLookUpOfItsPage) {
  start(translated(), 65536);
  for (int lap = 0; lap < 2; ++lap)
    for (std::uint64_t i = 0; i < 8; ++i) run({load(kC, kB)}, {read(0, line_of(i))});
  for (int i = 0; i < 65; ++i) run({add(kC, 0)}, {});
  run({flushing(kB)}, {read(0, line_of(0) + 1024)});
  EXPECT_EQ(records().back().kind, AccessKind::kFlush);
  EXPECT_EQ(records_.back().dependence, 0U);
  EXPECT_EQ(records_.back().dependence_cycles, 7U);
}

TEST_F(ProgramCaptureTest, AStoreWaitsForItsPage) {
  start(translated(), 65536);
  run({store(kA, kB)}, {write(0, 0)});
  using enum AccessRole;
  EXPECT_EQ(roles(records()), (std::vector{kPageWalk, kPageWalk, kPageWalk, kPageWalk, kStoreFill}));
  EXPECT_EQ(dependences(), (Numbers{0, 1, 1, 1, 1}));
}

TEST_F(ProgramCaptureTest, WalkersBoundTheWalksOfACycle) {
  // Independent loads, each of another page, whose entries and lines are in the nearest cache: five cycles of a walker each.
  for (const std::uint32_t walkers : {1U, 2U, 4U}) {
    start(translated(walkers), 65536);
    records_.clear();
    const auto laps = [&](std::uint64_t count) {
      for (std::uint64_t i = 0; i < count * 32; ++i) run({load(kC, kB)}, {read(0, line_of(i % 32))});
    };
    laps(10);
    run({load(kB, kB)}, {read(0, 1 << 21)});
    const std::uint64_t before = cycles_of(records());
    laps(100);
    run({load(kB, kB)}, {read(0, (1 << 21) + 64)});
    EXPECT_NEAR(static_cast<double>(cycles_of(records()) - before), 3200.0 * 5 / walkers, 5.0 * 64)
        << walkers;
  }
}

TEST_F(ProgramCaptureTest, WhatIsRecordedAloneIsCounted) {
  CaptureParts parts = translated();
  parts.regions = true;
  start(parts, 65536);
  const BlockInstruction begin =
      instruction(InstructionClass::kNothing, 0, 0, 0, 0, BlockInstruction::kRegionBegin);
  const BlockInstruction end =
      instruction(InstructionClass::kNothing, 0, 0, 0, 0, BlockInstruction::kRegionEnd);
  const auto laps = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count * 16; ++i) run({load(kA, kA)}, {read(0, line_of(i % 16))});
  };
  laps(10);
  EXPECT_EQ(capture_->translation()->misses, 0U);
  EXPECT_EQ(capture_->translation()->cycles, 0U);
  run({begin}, {});
  laps(10);
  run({end}, {});
  const TranslationCounts counts = *capture_->translation();
  EXPECT_EQ(counts.misses, 160U);
  EXPECT_EQ(counts.walks, 0U);
  EXPECT_EQ(counts.cycles, 160U * 7);
  laps(10);
  EXPECT_EQ(capture_->translation()->cycles, 160U * 7);
  start(timed(), 4096);
  EXPECT_FALSE(capture_->translation());
}

TEST_F(ProgramCaptureTest, ThreadsOfOneCoreShareItsTlbAndProcessesDoNotSharePages) {
  start(translated(), 65536);
  run({load(kA, kB)}, {read(0, 0)}, {1, 0});
  run({load(kA, kB)}, {read(0, 0)}, {2, 0});
  EXPECT_EQ(capture_->translation()->misses, 1U);
  run({load(kA, kB)}, {read(0, 0)}, {3, 1});
  EXPECT_EQ(capture_->translation()->misses, 2U);
  EXPECT_EQ(capture_->translation()->loads, 8U);
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

// What a thread tells of its calls, by role and number.
TEST_F(ProgramCaptureTest, ThreadsTellWhenTheyWaitAndGoOn) {
  using Told = std::vector<std::pair<AccessRole, std::uint64_t>>;
  auto told = [&] {
    Told result;
    for (const Access& record : capture_->take()) result.emplace_back(record.role, record.address.value());
    return result;
  };
  auto calls = [&](std::uint32_t number, std::uint64_t order) {
    capture_->system_call(kThread, {number, order, {}});
  };
  auto back = [&](std::uint64_t order, bool slept, Release by = {}) {
    capture_->system_call_ends(kThread, {.order = order, .slept = slept, .by = by});
  };
  start(timed(), 4096);
  calls(9, 1);  // mmap
  back(2, false);
  EXPECT_EQ(told(), (Told{{AccessRole::kCall, 1}}));
  calls(0, 3);  // read, which has its data
  back(4, false);
  EXPECT_EQ(told(), (Told{{AccessRole::kCall, 3}}));
  calls(0, 5);  // and one that waits for somebody unknown, or was taken to
  capture_->thread_sleeps(kThread);
  back(6, true);
  EXPECT_EQ(told(), (Told{{AccessRole::kCall, 5}, {AccessRole::kWait, 0}, {AccessRole::kProgress, 0}}));
  calls(0, 7);
  capture_->thread_sleeps(kThread);
  back(8, false);
  EXPECT_EQ(told(), (Told{{AccessRole::kCall, 7}, {AccessRole::kWait, 0}, {AccessRole::kGoOn, 7}}));
  calls(system_call::kFutex, 9);
  capture_->thread_sleeps(kThread);
  capture_->thread_turns(kThread, {2, 10});
  back(11, true, {2, 10});  // said before
  EXPECT_EQ(told(), (Told{{AccessRole::kCall, 9}, {AccessRole::kWait, 0}, {AccessRole::kGoOn, 10}}));
  calls(system_call::kFutex, 12);
  capture_->thread_turns(kThread, {2, 13});
  capture_->thread_turns(kThread, {});
  back(15, true, {3, 14});
  EXPECT_EQ(told(), (Told{{AccessRole::kCall, 12}, {AccessRole::kGoOn, 13}, {AccessRole::kGoOn, 14}}));
  capture_->thread_ends(kThread);
  EXPECT_EQ(told(), (Told{{AccessRole::kProgress, 0}, {AccessRole::kWait, 0}}));
}

// Its end is told before anybody has looked whether it sleeps: it goes on behind the latest call of another one.
TEST_F(ProgramCaptureTest, AThreadThatSleptUnseenGoesOnBehindWhatOthersDidMeanwhile) {
  const ProgramThread other{2, 0};
  start(timed(), 4096);
  capture_->system_call(other, {1, 1, {}});  // write
  capture_->system_call(kThread, {0, 2, {}});
  capture_->system_call(other, {1, 3, {}});
  capture_->system_call_ends(kThread, {.order = 4, .slept = true});
  const Access last = capture_->take().back();
  EXPECT_EQ(last.role, AccessRole::kGoOn);
  EXPECT_EQ(last.address, Address{3});
  EXPECT_EQ(last.thread, kThread.number);
  // With no call of another in between that is the one before; and of one that did not sleep nothing is said.
  capture_->system_call(kThread, {0, 5, {}});
  capture_->system_call_ends(kThread, {.order = 6, .slept = true});
  EXPECT_EQ(capture_->take().back().address, Address{3});
  capture_->system_call(kThread, {0, 7, {}});
  capture_->system_call_ends(kThread, {.order = 8});
  EXPECT_EQ(capture_->take().back().role, AccessRole::kCall);
}

// Which page got which frame, and for whom it was mapped: the calls that were under way are known.
TEST_F(ProgramCaptureTest, PagesHaveTheOriginThatTheyHadWhenTheyGotAFrame) {
  filter_.emplace(std::vector<CacheParams>{{.size = Bytes{4096}, .ways = 4}}, test::victims(), true, 0,
                  kNoLimit);
  capture_.emplace(*filter_, timed());
  const BlockInstruction call = instruction(InstructionClass::kCall, kStackPointer, 0, 0);
  const auto map = [&](std::uint64_t order, std::uint64_t at) {
    capture_->system_call(kThread, {system_call::kMmap, order, {0, 4096, 3, 0x22, ~std::uint64_t{0}, 0}});
    capture_->system_call_ends(
        kThread, {.number = system_call::kMmap, .order = order + 1, .result = static_cast<std::int64_t>(at)});
  };
  const ProgramThread fork{2, 1};
  capture_->thread_begins(kThread, {});
  run({load(kA, kB)}, {read(0, 40960)});
  run({call}, {}, kThread, false, 1000);
  map(1, 81920);
  run({load(kA, kB)}, {read(0, 81928)});
  capture_->system_call(kThread, {system_call::kClone, 3, {}});
  capture_->thread_begins(fork, {1, 3});
  run({load(kA, kB)}, {read(0, 81936)}, fork);
  capture_->system_call(kThread, {system_call::kExecve, 5, {}});
  capture_->thread_begins({3, 2}, {1, 5});
  run({load(kA, kB)}, {read(0, 81920 + 4092)}, {3, 2});  // across the end of a page
  const std::vector<FramedPage>& pages = capture_->pages();
  std::vector<std::uint64_t> addresses;
  std::vector<MemoryOrigin> origins;
  for (const FramedPage& page : pages) {
    addresses.push_back(page.address);
    origins.push_back(capture_->memory().origins().at(page.origin));
  }
  const std::uint64_t second = std::uint64_t{1} << 48U;
  EXPECT_EQ(addresses, (std::vector<std::uint64_t>{40960, 81920, second + 81920, 2 * second + 81920,
                                                   2 * second + 86016}));
  EXPECT_EQ(origins[0].kind, MemoryOrigin::kUnknown);
  for (const std::size_t i : {1, 2}) {
    EXPECT_EQ(origins[i].kind, MemoryOrigin::kMapped);
    EXPECT_EQ(origins[i].process, 0U);
    ASSERT_EQ(origins[i].callers.size(), MemoryOrigins::kCallers);
    EXPECT_EQ(origins[i].callers[0], 1004U);
    EXPECT_EQ(origins[i].callers[1], 0U);
  }
  EXPECT_EQ(origins[3].kind, MemoryOrigin::kUnknown);  // another program
}

TEST_F(ProgramCaptureTest, OfAnAccessAcrossTheEndOfAPageTheNewOneIsNamed) {
  filter_.emplace(std::vector<CacheParams>{{.size = Bytes{4096}, .ways = 4}}, test::victims(), true, 0,
                  kNoLimit);
  capture_.emplace(*filter_, timed());
  capture_->thread_begins(kThread, {});
  run({load(kA, kB)}, {read(0, 10 * kTranslatedPage)});
  run({load(kA, kB)}, {read(0, 10 * kTranslatedPage - 4)});  // 9 is new
  run({load(kA, kB)}, {read(0, 11 * kTranslatedPage - 4)});  // 11 is
  run({load(kA, kB)}, {read(0, 21 * kTranslatedPage - 4)});  // both are
  std::vector<std::uint64_t> pages;
  for (const FramedPage& page : capture_->pages()) pages.push_back(page.address / kTranslatedPage);
  EXPECT_EQ(pages, (std::vector<std::uint64_t>{10, 9, 11, 20, 21}));
}

TEST_F(ProgramCaptureTest, AThreadWithoutMissesTellsHowFarItHasCome) {
  start(timed(), 4096);
  const BlockInstruction none = instruction(InstructionClass::kInteger, 0, 0, 0);
  for (int i = 0; i < 65536; ++i) run({none, none, none, none}, {});
  ASSERT_EQ(records().size(), 3U);  // each 16384 cycles; the last is begun and not over
  for (const Access& record : records_) {
    EXPECT_EQ(record.role, AccessRole::kProgress);
    EXPECT_NEAR(record.cycles, 16384, 1);
  }
}

}  // namespace
}  // namespace cxloom
