#include "workload/work.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

TEST(Work, OnlyAPatternAtThePaceOfItsAnswersIsShownToPrefetchers) {
  Work work;
  EXPECT_FALSE(work.shown_to_prefetchers()) << "a program's prefetches are among its records";
  work.instruction_gaps = false;
  EXPECT_TRUE(work.shown_to_prefetchers());
  work.rate = Rate::per_time(1, 1000);
  EXPECT_FALSE(work.shown_to_prefetchers());
}

}  // namespace
}  // namespace cxloom
