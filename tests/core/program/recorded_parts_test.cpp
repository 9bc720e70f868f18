#include "program/recorded_parts.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.hpp"

namespace cxloom {
namespace {

TEST(RecordedPartsTest, AllIsRecordedIfNothingElseIsSaid) {
  RecordedParts parts(false, 0, 0);
  EXPECT_TRUE(parts.recording());
  EXPECT_FALSE(parts.reach(1'000'000'000));
  EXPECT_TRUE(parts.recording());
}

TEST(RecordedPartsTest, RegionsOfThreadsOverlap) {
  RecordedParts parts(true, 0, 0);
  EXPECT_FALSE(parts.recording());
  parts.begin_region();
  parts.begin_region();
  EXPECT_TRUE(parts.recording());
  parts.end_region();
  EXPECT_TRUE(parts.recording());  // the other one's has not ended
  EXPECT_TRUE(parts.in_region());
  parts.end_region();
  EXPECT_FALSE(parts.recording());
  EXPECT_FALSE(parts.in_region());
  EXPECT_EQ(parts.regions(), 2U);
}

TEST(RecordedPartsTest, AWindowIsTheEndOfItsPeriod) {
  RecordedParts parts(false, 3, 10);
  std::vector<std::uint64_t> recorded;
  for (std::uint64_t begun = 0; begun < 25; ++begun) {
    parts.reach(begun);
    if (parts.recording()) recorded.push_back(begun);
  }
  EXPECT_EQ(recorded, (std::vector<std::uint64_t>{7, 8, 9, 17, 18, 19}));
}

TEST(RecordedPartsTest, WhatIsNotWantedIsNotRecorded) {
  RecordedParts parts(true, 0, 0);
  parts.begin_region();
  parts.set_wanted(false);
  EXPECT_FALSE(parts.recording());
  parts.set_wanted(true);
  EXPECT_TRUE(parts.recording());
}

TEST(RecordedPartsTest, AWindowIsNoLongerThanItsPeriod) {
  EXPECT_THROW(RecordedParts(false, 11, 10), InternalError);
}

}  // namespace
}  // namespace cxloom
