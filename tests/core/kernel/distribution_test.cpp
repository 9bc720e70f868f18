#include "kernel/distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <vector>

#include "base/random.hpp"
#include "kernel/booked_level.hpp"

namespace cxloom {
namespace {

using namespace literals;

TEST(LatencyDistribution, AConstantIsExactAtEveryQuantile) {
  for (const std::int64_t ps : {0LL, 1LL, 127LL, 128LL, 129LL, 123'457LL, 999'999'999'999LL}) {
    LatencyDistribution latency;
    for (int i = 0; i < 5; ++i) latency.add(Time{ps});
    for (const double q : {0.0, 0.01, 0.5, 0.99, 1.0}) EXPECT_EQ(latency.quantile_ns(q), Time{ps}.ns());
    EXPECT_EQ(latency.mean_ns(), Time{ps}.ns());
    EXPECT_EQ(latency.minimum(), Time{ps});
    EXPECT_EQ(latency.maximum(), Time{ps});
  }
}

TEST(LatencyDistribution, IsEmptyAtFirst) {
  LatencyDistribution latency;
  EXPECT_EQ(latency.quantile_ns(0.5), 0.0);
  EXPECT_EQ(latency.mean_ns(), 0.0);
  EXPECT_EQ(latency.count(), 0U);
  EXPECT_TRUE(latency.sum_ps() == 0);
  latency.add(7_ns);
  EXPECT_EQ(latency.minimum(), 7_ns);
  EXPECT_EQ(latency.maximum(), 7_ns);
}

TEST(LatencyDistribution, MergedIsTheSameAsAddedToOne) {
  // Values over many octaves, from the highest to the lowest: each set comes into being in its own order.
  LatencyDistribution all;
  LatencyDistribution low;
  LatencyDistribution high;
  for (std::int64_t value = 1LL << 40; value > 0; value = value * 7 / 9) {
    all.add(Time{value});
    (value < 100'000 ? low : high).add(Time{value});
  }
  for (const bool low_first : {true, false}) {
    LatencyDistribution merged = low_first ? low : high;
    merged.merge(low_first ? high : low);
    merged.merge(LatencyDistribution());
    EXPECT_EQ(merged.count(), all.count());
    EXPECT_TRUE(merged.sum_ps() == all.sum_ps());
    EXPECT_EQ(merged.minimum(), all.minimum());
    EXPECT_EQ(merged.maximum(), all.maximum());
    for (double q = 0.0; q <= 1.0; q += 0.01) EXPECT_EQ(merged.quantile_ns(q), all.quantile_ns(q)) << q;
  }
  LatencyDistribution empty;
  empty.merge(low);
  EXPECT_EQ(empty.minimum(), low.minimum());
}

TEST(LatencyDistribution, SmallValuesAreExact) {
  // Below 2^precision each value has a bucket of its own: nearest rank, exactly.
  LatencyDistribution latency(7);
  for (int ps = 1; ps <= 100; ++ps) latency.add(Time{ps});
  EXPECT_EQ(latency.quantile_ns(0.5), 0.050);
  EXPECT_EQ(latency.quantile_ns(0.9), 0.090);
  EXPECT_EQ(latency.quantile_ns(0.99), 0.099);
  EXPECT_EQ(latency.quantile_ns(1.0), 0.100);
  EXPECT_EQ(latency.quantile_ns(0.0), 0.001);
}

TEST(LatencyDistribution, QuantilesOfSortedDataWithinThePrecision) {
  RandomStream random(3, "latency", "test");
  for (const unsigned precision : {5U, 7U, 10U}) {
    for (const int shape : {0, 1, 2}) {
      LatencyDistribution latency(precision);
      std::vector<std::int64_t> data;
      std::uint64_t sum = 0;
      for (int i = 0; i < 20'000; ++i) {
        std::int64_t ps = 0;
        if (shape == 0) ps = static_cast<std::int64_t>(random.below(1'000'000));
        if (shape == 1) ps = static_cast<std::int64_t>(random.exponential() * 300'000.0);
        if (shape == 2) ps = static_cast<std::int64_t>(random.below(std::uint64_t{1} << random.below(50)));
        latency.add(Time{ps});
        data.push_back(ps);
        sum += static_cast<std::uint64_t>(ps);
      }
      std::sort(data.begin(), data.end());
      EXPECT_EQ(latency.count(), data.size());
      EXPECT_TRUE(latency.sum_ps() == sum);
      EXPECT_EQ(latency.minimum().ps(), data.front());
      EXPECT_EQ(latency.maximum().ps(), data.back());
      for (const double q : {0.001, 0.1, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(data.size())));
        const auto exact = static_cast<double>(data[std::max<std::size_t>(rank, 1) - 1]) / 1000.0;
        EXPECT_NEAR(latency.quantile_ns(q), exact, exact / static_cast<double>(1U << precision) + 1e-9)
            << "precision " << precision << " shape " << shape << " q " << q;
      }
    }
  }
}

/// What a level did, written down: the naive integral over any window.
class Steps {
 public:
  void change(Time at, std::int64_t delta) { changes_[at.ps()] += delta; }
  /// Time at each height in [from, to].
  std::map<std::int64_t, std::int64_t> heights(Time from, Time to) const {
    std::map<std::int64_t, std::int64_t> time;
    std::int64_t level = 0;
    std::int64_t last = from.ps();
    for (const auto& [at, delta] : changes_) {
      if (at > to.ps()) break;
      if (at > last) time[level] += at - last, last = at;
      level += delta;
    }
    if (to.ps() > last) time[level] += to.ps() - last;
    return time;
  }

 private:
  std::map<std::int64_t, std::int64_t> changes_;
};

void expect_same(const LevelMonitor& monitor, const Steps& steps, Time from, Time to) {
  const auto heights = steps.heights(from, to);
  double integral = 0.0;
  std::int64_t most = 0;
  for (const auto& [level, time] : heights) {
    integral += static_cast<double>(level) * static_cast<double>(time);
    most = std::max(most, level);
  }
  const auto length = static_cast<double>((to - from).ps());
  EXPECT_EQ(monitor.integral(), integral);  // sums of whole numbers below 2^53
  EXPECT_EQ(monitor.mean(), integral / length);
  EXPECT_EQ(monitor.maximum(), static_cast<double>(most));
  for (const double q : {0.1, 0.5, 0.9, 0.99, 1.0}) {
    std::int64_t seen = 0;
    std::int64_t exact = 0;
    for (const auto& [level, time] : heights) {
      seen += time;
      exact = level;
      if (static_cast<double>(seen) >= q * length) break;
    }
    // Exact below 16, to one part in 16 above.
    EXPECT_NEAR(monitor.quantile(q), static_cast<double>(exact),
                exact < 16 ? 0.0 : static_cast<double>(exact) / 16.0)
        << q;
  }
}

TEST(LevelMonitor, MatchesTheIntegralForAnyWindow) {
  RandomStream random(4, "level", "test");
  for (int trial = 0; trial < 200; ++trial) {
    const Time from{static_cast<std::int64_t>(random.below(5000))};
    const Time to = from + Time{1 + static_cast<std::int64_t>(random.below(20'000))};
    const std::uint64_t top = std::array{12U, 200U, 129U, 5000U}[static_cast<std::size_t>(trial) % 4];
    LevelMonitor monitor;
    Steps steps;
    std::int64_t level = 0;
    Time at;
    bool open = false;
    bool closed = false;
    for (int i = 0; i < 600; ++i) {
      at += Time{static_cast<std::int64_t>(random.below(100))};
      if (!open && at >= from) open = true, monitor.open(from);
      if (!closed && at >= to) closed = true, monitor.close(to);
      const std::int64_t wanted = static_cast<std::int64_t>(random.below(top));
      monitor.change(at, static_cast<std::int32_t>(wanted - level));
      steps.change(at, wanted - level);
      level = wanted;
      EXPECT_EQ(monitor.level(), level);
    }
    if (!open) monitor.open(from);
    if (!closed) monitor.close(to);
    expect_same(monitor, steps, from, to);
    monitor.change(std::max(at, to) + 1_us, 5);  // after the close nothing counts
    expect_same(monitor, steps, from, to);
  }
}

TEST(LevelMonitor, WindowsOfNoLengthAndWithoutChanges) {
  LevelMonitor never;
  EXPECT_EQ(never.mean(), 0.0);
  EXPECT_EQ(never.quantile(0.99), 0.0);
  LevelMonitor steady;  // the window opens on a level that stands already
  steady.change(Time{}, 3);
  steady.open(100_ps);
  steady.close(200_ps);
  EXPECT_EQ(steady.mean(), 3.0);
  EXPECT_EQ(steady.quantile(0.5), 3.0);
  EXPECT_EQ(steady.maximum(), 3.0);
}

TEST(LevelMonitor, ALevelThatComesBackWithinAnInstantHasStood) {
  // In flight 2, for 100 ps: at 30 and 60 an answer is followed by a request, at 80 by another besides.
  LevelMonitor level;
  level.change(Time{}, 2);
  level.open(Time{});
  for (const std::int64_t ps : {30, 60, 80}) {
    level.change(Time{ps}, -1);
    level.change(Time{ps}, +1);
  }
  EXPECT_EQ(level.integral(), 2.0 * 80);  // up to the last change
  EXPECT_EQ(level.mean(), 2.0);
  EXPECT_EQ(level.maximum(), 2.0);
  EXPECT_EQ(level.quantile(0.5), 2.0);
  level.change(80_ps, +1);
  level.close(100_ps);
  EXPECT_EQ(level.integral(), 2.0 * 80 + 3.0 * 20);
  EXPECT_EQ(level.maximum(), 3.0);
  EXPECT_EQ(level.quantile(0.8), 2.0);
  EXPECT_EQ(level.quantile(0.81), 3.0);
}

TEST(BookedLevel, SaysHowManyThereWereWhenTheLastOneJoined) {
  // One each 10 ps, which stays for 35 ps: four of them.
  BookedLevel booked;
  for (std::int64_t ps = 0; ps < 1000; ps += 10) {
    booked.join(Time{ps});
    booked.leave_at(Time{ps + 35});
    EXPECT_EQ(booked.level(), std::min<std::int64_t>(ps / 10 + 1, 4)) << ps;
  }
  booked.open(1015_ps);
  EXPECT_EQ(booked.level(), 1);
  EXPECT_EQ(booked.integral(2000_ps), 10.0);
}

TEST(BookedLevel, LeavesWhenBookedWithoutAnEvent) {
  // Joins now, leaves at times known ahead: the same integral as if each leave had been an event.
  RandomStream random(5, "booked", "test");
  for (int trial = 0; trial < 200; ++trial) {
    BookedLevel booked;
    Steps steps;
    const std::uint64_t longest_stay = trial % 2 == 0 ? 2000 : 40'000;  // some 25, or 200 at a time
    Time now;
    Time last_leave;
    const Time from{static_cast<std::int64_t>(random.below(2000))};
    const Time to = from + Time{1 + static_cast<std::int64_t>(random.below(8000))};
    bool open = false;
    bool closed = false;
    for (int i = 0; i < 200; ++i) {
      now += Time{static_cast<std::int64_t>(random.below(100))};
      if (!open && now >= from) open = true, booked.open(from);
      if (!closed && now >= to) closed = true, booked.close(to);
      booked.join(now);
      last_leave = std::max(last_leave, now + Time{static_cast<std::int64_t>(random.below(longest_stay))});
      booked.leave_at(last_leave);
      steps.change(now, +1);
      steps.change(last_leave, -1);
    }
    if (!open) booked.open(from);
    if (!closed) booked.close(to);
    expect_same(booked.monitor(), steps, from, to);
  }
}

}  // namespace
}  // namespace cxloom
