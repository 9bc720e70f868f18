#include "program/stall_timer.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

using std::chrono::milliseconds;

TEST(StallTimerTest, BeginsWhenNothingIsFound) {
  StallTimer patience(milliseconds(100));
  const StallTimer::Clock::time_point start{std::chrono::hours(1)};
  EXPECT_FALSE(patience.ends(1, start));
  EXPECT_FALSE(patience.ends(1, start + milliseconds(99)));
  EXPECT_TRUE(patience.ends(1, start + milliseconds(100)));
}

TEST(StallTimerTest, BeginsAnewWhenSomethingCameOrAnotherIsWaitedFor) {
  StallTimer patience(milliseconds(100));
  const StallTimer::Clock::time_point start{std::chrono::hours(1)};
  EXPECT_FALSE(patience.ends(1, start));
  patience.begin_anew();
  EXPECT_FALSE(patience.ends(1, start + milliseconds(150)));
  EXPECT_FALSE(patience.ends(2, start + milliseconds(260)));
  EXPECT_FALSE(patience.ends(1, start + milliseconds(300)));
  EXPECT_TRUE(patience.ends(1, start + milliseconds(400)));
}

}  // namespace
}  // namespace cxloom
