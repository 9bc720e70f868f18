#include "component/request_throttle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::Running;
using test::SpecBuilder;

/// A host and a memory that serves an access after the other, 100 ns each: 640 MB/s.
struct Loaded {
  double delta = 1.0 / 16;
  double window_us = 1;
  int optimal = 2;
  int moderate = 16;
  int severe = 10'000;
  double asked = 2;      ///< the host's full rate over what the memory serves
  int depth = 512;       ///< requests that the host keeps in flight
  Value::Map work = {};  ///< besides
  double settled_us = 300;
  int requests = 8000;
  bool throttles = true;
  bool reports = true;
};

constexpr double kServed = 0.64;  // GB/s
constexpr double kAccess = 100;   // ns

SpecBuilder system_of(const Loaded& loaded) {
  SpecBuilder system;
  Value::Map host{{"queue", loaded.depth}};
  if (loaded.throttles) {
    host.emplace_back("throttle", Value::Map{{"rate", std::to_string(loaded.asked * kServed * 1000) + "MB/s"},
                                             {"window", std::to_string(loaded.window_us) + "us"},
                                             {"normal_delta", loaded.delta}});
  }
  Value::Map memory{{"queue", 1},
                    {"capacity", "64MiB"},
                    {"controller_time", "0ns"},
                    {"media", Value::Map{{"kind", "fixed"}, {"latency", "100ns"}}}};
  if (loaded.reports) {
    memory.emplace_back(
        "qos",
        Value::Map{{"optimal", loaded.optimal}, {"moderate", loaded.moderate}, {"severe", loaded.severe}});
  }
  system.device("h", "host", host).device("mem", "memory", memory).link("h", "mem").region({"mem"});
  Value::Map work = loaded.work;
  work.insert(work.end(),
              {{"pattern", "random"}, {"reads", 0.5}, {"footprint", "1MiB"}, {"requests", loaded.requests}});
  system.work("h", work);
  if (loaded.settled_us > 0) system.run_with({{"warmup_time", std::to_string(loaded.settled_us) + "us"}});
  return system;
}

double throttle_of(const Running& run, const char* name) {
  return run.number({"per_requester", "h", "throttle", "mem", name});
}

/// The longest time in the memory, ns.
double longest_inside(const Running& run) {
  double longest = 0;
  for (std::size_t row = 0; row < run.table().rows(); ++row) {
    longest =
        std::max(longest, (run.segment(row, Segment::kMediaQueue) + run.segment(row, Segment::kMedia)).ns());
  }
  return longest;
}

/// A band of loads, as docs/model/qos.md derives it.
struct Band {
  double above;     ///< of the rate, over what the memory serves, GB/s
  double below;     ///< the same, under it
  double requests;  ///< in the memory
};

Band band_of(const Loaded& loaded) {
  const double step = loaded.delta * loaded.asked * kServed;
  const double window = loaded.window_us * 1000;
  const double worth = step * window / 64;  // requests in a window
  const double news = kAccess + 100;        // until the next answer, and there and back
  const double steps = 2 + std::sqrt(2 * (loaded.optimal + 1) / worth) + news / window;
  return {steps * step, (steps + 1) * step, loaded.moderate + worth * steps * (steps + 1) / 2};
}

// From a standing start the rate has fallen to what the memory serves, and the queue has come and gone, after
// some 3 / delta windows.
TEST(RequestThrottle, SettlesInTheStatedBand) {
  int round = 0;
  for (const double delta : {1.0 / 64, 1.0 / 32, 1.0 / 16}) {
    for (const double window : {1.0, 3.0, 10.0}) {
      for (const double asked : {1.25, 2.0, 4.0}) {
        for (const int moderate : {4, 16, 64}) {
          Loaded loaded{.delta = delta, .window_us = window, .moderate = moderate, .asked = asked};
          loaded.depth = ++round % 2 == 0 ? 300 : 1200;
          loaded.settled_us = 3 * window / delta;
          Running run(system_of(loaded));
          run.to_end();
          SCOPED_TRACE(testing::Message() << window << " us, delta " << delta << ", moderate " << moderate
                                          << ", asked " << asked << ", depth " << loaded.depth);
          const Band band = band_of(loaded);
          const double low = throttle_of(run, "rate_min_gb_per_s");
          const double high = throttle_of(run, "rate_max_gb_per_s");
          EXPECT_GE(low, kServed - band.below);
          EXPECT_LE(high, kServed + band.above);
          EXPECT_LE(longest_inside(run), kAccess * (band.requests + 1));
        }
      }
    }
  }
}

TEST(RequestThrottle, BoundsTheLoadedLatencyWhateverTheDepth) {
  for (const int depth : {64, 256, 1024}) {
    Loaded loaded{.depth = depth};
    Running with(system_of(loaded));
    with.to_end();
    loaded.throttles = false;
    Running without(system_of(loaded));
    without.to_end();
    const double bound = kAccess * (band_of(loaded).requests + 1);
    EXPECT_LE(longest_inside(with), bound);
    EXPECT_GE(longest_inside(without), kAccess * (depth - 2));
    EXPECT_GE(with.number({"bandwidth_gb_per_s"}), 0.9 * kServed);
  }
}

TEST(RequestThrottle, LetsALoadThatTheMemoryServesPass) {
  for (const double load : {0.3, 0.6, 0.9}) {
    const double spacing = kAccess / load;  // ns
    Loaded loaded{.work = {{"rate", std::to_string(1000 / spacing) + "M/s"}}};
    Running run(system_of(loaded));
    run.to_end();
    EXPECT_EQ(throttle_of(run, "throttled"), 0.0);
    EXPECT_EQ(throttle_of(run, "devload_mean"), 0.0);
    EXPECT_EQ(throttle_of(run, "rate_min_gb_per_s"), throttle_of(run, "rate_max_gb_per_s"));
    EXPECT_EQ(run.number({"breakdown_ns", "throttle"}), 0.0);
  }
}

// With k requests in flight, k - 1 are in memory when an answer leaves: the host needs less than an access.
TEST(RequestThrottle, HearsTheLoadThatTheAnswerLeavesBehind) {
  const auto load_with = [](int depth) {
    Loaded loaded{.optimal = 2, .moderate = 5, .severe = 9, .depth = depth, .throttles = false};
    Running run(system_of(loaded));
    run.to_end();
    return run.number({"per_memory", "mem", "devload_mean"});
  };
  for (const auto& [depth, load] :
       {std::pair{1, 0.0}, {2, 0.0}, {3, 1.0}, {5, 1.0}, {6, 2.0}, {9, 2.0}, {10, 3.0}}) {
    EXPECT_EQ(load_with(depth), load) << depth;
  }
}

// The k-th of some at once leaves k x 64 B / rate after the first.
TEST(RequestThrottle, SpacesRequestsByTheRate) {
  for (const char* rate : {"100MB/s", "300MB/s", "77MB/s"}) {
    SpecBuilder system;
    system.device("h", "host", {{"throttle", Value::Map{{"rate", rate}}}}).device("mem", "memory");
    system.link("h", "mem").region({"mem"});
    constexpr std::size_t kCount = 40;
    system.replay("h", std::vector<Access>(kCount, access_to(0)));
    Running run(system);
    run.to_end();
    ASSERT_EQ(run.table().rows(), kCount);
    for (std::size_t k = 0; k < kCount; ++k) {
      const auto due = static_cast<std::int64_t>(static_cast<double>(k) * 64e12 / (std::stod(rate) * 1e6));
      EXPECT_NEAR(static_cast<double>(run.segment(k, Segment::kThrottle).ps()), static_cast<double>(due), 1.0)
          << k;
      EXPECT_EQ(run.latency(k) - run.segment(k, Segment::kThrottle), run.latency(0)) << k;
    }
  }
}

// Two hundred requests of 50 ns each are one window of 6 us and a part of the next: one decision.
TEST(RequestThrottle, ChangesTheRateOnceAWindow) {
  const auto rate_after = [](int optimal, int moderate, int severe) {
    Loaded loaded{
        .delta = 0.0625, .window_us = 6, .optimal = optimal, .moderate = moderate, .severe = severe};
    SpecBuilder system = system_of(loaded);
    system.run_with({});
    system.replay("h", std::vector<Access>(100, access_to(0)));
    Running run(system);
    run.to_end();
    EXPECT_EQ(throttle_of(run, "rate_max_gb_per_s"), 1.28);
    return throttle_of(run, "rate_min_gb_per_s") / 1.28;
  };
  EXPECT_DOUBLE_EQ(rate_after(900, 900, 900), 1.0);  // light: it is the full rate already
  EXPECT_DOUBLE_EQ(rate_after(1, 900, 900), 1.0);
  EXPECT_DOUBLE_EQ(rate_after(1, 2, 900), 1 - 0.0625);
  EXPECT_DOUBLE_EQ(rate_after(1, 2, 3), 1 - 0.25);
}

// The answer that lowers the rate may be the one that closes the window.
TEST(RequestThrottle, ReportsTheRatesThatStoodForSomeTime) {
  int lowered = 0;
  for (int requests = 1; requests <= 40; ++requests) {
    Running run(system_of({.moderate = 4, .settled_us = 0, .requests = requests}));
    run.to_end();
    const bool fell = throttle_of(run, "throttled") > 0;
    EXPECT_EQ(fell, throttle_of(run, "rate_min_gb_per_s") < throttle_of(run, "rate_max_gb_per_s"))
        << requests;
    lowered += fell ? 1 : 0;
  }
  EXPECT_GT(lowered, 0);
  EXPECT_LT(lowered, 40);
}

TEST(RequestThrottle, HoldsBackWhatCachesWriteBack) {
  SpecBuilder system;
  system
      .device("h", "host",
              {{"cache", Value::Map{{"size", "4KiB"}}}, {"throttle", Value::Map{{"rate", "400MB/s"}}}})
      .device("mem", "memory");
  system.link("h", "mem").region({"mem"});
  system.work("h", {{"pattern", "random"}, {"reads", 0.2}, {"footprint", "1MiB"}, {"requests", 4000}});
  system.run_with({{"warmup", std::int64_t{1000}}});
  Running run(system);
  run.to_end();
  const double moved = run.number({"requests"}) * (1 - run.number({"per_requester", "h", "cache_hit_rate"})) +
                       run.number({"write_backs"});
  EXPECT_GT(run.number({"write_backs"}), 1000.0);
  EXPECT_NEAR(moved * 64 / run.number({"simulated_time_ns"}), 0.4, 0.01);
}

TEST(RequestThrottle, LeavesCoherentMemoryAlone) {
  SpecBuilder system;
  system.device("h", "host", {{"throttle", Value::Map{{"rate", "1MB/s"}}}})
      .device("mem", "memory", {{"dcoh", Value::Map{}}});
  system.link("h", "mem").region({"mem"}, {{"coherence", "hdm-db"}});
  system.replay("h", std::vector<Access>(20, access_to(0)));
  Running run(system);
  run.to_end();
  EXPECT_EQ(run.number({"breakdown_ns", "throttle"}), 0.0);
}

}  // namespace
}  // namespace cxloom
