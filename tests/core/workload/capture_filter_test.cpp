#include "workload/capture_filter.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "core/support/victims.hpp"

namespace cxloom {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// Lackey's lines: I an instruction, L a load, S a store, each with address and size.
const std::string kLoads = "I  1000,4\n L 8000,8\nI  1004,4\nI  1008,4\n S 8040,8\nI  100c,4\n L 8000,8\n";

std::vector<Access> fed(CaptureFilter& filter, const std::string& text) {
  std::vector<Access> records;
  filter.feed(text, records);
  filter.finish();
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

TEST(CaptureFilter, CachesLetMissesThroughAndCountFromTheStartOfRecording) {
  CaptureFilter filter({CacheParams{.size = Bytes{4096}, .ways = 4}}, test::victims(), false, 0, kNoLimit);
  filter.set_recording(false);
  std::vector<Access> records;
  filter.feed("I  1000,4\n L 8000,8\n", records);
  EXPECT_TRUE(records.empty());
  filter.set_recording(true);
  filter.feed("I  1004,4\n L 8000,8\nI  1008,4\n L 9000,8\n", records);
  filter.finish();
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

}  // namespace
}  // namespace cxloom
