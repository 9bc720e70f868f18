#include "kernel/measured_window.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

using namespace literals;

TEST(MeasuredWindow, IsOpenFromItsOpeningToItsClose) {
  MeasuredWindow window;
  EXPECT_FALSE(window.has_opened());
  EXPECT_FALSE(window.is_open());
  window.open(2_us);
  EXPECT_TRUE(window.has_opened());
  EXPECT_TRUE(window.is_open());
  window.close(6_us);
  EXPECT_TRUE(window.has_opened());
  EXPECT_FALSE(window.is_open());
  EXPECT_EQ(window.opened(), 2_us);
  EXPECT_EQ(window.closed(), 6_us);
}

TEST(MeasuredWindow, RatesAndSharesAreOfItsLength) {
  MeasuredWindow window;
  window.open(2_us);
  window.close(6_us);
  EXPECT_EQ(window.length(), 4_us);
  EXPECT_DOUBLE_EQ(window.per_ns(64'000), 16.0);
  EXPECT_DOUBLE_EQ(window.share(1_us), 0.25);
}

TEST(MeasuredWindow, NothingHappensInOneOfNoLength) {
  MeasuredWindow window;
  EXPECT_EQ(window.length(), Time{});
  EXPECT_EQ(window.per_ns(64), 0.0);
  window.open(2_us);
  window.close(2_us);
  EXPECT_EQ(window.per_ns(64), 0.0);
  EXPECT_EQ(window.share(1_us), 0.0);
}

}  // namespace
}  // namespace cxloom
