#include "results/mix_windows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace cxloom {
namespace {

constexpr std::int64_t kNanosecond = 1000;

/// A measure of a report; -1 if it is null.
double number(const Value& report, const std::string& name) {
  const Value* value = report.find(name);
  if (value == nullptr || value->is_null()) return -1.0;
  return value->as_real() ? *value->as_real() : static_cast<double>(*value->as_integer());
}

// `count` requests of 64 B, one at each step, `reads` of them reads.
void play(MixWindows& windows, std::int64_t& now, int count, int reads, std::int64_t step) {
  for (int i = 0; i < count; ++i) {
    now += step;
    windows.moved(Time{now}, 64);
    windows.completed(Time{now}, i < reads);
  }
}

TEST(MixWindows, IsTheLineThroughTheBandwidths) {
  MixWindows windows(10);
  std::int64_t now = 0;
  windows.completed(Time{now}, true);  // begins the first window, and is in none
  // 64 B in 8, 4 and 2 ns: 8, 16 and 32 GB/s at mix degrees of 0, 0.2 (of writes) and 0.4 (of reads).
  play(windows, now, 10, 10, 8 * kNanosecond);
  play(windows, now, 10, 8, 4 * kNanosecond);
  play(windows, now, 10, 4, 2 * kNanosecond);
  play(windows, now, 9, 9, kNanosecond);  // not a whole window
  const Value report = windows.report();
  EXPECT_EQ(number(report, "windows"), 3.0);
  EXPECT_NEAR(number(report, "mix_degree"), 0.2, 1e-12);
  EXPECT_NEAR(number(report, "bandwidth_gb_per_s"), 56.0 / 3.0, 1e-12);
  // Least squares through (0, 8), (0.2, 16), (0.4, 32): slope 24 / 0.4; r squared 4.8^2 / (0.08 x 896 / 3).
  EXPECT_NEAR(number(report, "slope_gb_per_s"), 60.0, 1e-9);
  EXPECT_NEAR(number(report, "determination"), 4.8 * 4.8 / (0.08 * 896.0 / 3.0), 1e-9);
}

TEST(MixWindows, KeepsAnInstantTogether) {
  MixWindows windows(2);
  windows.completed(Time{0}, true);
  for (const bool reads : {true, true, false, false}) windows.completed(Time{1000}, reads);
  windows.completed(Time{2000}, true);
  windows.completed(Time{3000}, false);
  const Value report = windows.report();
  EXPECT_EQ(number(report, "windows"), 2.0);
  EXPECT_NEAR(number(report, "mix_degree"), 0.5, 1e-12);
  EXPECT_EQ(number(report, "slope_gb_per_s"), -1.0);  // all windows have the same mix
}

TEST(MixWindows, SaysNothingOfNothing) {
  const Value report = MixWindows(5).report();
  EXPECT_EQ(number(report, "windows"), 0.0);
  EXPECT_EQ(number(report, "mix_degree"), -1.0);
  EXPECT_EQ(number(report, "bandwidth_gb_per_s"), -1.0);
}

}  // namespace
}  // namespace cxloom
