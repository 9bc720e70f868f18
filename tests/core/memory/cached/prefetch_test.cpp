#include "memory/cached/media.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "core/support/cached_bench.hpp"
#include "core/support/probe.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::cached_media;
using test::CachedBench;
using test::kCachedPage;

KindSpec ahead(const char* kind, Value::Map params = {}) { return {kind, Value(std::move(params))}; }

/// Sixteen pages, each after the one before it.
CachedMediaParams fetching(const char* kind, Value::Map params = {}) {
  CachedMediaParams made = cached_media();
  made.size = 64_KiB;
  made.ways = 0;
  made.prefetch = ahead(kind, std::move(params));
  return made;
}

TEST(CachedMedia, APageThatWasAskedForAheadIsAHit) {
  CachedBench bench(fetching("next-line"));
  bench.open();
  const Message& first = bench.access(0, 0_ns);
  const Message& second = bench.access(kCachedPage, 2_us);
  const Message& third = bench.access(2 * kCachedPage, 4_us);
  bench.run();
  EXPECT_EQ(bench.latency(first), 1023_ns);
  EXPECT_EQ(bench.latency(second), 43_ns);
  EXPECT_EQ(bench.latency(third), 43_ns);
  const auto found = bench.measures();
  EXPECT_EQ(found.at("page_misses"), 1.0);
  EXPECT_EQ(found.at("page_prefetches"), 3.0) << "the last one is not used";
  EXPECT_EQ(found.at("page_prefetches_useful"), 2.0);
  EXPECT_EQ(found.at("page_prefetches_late"), 0.0);
}

TEST(CachedMedia, APageThatIsOnItsWayAheadIsWaitedForTheRestOfIt) {
  CachedBench bench(fetching("next-line"));
  bench.open();
  bench.access(0, 0_ns);
  const Message& second = bench.access(kCachedPage, 400_ns);  // it has been on its way for as long
  bench.run();
  EXPECT_EQ(bench.latency(second), 1023_ns - 400_ns);
  EXPECT_EQ(bench.measures().at("page_prefetches_late"), 1.0);
}

TEST(CachedMedia, WhatHasNoRegisterOrNoMissIsDropped) {
  CachedBench registers(fetching("next-line", {{"degree", 4}, {"registers", 3}}));
  registers.open();
  registers.access(0, 0_ns);
  registers.run();
  EXPECT_EQ(registers.measures().at("page_prefetches"), 3.0);
  EXPECT_EQ(registers.measures().at("page_prefetches_dropped"), 1.0);
  CachedMediaParams few = fetching("next-line", {{"degree", 4}});
  few.misses = 2;
  CachedBench misses(few);
  misses.open();
  misses.access(0, 0_ns);
  misses.run();
  EXPECT_EQ(misses.measures().at("page_prefetches"), 1.0);
}

TEST(CachedMedia, NoPageIsAskedForBehindTheMemoryOrOutsideTheRegion) {
  CachedBench region(fetching("next-line", {{"degree", 4}, {"page", "128B"}}));  // of two pages
  region.open();
  region.access(0, 0_ns);
  region.run();
  EXPECT_EQ(region.measures().at("page_prefetches"), 1.0);
  CachedBench end(fetching("next-line", {{"degree", 4}}), Bytes{3 * kCachedPage});
  end.open();
  end.access(kCachedPage, 0_ns);
  end.run();
  EXPECT_EQ(end.measures().at("page_prefetches"), 1.0);
}

TEST(CachedMedia, APageThatLeavesUnusedWasUseless) {
  CachedMediaParams params = fetching("next-line");
  params.size = 8_KiB;  // two pages
  CachedBench bench(params);
  bench.open();
  for (std::uint64_t i = 0; i < 3; ++i) {
    bench.access(4 * i * kCachedPage, 10_us * static_cast<std::int64_t>(i));
    bench.run();
  }
  EXPECT_EQ(bench.measures().at("page_prefetches"), 3.0);
  EXPECT_EQ(bench.measures().at("page_prefetches_useless"), 2.0);
}

TEST(CachedMedia, LeapFollowsAStrideOfPages) {
  // Two strides of three pages are its majority from the third access on; from then on every access is a hit.
  CachedBench bench(fetching("leap", {{"history", 4}, {"split", 2}}));
  std::vector<const Message*> reads;
  for (std::uint64_t i = 0; i < 12; ++i) {
    reads.push_back(&bench.access(3 * i * kCachedPage, 5_us * static_cast<std::int64_t>(i)));
    bench.run();
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(bench.latency(*reads[i]), 1023_ns) << i;
  std::size_t hits = 0;
  for (const Message* read : reads) hits += bench.latency(*read) == 43_ns;
  EXPECT_EQ(hits, 7U) << "one, two and four pages ahead";
}

}  // namespace
}  // namespace cxloom
