#include "kernel/exact_level.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace cxloom {
namespace {

constexpr std::uint64_t kTiB = std::uint64_t{1} << 40U;

TEST(ExactLevel, IsWeightedByTimeInTheWindowAlone) {
  ExactLevel level;
  level.set(Time{10}, 3 * kTiB);
  level.open(Time{100});
  level.set(Time{400}, 5 * kTiB);
  level.close(Time{1100});
  level.set(Time{1200}, kTiB);
  EXPECT_TRUE(level.integral() == Wide{kTiB} * (3 * 300 + 5 * 700));
  EXPECT_EQ(level.mean(), static_cast<double>(kTiB) * (3 * 300 + 5 * 700) / 1000);
  EXPECT_EQ(level.at_opening(), 3 * kTiB);
  EXPECT_EQ(level.at_close(), 5 * kTiB);
  EXPECT_EQ(level.level(), kTiB);
}

TEST(ExactLevel, IsOfTheLatestWindow) {
  ExactLevel level;
  for (std::int64_t window = 0; window < 3; ++window) {
    const std::uint64_t before = level.level();
    level.open(Time{window * 1000});
    level.count(Time{window * 1000 + 200});
    level.close(Time{window * 1000 + 500});
    level.count(Time{window * 1000 + 700});
    EXPECT_TRUE(level.integral() == Wide{before} * 500 + 300);
    EXPECT_EQ(level.at_close(), before + 1);
  }
}

TEST(ExactLevel, OfAWindowWithoutLengthItIsZero) {
  ExactLevel level;
  level.set(Time{1}, 7);
  level.open(Time{5});
  level.close(Time{5});
  EXPECT_EQ(level.mean(), 0.0);
}

}  // namespace
}  // namespace cxloom
