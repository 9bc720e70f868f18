#include "program/thread_translation.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/support/victims.hpp"

namespace cxloom {
namespace {

constexpr std::uint32_t kLookUp = 7;     // cycles of the second level, as `second_cycles`
constexpr std::uint32_t kEntryRead = 5;  // of the read of an entry that is in the caches

// A thread alone on its core; entries of page tables are in its caches if nothing else is said.
class ThreadTranslationTest : public testing::Test {
 protected:
  Dependence bring(std::uint64_t address, std::uint32_t size, const Dependence& needed, Producer record = 0) {
    return translation_.bring(address, size, needed, answered_, 0,
                              [&](std::uint64_t at, const Dependence& known, std::uint64_t walked) {
                                entries_.push_back(at);
                                began_.push_back(known.known);
                                walked_.push_back(walked);
                                return ThreadTranslation::TableRead{record, kEntryRead};
                              });
  }

  ProgramTranslation program_{{.second_cycles = kLookUp}, test::victims()};
  ThreadTranslation translation_{program_, this};
  RetiredRecords answered_{512};
  std::vector<std::uint64_t> entries_;
  std::vector<std::uint64_t> began_;
  std::vector<std::uint64_t> walked_;
};

TEST_F(ThreadTranslationTest, TheFirstWalkReadsAllLevelsOneAfterTheOther) {
  constexpr std::uint64_t kAddress = 0x1234'5678'9000;
  EXPECT_FALSE(translation_.has(kAddress, 8));
  const Dependence placed = bring(kAddress, 8, Dependence(0, 0, 100));
  EXPECT_EQ(entries_,
            (std::vector<std::uint64_t>{page_table_entry(kAddress, 4), page_table_entry(kAddress, 3),
                                        page_table_entry(kAddress, 2), page_table_entry(kAddress, 1)}));
  EXPECT_EQ(began_, (std::vector<std::uint64_t>{107, 112, 117, 122}));
  EXPECT_EQ(walked_, (std::vector<std::uint64_t>{7, 12, 17, 22}));
  EXPECT_EQ(placed.known, 100U + kLookUp + 4 * kEntryRead);
  EXPECT_TRUE(translation_.has(kAddress, 8));
}

TEST_F(ThreadTranslationTest, AnAccessAcrossTwoPagesWaitsForBoth) {
  const Dependence placed = bring(0x5FFC, 8, {});
  // The upper levels are known from the first walk: the second one reads the leaf alone, and has another
  // walker.
  EXPECT_EQ(entries_.size(), 5U);
  EXPECT_EQ(entries_.back(), page_table_entry(0x6000, 1));
  EXPECT_EQ(began_.back(), kLookUp);
  EXPECT_EQ(placed.known, kLookUp + 4 * kEntryRead);
}

TEST_F(ThreadTranslationTest, WhatComesDuringAWalkWaitsForIt) {
  const Dependence placed = bring(0x5000, 8, {});
  ASSERT_TRUE(translation_.any_under_way());
  EXPECT_EQ(translation_.wait(0x5800, 8, Dependence(0, 0, 3), 0, 3).known, placed.known);
  EXPECT_EQ(translation_.wait(0x9000, 8, Dependence(0, 0, 3), 0, 3).known, 3U);  // of another page
  translation_.wait(0x5800, 8, {}, 0, placed.known);
  EXPECT_FALSE(translation_.any_under_way());
}

TEST_F(ThreadTranslationTest, AWalkThatIsARecordIsWhatIsWaitedFor) {
  answered_.add();
  const Dependence placed = bring(0x5000, 8, Dependence(3), 8);
  EXPECT_EQ(placed.producer(), 8U);
}

TEST_F(ThreadTranslationTest, MissesAreCounted) {
  program_.set_recording(true, 0);
  bring(0x5FFC, 8, {});
  const TranslationCounts counts = program_.recorded(0);
  EXPECT_EQ(counts.misses, 2U);
  EXPECT_EQ(counts.walks, 2U);
  EXPECT_EQ(counts.loads, 5U);
}

}  // namespace
}  // namespace cxloom
