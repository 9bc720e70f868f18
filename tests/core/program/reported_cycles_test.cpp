#include "program/reported_cycles.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

TEST(ReportedCyclesTest, EachCycleIsToldOnce) {
  ReportedCycles told;
  EXPECT_EQ(told.pass(30), 30U);
  EXPECT_EQ(told.pass(30), 0U);
  EXPECT_EQ(told.pass(45), 15U);
}

TEST(ReportedCyclesTest, OneWithoutRecordsIsSilentAfterAWhile) {
  ReportedCycles told;
  EXPECT_FALSE(told.is_silent(ReportedCycles::kSilence - 1));
  EXPECT_TRUE(told.is_silent(ReportedCycles::kSilence));
  told.record(1000);
  EXPECT_FALSE(told.is_silent(ReportedCycles::kSilence + 999));
  EXPECT_TRUE(told.is_silent(ReportedCycles::kSilence + 1000));
}

}  // namespace
}  // namespace cxloom
