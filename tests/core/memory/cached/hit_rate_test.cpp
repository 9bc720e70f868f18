#include "memory/cached/media.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/cached_bench.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::cached_media;
using test::CachedBench;
using test::kCachedPage;

/// The share of hits of accesses to `pages` pages, drawn independently of each other by Zipf's law.
double hit_rate(const char* policy, std::uint64_t pages, std::uint64_t held, double exponent) {
  CachedMediaParams params = cached_media();
  params.page = 64_B;
  params.size = Bytes{held * 64};
  params.ways = 0;
  params.policy = {policy, Value(Value::Map{})};
  std::vector<double> sums;
  for (std::uint64_t i = 0; i < pages; ++i)
    sums.push_back((sums.empty() ? 0.0 : sums.back()) + std::pow(static_cast<double>(i + 1), -exponent));
  CachedBench bench(params);
  RandomStream random(5, "test", "zipf");
  for (int i = 0; i < 30'000; ++i) {
    if (i == 3'000) bench.open();
    const double drawn = random.uniform() * sums.back();
    const auto page = static_cast<std::uint64_t>(std::ranges::upper_bound(sums, drawn) - sums.begin());
    bench.access(page * 64, bench.kernel().now());
    bench.run();
  }
  return bench.measures().at("page_hit_rate");
}

/// Che, Tung and Wang, "Hierarchical Web Caching Systems", JSAC 2002: a page is in an LRU cache if it was
/// asked for within a time t that is the same for all, so that as many are there as it holds. In a FIFO or
/// random cache it is there with p t / (1 + p t) (Fricker, Robert and Roberts, "A Versatile and Accurate
/// Approximation for LRU Cache Performance", ITC 2012; Gelenbe 1973 that the two are equal).
double formula(bool lru, std::uint64_t pages, std::uint64_t held, double exponent) {
  std::vector<double> p;
  double all = 0.0;
  for (std::uint64_t i = 0; i < pages; ++i) all += std::pow(static_cast<double>(i + 1), -exponent);
  for (std::uint64_t i = 0; i < pages; ++i)
    p.push_back(std::pow(static_cast<double>(i + 1), -exponent) / all);
  const auto present = [&](double each, double t) {
    return lru ? 1.0 - std::exp(-each * t) : each * t / (1.0 + each * t);
  };
  double low = 0.0;
  double high = 1e12;
  for (int i = 0; i < 200; ++i) {
    const double t = (low + high) / 2;
    double there = 0.0;
    for (const double each : p) there += present(each, t);
    (there < static_cast<double>(held) ? low : high) = t;
  }
  double hits = 0.0;
  for (const double each : p) hits += each * present(each, low);
  return hits;
}

TEST(CachedMedia, HitRatesOfIndependentAccessesAreThoseOfTheClosedForms) {
  for (const std::uint64_t held : {32U, 128U}) {
    const double lru = hit_rate("lru", 512, held, 0.9);
    const double fifo = hit_rate("fifo", 512, held, 0.9);
    EXPECT_NEAR(lru, formula(true, 512, held, 0.9), 0.01);
    EXPECT_NEAR(fifo, formula(false, 512, held, 0.9), 0.01);
    EXPECT_NEAR(hit_rate("random", 512, held, 0.9), fifo, 0.01) << "Gelenbe: that of FIFO";
    EXPECT_GT(lru, fifo);
    EXPECT_GT(hit_rate("clock", 512, held, 0.9), fifo);
    EXPECT_GT(hit_rate("2q", 512, held, 0.9), lru);
  }
}

TEST(CachedMedia, ACyclicScanOfOnePageTooManyNeverHitsByUseOrByOrder) {
  for (const char* policy : {"lru", "fifo", "clock", "mru"}) {
    CachedMediaParams params = cached_media();
    params.ways = 0;
    params.policy = {policy, Value(Value::Map{})};
    CachedBench bench(params);
    bench.open();
    for (std::uint64_t i = 0; i < 500; ++i) {
      bench.access(i % 5 * kCachedPage, bench.kernel().now());
      bench.run();
    }
    // Four of five pages: the one used last leaves, and three of four laps are hits.
    const double wanted = std::string(policy) == "mru" ? 0.75 : 0.0;
    EXPECT_NEAR(bench.measures().at("page_hit_rate"), wanted, 0.02) << policy;
  }
}

}  // namespace
}  // namespace cxloom
