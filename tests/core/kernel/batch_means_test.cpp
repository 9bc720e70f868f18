#include "kernel/batch_means.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace cxloom {
namespace {

/// Latencies in ps, one after the other.
using Series = std::vector<std::uint64_t>;

BatchMeans batches_of(const Series& series, std::size_t most = 256) {
  BatchMeans means(most);
  Wide sum = 0;
  std::uint64_t count = 0;
  for (const std::uint64_t each : series) {
    sum += each;
    if (++count == means.next()) means.close(sum, count, Time{static_cast<std::int64_t>(count)});
  }
  return means;
}

double mean_of(const Series& series) {
  double sum = 0.0;
  for (const std::uint64_t each : series) sum += static_cast<double>(each);
  return sum / static_cast<double>(series.size());
}

std::uint64_t ps(double ns) { return static_cast<std::uint64_t>(std::llround(ns * 1000.0)); }

/// Times in one server with service times of 1 us, or of exponential length, and Poisson arrivals; from the
/// steady state.
Series server(RandomStream& random, std::size_t count, double load, bool exponential) {
  constexpr std::size_t kWarmUp = 5000;
  Series times;
  double wait = 0.0;
  for (std::size_t i = 0; i < count + kWarmUp; ++i) {
    const double service = exponential ? 1000.0 * random.exponential() : 1000.0;
    if (i >= kWarmUp) times.push_back(ps(wait + service));
    wait = std::max(0.0, wait + service - 1000.0 / load * random.exponential());
  }
  return times;
}

/// Independent latencies about `level(i)`.
Series about(RandomStream& random, std::size_t count, const std::function<double(double)>& level) {
  Series times;
  for (std::size_t i = 0; i < count; ++i) {
    times.push_back(
        ps(level(static_cast<double>(i) / static_cast<double>(count)) + 100.0 * random.exponential()));
  }
  return times;
}

struct Rates {
  double covered = 0.0;
  double flagged = 0.0;
};

/// How often the interval holds the true mean, and how often the halves of a steady series are said to
/// differ.
Rates rates_of(const std::string& name, int seeds, double truth_ns,
               const std::function<Series(RandomStream&)>& draw) {
  Rates rates;
  for (int seed = 0; seed < seeds; ++seed) {
    RandomStream random(static_cast<std::uint64_t>(seed), name, "latencies");
    const Series series = draw(random);
    const BatchMeans means = batches_of(series);
    const double error = std::abs(mean_of(series) - 1000.0 * truth_ns);
    rates.covered += error <= means.precision(series.size())->half_width ? 1.0 / seeds : 0.0;
    rates.flagged += means.halves(series.size())->differ ? 1.0 / seeds : 0.0;
  }
  return rates;
}

TEST(BatchMeans, StudentsTIsThatOfTheTables) {
  // Two-sided 95 % and 99 %.
  const std::vector<std::vector<double>> table{{3, 3.182, 5.841},  {5, 2.571, 4.032},  {10, 2.228, 3.169},
                                               {15, 2.131, 2.947}, {31, 2.040, 2.744}, {63, 1.998, 2.656},
                                               {120, 1.980, 2.617}};
  for (const auto& row : table) {
    EXPECT_NEAR(student_t(Confidence::k95, row[0]) / row[1], 1.0, 0.01) << row[0];
    EXPECT_NEAR(student_t(Confidence::k99, row[0]) / row[2], 1.0, 0.01) << row[0];
  }
}

TEST(BatchMeans, BatchesMergeAndStayFewerThanTheirMost) {
  // The sums of 1, 2, 3, ... are known; a full batch is asked for at every multiple of its length.
  BatchMeans means(8);
  Wide sum = 0;
  std::vector<std::uint64_t> asked;
  for (std::uint64_t i = 1; i <= 64; ++i) {
    sum += i;
    if (i != means.next()) continue;
    asked.push_back(i);
    means.close(sum, i, Time{static_cast<std::int64_t>(i)});
  }
  EXPECT_EQ(asked, (std::vector<std::uint64_t>{1,  2,  3,  4,  5,  6,  7,  8,  10, 12,
                                               14, 16, 20, 24, 28, 32, 40, 48, 56, 64}));
  EXPECT_EQ(BatchMeans(0).next(), 0U);
}

// 48 x 32 entries, alike in a batch of 32, independent from batch to batch: the textbook's interval of 48
// values, or a wider one where neighbours or a few sections look as if they had something in common.
TEST(BatchMeans, TheIntervalIsThatOfTheBatches) {
  int exact = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomStream random(seed, "batches", "test");
    Series series;
    std::vector<double> values;
    for (int batch = 0; batch < 48; ++batch) {
      values.push_back(static_cast<double>(random.below(1000)));
      series.insert(series.end(), 32, static_cast<std::uint64_t>(values.back()));
    }
    double mean = 0.0;
    for (const double value : values) mean += value / 48.0;
    double squares = 0.0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    const auto precision = batches_of(series, 64).precision(series.size());
    ASSERT_TRUE(precision);
    const double ratio = precision->half_width / (2.0117 * std::sqrt(squares / 47.0 / 48.0));
    EXPECT_GT(ratio, 0.999);
    exact += std::abs(ratio - 1.0) < 0.001 ? 1 : 0;
  }
  EXPECT_GE(exact, 3);
}

TEST(BatchMeans, TooFewEntriesSayNothing) {
  RandomStream random(1, "few", "test");
  const auto flat = [](double) { return 100.0; };
  for (const std::size_t count : {0U, 1U, 2U, 100U, 999U}) {
    const BatchMeans means = batches_of(about(random, count, flat));
    EXPECT_FALSE(means.precision(count)) << count;
    EXPECT_FALSE(means.halves(count)) << count;
  }
  EXPECT_TRUE(batches_of(about(random, 1000, flat)).precision(1000));
  EXPECT_TRUE(batches_of(about(random, 1000, flat)).halves(1000));
  for (const std::size_t most : {32, 64, 128, 256}) {  // whose last full batch ends before the last entry
    for (const std::uint64_t count : {1000, 1003, 1007, 1015, 1023}) {
      const BatchMeans means = batches_of(about(random, count, flat), most);
      EXPECT_TRUE(means.precision(count)) << most << ", " << count;
      EXPECT_TRUE(means.halves(count)) << most << ", " << count;
    }
  }
}

TEST(BatchMeans, WhatNeverChangesIsKnownExactly) {
  const BatchMeans means = batches_of(Series(5000, 95'000));
  EXPECT_EQ(means.precision(5000)->half_width, 0.0);
  EXPECT_EQ(means.halves(5000)->first, 95'000.0);
  EXPECT_FALSE(means.halves(5000)->differ);
}

// The interval at 95 % must cover the truth in 90 to 98 of a hundred runs, and one in a hundred steady runs
// may be flagged. 400 seeds tell a rate of 95 % to 1.1 % (one standard deviation), and one of 1 % to 0.5 %.
TEST(BatchMeans, IntervalsCoverAndSteadySeriesAreSteady) {
  struct Case {
    std::string name;
    double truth_ns;
    std::function<Series(RandomStream&)> draw;
  };
  const std::vector<Case> cases{
      {"independent", 300.0,
       [](RandomStream& random) { return about(random, 2000, [](double) { return 200.0; }); }},
      {"M/D/1 at 0.5", 1500.0, [](RandomStream& random) { return server(random, 8000, 0.5, false); }},
      {"M/D/1 at 0.8", 3000.0, [](RandomStream& random) { return server(random, 30'000, 0.8, false); }},
      {"M/M/1 at 0.5", 2000.0, [](RandomStream& random) { return server(random, 8000, 0.5, true); }},
      {"M/M/1 at 0.7", 3333.33, [](RandomStream& random) { return server(random, 30'000, 0.7, true); }},
      // By batches that seem independent alone 87 in a hundred hold.
      {"M/D/1 at 0.9, short", 5500.0, [](RandomStream& random) { return server(random, 8000, 0.9, false); }},
  };
  double flagged = 0.0;
  for (const Case& each : cases) {
    const Rates rates = rates_of(each.name, 400, each.truth_ns, each.draw);
    EXPECT_GE(rates.covered, 0.90) << each.name;
    EXPECT_LE(rates.covered, 0.98) << each.name;
    EXPECT_LE(rates.flagged, 0.03) << each.name;
    flagged += rates.flagged / static_cast<double>(cases.size());
  }
  EXPECT_LE(flagged, 0.015);
  EXPECT_GT(flagged, 0.001);
}

// Poisson arrivals at a server that is idle for half of the time leave as irregularly in the long run: the
// rate of n of them is known to 1.96 / sqrt(n).
TEST(BatchMeans, TheIntervalOfARateIsByTheTimesOfBatches) {
  constexpr int kSeeds = 400;
  constexpr std::uint64_t kCount = 5000;
  int covered = 0;
  double width = 0.0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    RandomStream random(seed, "rate", "arrivals");
    BatchMeans means(256);
    double arrived = 0.0;
    double left = 0.0;
    for (std::uint64_t i = 1; i <= kCount; ++i) {
      arrived += 2000.0 * random.exponential();
      left = std::max(left, arrived) + 1000.0;
      if (i == means.next()) means.close(i, i, Time{std::llround(1000.0 * left)});
    }
    const double rate = static_cast<double>(kCount) / left;
    const auto interval = means.rate_interval(rate, kCount);
    ASSERT_TRUE(interval);
    EXPECT_NEAR(interval->low * interval->high, rate * rate, 1e-9 * rate * rate);
    covered += interval->low <= 1.0 / 2000.0 && 1.0 / 2000.0 <= interval->high ? 1 : 0;
    width += (interval->high - interval->low) / 2.0 / rate / kSeeds;
  }
  EXPECT_GE(covered, kSeeds * 93 / 100);
  EXPECT_NEAR(width, 1.96 / std::sqrt(static_cast<double>(kCount)), 0.35 * width);
}

// At steady times every other one, by chance, moves something: n of them have n / 2 +- sqrt(n) / 2 of these.
TEST(BatchMeans, TheIntervalOfARateIsByWhatBatchesMove) {
  constexpr int kSeeds = 400;
  constexpr std::uint64_t kCount = 5000;
  int covered = 0;
  double width = 0.0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    RandomStream random(seed, "rate", "hits");
    BatchMeans means(256);
    std::uint64_t moved = 0;
    for (std::uint64_t i = 1; i <= kCount; ++i) {
      moved += random.chance(0.5) ? 64 : 0;
      if (i == means.next()) means.close(i, moved, Time{static_cast<std::int64_t>(1000 * i)});
    }
    const double rate = static_cast<double>(moved) / (1000.0 * static_cast<double>(kCount));
    const auto interval = means.rate_interval(rate, kCount);
    ASSERT_TRUE(interval);
    covered += interval->low <= 0.032 && 0.032 <= interval->high ? 1 : 0;
    width += (interval->high - interval->low) / 2.0 / rate / kSeeds;
  }
  EXPECT_GE(covered, kSeeds * 93 / 100);
  EXPECT_NEAR(width, 1.96 / std::sqrt(static_cast<double>(kCount)), 0.35 * width);
}

TEST(BatchMeans, BatchesThatTakeNoTimeHaveNoRate) {
  BatchMeans means(256);
  for (std::uint64_t i = 1; i <= 2000; ++i) {
    if (i == means.next()) means.close(i, i, Time{});
  }
  EXPECT_FALSE(means.rate_interval(1.0, 2000));
  EXPECT_FALSE(means.rate_interval(1.0, 999));
}

TEST(BatchMeans, BatchesThatMoveNothingHaveNoRate) {
  BatchMeans means(256);
  for (std::uint64_t i = 1; i <= 2000; ++i) {
    if (i == means.next()) means.close(i, 0, Time{static_cast<std::int64_t>(i)});
  }
  EXPECT_FALSE(means.rate_interval(0.0, 2000));
}

TEST(BatchMeans, ALevelThatChangesIsSeen) {
  const std::vector<std::pair<std::string, std::function<double(double)>>> changes{
      {"a queue that grows", [](double at) { return 10'000.0 * at; }},
      {"growth by a tenth", [](double at) { return 1000.0 * (1.0 + 0.1 * at); }},
      {"a step in the middle", [](double at) { return at < 0.5 ? 1000.0 : 1100.0; }},
      {"an early step", [](double at) { return at < 0.3 ? 1000.0 : 1100.0; }},
      {"a late step", [](double at) { return at < 0.85 ? 1000.0 : 1100.0; }},
      {"a warm-up of a tenth too short", [](double at) { return at < 0.1 ? 500.0 : 1000.0; }},
      {"a queue that fills slowly", [](double at) { return 1000.0 - 800.0 * std::exp(-at / 0.2); }},
      {"a queue that fills soon", [](double at) { return 1000.0 - 800.0 * std::exp(-at / 0.05); }},
  };
  for (const auto& [name, level] : changes) {
    for (const std::size_t count : {2000U, 16'000U, 100'000U}) {
      int seen = 0;
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        RandomStream random(seed, name, "latencies");
        const auto halves = batches_of(about(random, count, level)).halves(count);
        if (halves->differ && (halves->second > halves->first)) ++seen;
      }
      EXPECT_GE(seen, 19) << name << ", " << count;
    }
  }
}

TEST(BatchMeans, AnOverloadedServerIsSeen) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomStream random(seed, "overload", "latencies");
    Series times;
    double wait = 0.0;
    for (int i = 0; i < 4000; ++i) {
      times.push_back(ps(wait + 1000.0));
      wait = std::max(0.0, wait + 1000.0 - 1000.0 / 1.2 * random.exponential());
    }
    const BatchMeans means = batches_of(times);
    EXPECT_TRUE(means.halves(times.size())->differ);
    EXPECT_FALSE(means.precision(times.size())->independent);
  }
}

TEST(BatchMeans, ADifferenceBelowAHundredthIsNotWorthSaying) {
  RandomStream random(1, "small", "test");
  const auto stepped = [&](double step) {
    return batches_of(
               about(random, 100'000, [&](double at) { return at < 0.5 ? 10'000.0 : 10'000.0 + step; }))
        .halves(100'000);
  };
  EXPECT_FALSE(stepped(80.0)->differ);
  EXPECT_TRUE(stepped(120.0)->differ);
}

}  // namespace
}  // namespace cxloom
