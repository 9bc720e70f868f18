#include "program/program_capture.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/support/program_capture_test.hpp"

namespace cxloom {
namespace {

using test::add;
using test::cycles_of;
using test::flushing;
using test::instruction;
using test::kA;
using test::kB;
using test::kC;
using test::kNoLimit;
using test::kStackPointer;
using test::kThread;
using test::load;
using test::Numbers;
using test::ProgramCaptureTest;
using test::read;
using test::store;
using test::timed;
using test::write;

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

// In the first level; in the second; in neither, and the entry of the page is in the nearest cache, below
// those that are kept.
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
  // The entry of the second page is on the line of the first one's: it may be under way, or has been there
  // for a window.
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
  // Independent loads, each of another page, whose entries and lines are in the nearest cache: five cycles of
  // a walker each.
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

// A machine says where its page tables are: walks read their entries there, and none that a large page has
// not.
TEST_F(ProgramCaptureTest, WalksOfAMachineReadItsOwnTables) {
  start(translated());
  constexpr std::uint64_t kAddress = 0x7000'1000;
  constexpr std::uint64_t kLarge = 0x8020'0000;
  capture_->page_placed(kThread, {.address = kAddress, .entries = {0x1008, 0x2000, 0x3008, 0x4000}});
  capture_->page_placed(kThread, {.address = kLarge, .entries = {0, 0x2008, 0x3010, 0x4000}});
  const auto access = [](std::uint64_t address, std::uint64_t place) {
    ProgramAccess one = read(0, address);
    one.place = place;
    return one;
  };
  run({load(kA, kB)}, {access(kAddress, 0x9'0000)});
  run({load(kA, kB)}, {access(kLarge, 0xA'0000)});
  Numbers places;
  for (const Access& record : records()) places.push_back(static_cast<std::uint32_t>(record.address.value()));
  // Upper entries are known from the first walk as far as they are the same: the second reads two.
  EXPECT_EQ(places, (Numbers{0x4000, 0x3008, 0x2000, 0x1008, 0x9'0000, 0x3010, 0x2008, 0xA'0000}));
  EXPECT_EQ(roles(records()).front(), AccessRole::kPageWalk);
  EXPECT_EQ(roles(records()).back(), AccessRole::kDemand);
}

TEST(PageTablesTest, ALargePageTakesThePlaceOfSmallOnes) {
  PageTables tables;
  std::uint64_t place = 0;
  tables.note({.address = 0x20'0000, .entries = {1, 2, 3, 4}});
  ASSERT_TRUE(tables.find(page_table_entry(0x20'0000, 1), place));
  EXPECT_EQ(place, 1U);
  tables.note({.address = 0x20'0000, .entries = {0, 2, 3, 4}});
  EXPECT_FALSE(tables.find(page_table_entry(0x20'0000, 1), place));
  EXPECT_TRUE(tables.find(page_table_entry(0x20'0000, 2), place));
}

}  // namespace
}  // namespace cxloom
