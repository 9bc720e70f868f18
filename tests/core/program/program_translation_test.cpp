#include "program/program_translation.hpp"

#include <gtest/gtest.h>

#include "core/support/victims.hpp"

namespace cxloom {
namespace {

TEST(ProgramTranslationTest, ThreadsOfACoreShareItsTlb) {
  ProgramTranslation translation({}, test::victims());
  const int cores[2] = {};
  Tlb& first = translation.tlb_of(&cores[0]);
  Tlb& second = translation.tlb_of(&cores[1]);
  EXPECT_NE(&first, &second);
  EXPECT_EQ(&first, &translation.tlb_of(&cores[0]));
  first.bring(0x5000);
  EXPECT_TRUE(first.has(0x5000, 8));
  EXPECT_FALSE(second.has(0x5000, 8));
}

TEST(ProgramTranslationTest, CountsWhileRecordingAlone) {
  ProgramTranslation translation({}, test::victims());
  translation.count_miss(4);  // nothing is recorded yet
  translation.set_recording(true, 100);
  translation.count_miss(0);  // found in the second level
  translation.count_miss(2);
  EXPECT_EQ(translation.recorded(130).cycles, 30U);
  translation.set_recording(true, 150);  // it is recorded already
  translation.set_recording(false, 160);
  translation.count_miss(1);
  EXPECT_EQ(translation.recorded(1000).cycles, 60U);
  translation.set_recording(true, 1000);
  translation.count_miss(3);
  const TranslationCounts counts = translation.recorded(1005);
  EXPECT_EQ(counts.misses, 3U);
  EXPECT_EQ(counts.walks, 2U);
  EXPECT_EQ(counts.loads, 5U);
  EXPECT_EQ(counts.cycles, 65U);
}

}  // namespace
}  // namespace cxloom
