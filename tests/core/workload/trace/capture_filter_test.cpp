#include "workload/trace/capture_filter.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/support/victims.hpp"
#include "workload/trace/lackey_capture.hpp"

namespace cxloom {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// Lackey's lines: I an instruction, L a load, S a store, each with address and size.
const std::string kLoads = "I  1000,4\n L 8000,8\nI  1004,4\nI  1008,4\n S 8040,8\nI  100c,4\n L 8000,8\n";

std::vector<Access> fed(CaptureFilter& filter, const std::string& text) {
  std::vector<Access> records;
  LackeyCapture lackey(filter);
  lackey.feed(text, records);
  lackey.finish();
  return records;
}

TEST(CaptureFilter, WithoutCachesTheAccessesAreTheRecords) {
  CaptureFilter filter({}, test::victims(), false, 0, kNoLimit);
  const std::vector<Access> records = fed(filter, kLoads);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].address, Address{0x8000});
  EXPECT_EQ(records[1].address, Address{0x8040});
  EXPECT_EQ(records[1].kind, AccessKind::kWrite);
  EXPECT_EQ(records[1].instruction_gap, 2U);
  EXPECT_EQ(filter.instructions(), 4U);
  EXPECT_EQ(filter.levels(), 0U);
}

TEST(CaptureFilter, FirstTouchGivesFramesInTheOrderOfTheirPages) {
  CaptureFilter filter({}, test::victims(), true, 0, kNoLimit);
  const std::vector<Access> records = fed(filter, "I  1000,4\n L ff000,8\n L 8008,8\n L ff010,8\n");
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].address, Address{0x0});
  EXPECT_EQ(records[1].address, Address{0x1008});
  EXPECT_EQ(records[2].address, Address{0x10});
  EXPECT_EQ(filter.pages(), 2U);
}

Access at(std::uint64_t address, AccessKind kind = AccessKind::kRead, std::uint32_t thread = 1) {
  Access access;
  access.address = Address{address};
  access.size = 8;
  access.kind = kind;
  access.thread = thread;
  return access;
}

TEST(CaptureFilter, AFlushBringsTheDataOfADirtyLine) {
  for (const bool keeps : {false, true}) {
    CaptureFilter filter(
        {CacheParams{.size = Bytes{4096}, .ways = 4}, CacheParams{.size = Bytes{8192}, .ways = 4}},
        test::victims(), false, 0, kNoLimit);
    std::vector<Access> records;
    CaptureFilter::Core& core = filter.core_of(1);
    Access flush = at(0x8010);
    flush.keeps = keeps;
    filter.access(core, at(0x8008, AccessKind::kWrite), 0, records);  // 1: the read of its line
    filter.flush(core, flush, 0, records);                            // 2, waits for the line
    filter.flush(core, flush, 0, records);                            // 3: it is clean, or gone
    filter.access(core, at(0x8000), 0, records);                      // 4, if it is gone
    ASSERT_EQ(records.size(), keeps ? 3U : 4U);
    for (const std::size_t each : {1, 2}) {
      EXPECT_EQ(records[each].kind, AccessKind::kFlush);
      EXPECT_EQ(records[each].address, Address{0x8000});
      EXPECT_EQ(records[each].size, kLineBytes);
      EXPECT_EQ(records[each].keeps, keeps);
      EXPECT_EQ(records[each].brings, each == 1);
    }
    EXPECT_EQ(records[1].dependence, 1U);
  }
}

TEST(CaptureFilter, AFlushFindsTheLineInAllCores) {
  CaptureFilter filter({CacheParams{.size = Bytes{4096}, .ways = 4}}, test::victims(), false, 0, kNoLimit, 2);
  std::vector<Access> records;
  CaptureFilter::Core& one = filter.core_of(1);
  CaptureFilter::Core& other = filter.core_of(2);
  filter.access(one, at(0x8000, AccessKind::kWrite), 0, records);
  filter.flush(other, at(0x8000, AccessKind::kRead, 2), 0, records);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records[1].brings);
  filter.access(one, at(0x8000), 0, records);
  ASSERT_EQ(records.size(), 3U);  // it is gone
}

TEST(CaptureFilter, WithoutCachesAFlushIsOfItsLine) {
  CaptureFilter filter({}, test::victims(), true, 0, kNoLimit);
  std::vector<Access> records;
  filter.flush(filter.core_of(1), at(0xff010), 0, records);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].address, Address{0});
  EXPECT_EQ(records[0].size, kLineBytes);
  EXPECT_FALSE(records[0].brings);
}

TEST(CaptureFilter, CachesLetMissesThroughAndCountFromTheStartOfRecording) {
  CaptureFilter filter({CacheParams{.size = Bytes{4096}, .ways = 4}}, test::victims(), false, 0, kNoLimit);
  filter.set_recording(false);
  EXPECT_TRUE(fed(filter, "I  1000,4\n L 8000,8\n").empty());
  filter.set_recording(true);
  const std::vector<Access> records = fed(filter, "I  1004,4\n L 8000,8\nI  1008,4\n L 9000,8\n");
  ASSERT_EQ(records.size(), 1U);  // the line of 0x8000 is in the cache already
  EXPECT_EQ(records[0].address, Address{0x9000});
  EXPECT_EQ(records[0].size, kLineBytes);
  EXPECT_EQ(filter.counts(0).hits, 1U);
  EXPECT_EQ(filter.counts(0).misses, 1U);
  EXPECT_EQ(filter.instructions(), 2U);
  EXPECT_EQ(filter.instructions_in_all(), 3U);
}

TEST(CaptureFilter, SkipsAndEndsWhereItIsTold) {
  CaptureFilter filter({}, test::victims(), false, 1, 1);
  const std::vector<Access> records = fed(filter, kLoads);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].address, Address{0x8040});
  EXPECT_TRUE(filter.complete());
}

// One line after another through a cache of one line; the records are numbered from 1.
TEST(CaptureFilter, WhatHitsALineWaitsForTheRecordOfThatLine) {
  CaptureFilter filter({CacheParams{.size = Bytes{64}, .ways = 1}}, test::victims(), false, 0, kNoLimit);
  std::vector<Access> records;
  auto read = [&](std::uint64_t address, std::uint64_t producer) {
    return filter.access({.address = Address{address}, .thread = 1, .size = 8}, producer, records).record;
  };
  EXPECT_EQ(read(0, 0), 1U);
  EXPECT_EQ(read(8, 0), 1U);
  EXPECT_EQ(read(64, 1), 2U);
  EXPECT_EQ(read(124, 1), 3U);  // straddles: the second line is the later one
  EXPECT_EQ(records.at(1).dependence, 1U);
  EXPECT_EQ(records.at(2).dependence, 2U);
}

TEST(CaptureFilter, AWriteBackWaitsForNothing) {
  CaptureFilter filter({CacheParams{.size = Bytes{64}, .ways = 1}}, test::victims(), false, 0, kNoLimit);
  std::vector<Access> records;
  filter.access({.address = Address{0}, .thread = 1, .kind = AccessKind::kWrite}, 0, records);
  filter.access({.address = Address{64}, .thread = 1}, 1, records);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[1].dependence, 1U);
  EXPECT_EQ(records[2].kind, AccessKind::kWrite);
  EXPECT_EQ(records[2].dependence, 0U);
}

TEST(CaptureFilter, CountsSumUpOverAllTimesOfRecording) {
  CaptureFilter filter({CacheParams{.size = Bytes{4096}, .ways = 4}}, test::victims(), false, 0, kNoLimit);
  std::vector<Access> records;
  for (std::uint64_t i = 0; i < 9; ++i) {
    filter.set_recording(i % 3 == 0);
    filter.access({.address = Address{64 * i}, .instruction_gap = 10, .thread = 1}, 0, records);
  }
  filter.set_recording(false);
  EXPECT_EQ(filter.instructions(), 30U);
  EXPECT_EQ(filter.instructions_in_all(), 90U);
  EXPECT_EQ(filter.counts(0).misses, 3U);
  EXPECT_EQ(records.size(), 3U);
  EXPECT_EQ(records.back().instruction_gap, 10U);  // since the access before, recorded or not
}

// Two processes may use the same addresses for different memory. The quick way for lines that are still where
// they were makes no difference: two filters are fed the same, one asks for it first.
TEST(CaptureFilter, WhatHitsIsTheSameWithAndWithoutTheQuickWay) {
  const std::vector<CacheParams> levels{{.size = Bytes{4096}, .ways = 4}, {.size = Bytes{16384}, .ways = 8}};
  CaptureFilter plain(levels, test::victims(), true, 10, 5000);
  CaptureFilter quick(levels, test::victims(), true, 10, 5000);
  std::vector<Access> expected;
  std::vector<Access> records;
  std::mt19937_64 random(1);
  std::uint64_t hits = 0;
  for (std::uint64_t i = 0; !plain.complete(); ++i) {
    Access access;
    // Mostly within 2 KiB that move on, some of them across two lines; and anywhere in 64 KiB.
    const std::uint64_t at = random() % 4 != 0 ? i / 64 * 64 + random() % 2048 : random() % 65536;
    access.address = Address{at | std::uint64_t{i / 1000 % 2} << 48U};
    access.size = 8;
    access.thread = static_cast<std::uint32_t>(1 + i % 2);
    access.kind = random() % 3 == 0 ? AccessKind::kWrite : AccessKind::kRead;
    const std::uint64_t producer = expected.size() / 2;
    plain.begin_instructions(access.thread, 3);
    quick.begin_instructions(access.thread, 3);
    const std::uint64_t delivered = plain.access(access, producer, expected).record;
    CaptureFilter::Core& core = quick.core_of(access.thread);
    CaptureFilter::Delivery line;
    if (quick.hits(core, access.address, access.size, access.kind, line)) {
      ++hits;
    } else {
      line = quick.access(core, access, producer, records);
    }
    ASSERT_EQ(line.record, delivered) << i;
  }
  EXPECT_TRUE(quick.complete());
  EXPECT_GT(hits, 5000U);
  ASSERT_EQ(records.size(), expected.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].address, expected[i].address);
    EXPECT_EQ(records[i].kind, expected[i].kind);
    EXPECT_EQ(records[i].instruction_gap, expected[i].instruction_gap);
    EXPECT_EQ(records[i].dependence, expected[i].dependence);
  }
  for (std::size_t level = 0; level < 2; ++level) {
    EXPECT_EQ(quick.counts(level).hits, plain.counts(level).hits);
    EXPECT_EQ(quick.counts(level).misses, plain.counts(level).misses);
    EXPECT_EQ(quick.counts(level).write_backs, plain.counts(level).write_backs);
  }
  // Once it is complete, nothing counts.
  CaptureFilter::Delivery line;
  EXPECT_FALSE(quick.hits(quick.core_of(1), records.back().address, 8, AccessKind::kRead, line));
}

// A core whose second level asks for the line behind one that is new.
CaptureFilter with_next_line(const PrefetcherRegistry& kinds, std::uint32_t cores = 1) {
  return CaptureFilter(
      {CacheParams{.size = Bytes{256}, .ways = 4}, CacheParams{.size = Bytes{4096}, .ways = 4}},
      test::victims(), false, 0, kNoLimit, cores, Bytes{4096},
      {.levels = {{}, {.kind = {"next-line", Value(Value::Map{})}}}, .kinds = &kinds});
}

TEST(CaptureFilter, APrefetchAndTheFirstUseOfItsLineAreRecords) {
  const PrefetcherRegistry& kinds = test::cache_kinds().prefetchers;
  CaptureFilter filter = with_next_line(kinds);
  std::vector<Access> records;
  CaptureFilter::Core& core = filter.core_of(1);
  filter.access(core, at(0x8000), 0, records);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].role, AccessRole::kDemand);
  EXPECT_EQ(records[1].role, AccessRole::kPrefetch);
  EXPECT_EQ(records[1].address, Address{0x8040});
  EXPECT_EQ(records[1].instruction_gap, 0U);
  Access next = at(0x8048);
  next.instruction_gap = 5;
  const CaptureFilter::Delivery found = filter.access(core, next, 1, records);
  EXPECT_EQ(found.level, 1U);
  EXPECT_EQ(found.record, 2U) << "its data come with the prefetch";
  EXPECT_TRUE(found.recorded);
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[2].role, AccessRole::kUse);
  EXPECT_EQ(records[2].dependence, 1U);
  EXPECT_EQ(records[2].instruction_gap, 5U);
  EXPECT_EQ(records[3].role, AccessRole::kPrefetch);
  EXPECT_EQ(records[3].address, Address{0x8080});
  EXPECT_EQ(records[3].dependence, 3U) << "its address is made of what that of its access is";
  CaptureFilter::Delivery again;
  EXPECT_TRUE(filter.hits(core, Address{0x8050}, 8, AccessKind::kRead, again)) << "used before";
  EXPECT_EQ(again.record, 2U);
  EXPECT_EQ(filter.records(), 3U) << "a use is no access";
}

TEST(CaptureFilter, AStoreUsesALineThatWasAskedForAhead) {
  const PrefetcherRegistry& kinds = test::cache_kinds().prefetchers;
  CaptureFilter filter = with_next_line(kinds);
  std::vector<Access> records;
  CaptureFilter::Core& core = filter.core_of(1);
  filter.access(core, at(0x8000), 0, records);
  filter.access(core, at(0x8040, AccessKind::kWrite), 0, records);
  EXPECT_EQ(records[2].role, AccessRole::kUse);
  EXPECT_EQ(records[2].kind, AccessKind::kWrite);
}

TEST(CaptureFilter, APrefetchLeavesThePageAndWhatOthersHaveWrittenAlone) {
  const PrefetcherRegistry& kinds = test::cache_kinds().prefetchers;
  CaptureFilter filter = with_next_line(kinds, 2);
  std::vector<Access> records;
  filter.access(filter.core_of(1), at(0x8fc0), 0, records);
  EXPECT_EQ(records.size(), 1U) << "the next line is in another page";
  filter.access(filter.core_of(2), at(0xa040, AccessKind::kWrite, 2), 0, records);
  records.clear();
  filter.access(filter.core_of(1), at(0xa000), 0, records);
  EXPECT_EQ(records.size(), 1U);
}

// The second level hears of the lines that the first asks it for, so that a scan trains its prefetcher, too.
TEST(CaptureFilter, ALevelSeesWhatTheOneBeforeItAsksFor) {
  const PrefetcherRegistry& kinds = test::cache_kinds().prefetchers;
  CaptureFilter filter(
      {CacheParams{.size = Bytes{4096}, .ways = 4}, CacheParams{.size = Bytes{65536}, .ways = 4}},
      test::victims(), false, 0, kNoLimit, 1, Bytes{4096},
      {.levels = {{.kind = {"next-line", Value(Value::Map{})}}, {.kind = {"streamer", Value(Value::Map{})}}},
       .kinds = &kinds});
  std::vector<Access> records;
  CaptureFilter::Core& core = filter.core_of(1);
  for (std::uint64_t line = 0; line < 64; ++line) filter.access(core, at(0x8000 + 64 * line), 0, records);
  EXPECT_EQ(filter.counts(0).prefetches, 63U);
  EXPECT_GE(filter.counts(1).prefetches, 55U);
  EXPECT_LE(filter.counts(1).useful + filter.counts(1).useless, filter.counts(1).prefetches);
}

TEST(CaptureFilter, AThrottledPrefetcherAsksForLess) {
  const PrefetcherRegistry& kinds = test::cache_kinds().prefetchers;
  std::array<std::uint64_t, 2> asked{};
  for (const bool throttle : {false, true}) {
    Value degree(Value::Map{{"degree", 4}});
    CaptureFilter filter(
        {CacheParams{.size = Bytes{4096}, .ways = 4}}, test::victims(), false, 0, kNoLimit, 1, Bytes{4096},
        {.levels = {{.kind = {"next-line", degree}, .throttle = throttle}}, .kinds = &kinds});
    std::vector<Access> records;
    CaptureFilter::Core& core = filter.core_of(1);
    for (std::uint64_t page = 0; page < 4000; ++page) filter.access(core, at(page * 4096), 0, records);
    asked[throttle ? 1 : 0] = filter.counts(0).prefetches;
    EXPECT_EQ(filter.counts(0).useful, 0U);
  }
  EXPECT_EQ(asked[0], 16000U);
  EXPECT_LT(asked[1], 5000U) << "one line at an access, once it is seen that none is used";
}

TEST(CaptureFilter, ProcessesHaveFramesOfTheirOwn) {
  for (const bool first_touch : {true, false}) {
    CaptureFilter filter({CacheParams{.size = Bytes{4096}, .ways = 4}}, test::victims(), first_touch, 0,
                         kNoLimit);
    std::vector<Access> records;
    filter.access({.address = Address{0x1000}, .thread = 1}, 0, records);
    filter.access({.address = Address{0x1000 + (std::uint64_t{1} << 48U)}, .thread = 2}, 0, records);
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[0].address, Address{first_touch ? 0U : 0x1000U});
    EXPECT_EQ(records[1].address, Address{0x1000});
  }
}

// Two levels of a line each: what leaves the first is in the second.
TEST(CaptureFilter, SaysInWhichLevelALineWas) {
  CaptureFilter filter(
      {CacheParams{.size = Bytes{64}, .ways = 1}, CacheParams{.size = Bytes{128}, .ways = 2}},
      test::victims(), false, 0, kNoLimit);
  std::vector<Access> records;
  auto level = [&](std::uint64_t address) {
    return filter.access({.address = Address{address}, .thread = 1, .size = 8}, 0, records).level;
  };
  EXPECT_EQ(level(0), 2U);
  EXPECT_EQ(level(8), 0U);
  EXPECT_EQ(level(64), 2U);
  EXPECT_EQ(level(0), 1U);
  EXPECT_EQ(level(60), 1U);  // across both
}

// What three cores with caches of their own make of an access of one of them.
class PrivateCachesTest : public testing::Test {
 protected:
  /// The kinds and roles of the records of an access, such as "read demand".
  std::string access(std::uint32_t thread, AccessKind kind, std::uint64_t address = 0x1000) {
    std::vector<Access> records;
    const Access access{.address = Address{address}, .thread = thread, .size = 8, .kind = kind};
    CaptureFilter::Core& core = filter_.core_of(thread);
    CaptureFilter::Delivery found;
    if (!filter_.hits(core, access.address, access.size, kind, found))
      filter_.access(core, access, 0, records);
    std::string text;
    for (const Access& record : records) {
      EXPECT_EQ(record.thread, thread);
      text += record.role == AccessRole::kWriteBack ? "w" : record.role == AccessRole::kStoreFill ? "f" : "r";
    }
    return text;
  }
  std::string read(std::uint32_t thread) { return access(thread, AccessKind::kRead); }
  std::string write(std::uint32_t thread) { return access(thread, AccessKind::kWrite); }

  CaptureFilter filter_{
      {CacheParams{.size = Bytes{1024}, .ways = 4}, CacheParams{.size = Bytes{4096}, .ways = 4}},
      test::victims(),
      false,
      0,
      kNoLimit,
      3};
};

TEST_F(PrivateCachesTest, EachCoreReadsALineForItself) {
  EXPECT_EQ(read(1), "r");
  EXPECT_EQ(read(1), "");
  EXPECT_EQ(read(2), "r");
  EXPECT_EQ(read(3), "r");
  EXPECT_EQ(read(1), "");
}

TEST_F(PrivateCachesTest, AStoreTakesTheLineFromTheOthers) {
  read(1);
  read(2);
  EXPECT_EQ(write(1), "f");  // asks for it, since another had it
  EXPECT_EQ(write(1), "");
  EXPECT_EQ(read(2), "wr");  // what is dirty goes to where all can read it
  EXPECT_EQ(read(1), "");    // and stays, clean
  EXPECT_EQ(write(2), "f");
  EXPECT_EQ(write(1), "wf");
  EXPECT_EQ(write(2), "wf");
}

TEST_F(PrivateCachesTest, ALineThatNobodyElseHasIsWrittenAtOnce) {
  read(2);
  EXPECT_EQ(read(1), "r");
  EXPECT_EQ(access(1, AccessKind::kRead, 0x2000), "r");
  EXPECT_EQ(access(1, AccessKind::kWrite, 0x2000), "");
}

TEST_F(PrivateCachesTest, MoreThreadsThanCoresShareThem) {
  for (const std::uint32_t thread : {1U, 2U, 3U}) EXPECT_EQ(read(thread), "r");
  EXPECT_EQ(read(4), "");
  filter_.thread_ends(2);
  filter_.thread_ends(4);
  EXPECT_EQ(access(2, AccessKind::kWrite), "f");
  EXPECT_EQ(read(5), "wr");  // on the core of the fewest threads, of these the first: that of thread 1
}

}  // namespace
}  // namespace cxloom
