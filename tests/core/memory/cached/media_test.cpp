#include "memory/cached/media.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "core/support/errors.hpp"
#include "core/support/media_bench.hpp"
#include "core/support/media_kinds.hpp"
#include "core/support/probe.hpp"
#include "kernel/kernel.hpp"
#include "memory/media/registry.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::Messages;
using CachedBench = test::MediaBench<CachedMedia>;

KindSpec fixed(const char* latency, const char* write_latency = nullptr, const char* bandwidth = nullptr) {
  Value::Map params{{"latency", latency}};
  if (write_latency) params.emplace_back("write_latency", write_latency);
  if (bandwidth) params.emplace_back("bandwidth", bandwidth);
  return {"fixed", Value(params)};
}

/// Two sets of two pages of 4 KiB: 3 ns to look up, 40 ns (20 ns) to read (write) the cache, 1 us (2 us) behind.
CachedMediaParams cached_media() {
  CachedMediaParams params;
  params.size = 16_KiB;
  params.ways = 2;
  params.lookup_time = 3_ns;
  params.cache = fixed("40ns", "20ns");
  params.backing = fixed("1us", "2us");
  return params;
}

constexpr std::uint64_t kCachedPage = 4096;
constexpr std::uint64_t kSet = 2 * kCachedPage;  // from a page to the next one of its set

TEST(CachedMedia, AHitTakesLookUpAndCache) {
  CachedBench bench(cached_media());
  bench.access(0, 0_ns);
  bench.run();
  const Message& read = bench.access(64, 5_us);
  const Message& write = bench.access(kCachedPage - 64, 6_us, Opcode::kMemWr);
  bench.run();
  EXPECT_EQ(bench.latency(read), 3_ns + 40_ns);
  EXPECT_EQ(bench.latency(write), 3_ns + 20_ns);
  EXPECT_EQ(Messages::segment(read, Segment::kMedia), 43_ns);
}

TEST(CachedMedia, AMissTakesLookUpBackingAndFill) {
  CachedBench bench(cached_media());
  const Message& read = bench.access(0, 0_ns);
  const Message& write = bench.access(
      kCachedPage, 0_ns, Opcode::kMemWr);  // the page is fetched for a write of a part of it, too
  bench.run();
  EXPECT_EQ(bench.latency(read), 3_ns + 1_us + 20_ns);
  EXPECT_EQ(bench.latency(write), 3_ns + 1_us + 20_ns);
  EXPECT_EQ(Messages::segment(read, Segment::kMedia), 1023_ns);
}

TEST(CachedMedia, AWriteOfAWholePageFetchesNothing) {
  CachedMediaParams params = cached_media();
  params.page = 64_B;
  params.size = 256_B;
  CachedBench bench(params);
  const Message& write = bench.access(0, 0_ns, Opcode::kMemWr);
  const Message& part = bench.access(64, 0_ns, Opcode::kMemWr, 32);
  bench.run();
  EXPECT_EQ(bench.latency(write), 3_ns + 20_ns);
  EXPECT_EQ(bench.latency(part), 3_ns + 1_us + 20_ns);
}

TEST(CachedMedia, ADirtyVictimIsReadOutBeforeTheFillAndWrittenBackBehindIt) {
  // The victim is out of the cache in 40 ns, long before the page is there: the miss is as fast as any, and
  // the register is free again once the write behind is done: 3 + 40 + 2000 after the access.
  CachedMediaParams params = cached_media();
  params.misses = 1;
  CachedBench bench(params);
  bench.access(0, 0_ns, Opcode::kMemWr);
  bench.access(kSet, 10_us);
  bench.run();
  const Message& miss = bench.access(2 * kSet, 20_us);
  const Message& next = bench.access(kCachedPage, 20_us);  // waits for the only register
  bench.run();
  EXPECT_EQ(bench.latency(miss), 3_ns + 1_us + 20_ns);
  EXPECT_EQ(Messages::segment(next, Segment::kMediaQueue), 2_us + 40_ns);
  EXPECT_EQ(bench.latency(next), 3_ns + 2_us + 40_ns + 1_us + 20_ns);
}

TEST(CachedMedia, AVictimThatIsSlowToReadHoldsTheFillBack) {
  CachedMediaParams params = cached_media();
  params.cache = fixed("3us", "20ns");
  CachedBench bench(params);
  bench.access(0, 0_ns, Opcode::kMemWr);
  bench.access(kSet, 10_us);
  bench.run();
  const Message& miss = bench.access(2 * kSet, 20_us);
  bench.run();
  EXPECT_EQ(bench.latency(miss), 3_ns + 3_us + 20_ns);
  EXPECT_EQ(Messages::segment(miss, Segment::kMediaQueue), 2_us);  // from the end of the fetch on
}

TEST(CachedMedia, AccessesToAPageOnItsWayWaitForIt) {
  CachedBench bench(cached_media());
  bench.open();
  const Message& first = bench.access(0, 0_ns);
  const Message& second = bench.access(64, 400_ns, Opcode::kMemWr);
  bench.run();
  EXPECT_EQ(bench.done.at(&first), bench.done.at(&second));
  EXPECT_EQ(bench.latency(second), 3_ns + 1_us + 20_ns - 400_ns);
  const auto found = bench.measures();
  EXPECT_EQ(found.at("page_misses"), 1.0);
  EXPECT_EQ(found.at("page_joins"), 1.0);
}

TEST(CachedMedia, WhatJoinedWithAWriteMakesThePageDirty) {
  CachedBench bench(cached_media());
  bench.open();
  bench.access(0, 0_ns);
  bench.access(64, 400_ns, Opcode::kMemWr);
  bench.run();
  bench.access(kSet, 10_us);
  bench.access(2 * kSet, 20_us);
  bench.run();
  EXPECT_EQ(bench.measures().at("page_write_backs"), 1.0);
}

TEST(CachedMedia, APageOnItsWayOutComesBackOnlyOnceItIsBehind) {
  CachedBench bench(cached_media());
  bench.access(0, 0_ns, Opcode::kMemWr);
  bench.access(kSet, 10_us);
  bench.run();
  bench.access(2 * kSet, 20_us);                  // page 0 leaves: it is behind at 20,000 + 3 + 40 + 2000
  const Message& again = bench.access(0, 20_us);  // and is fetched from then on, in the place of page 2
  bench.run();
  EXPECT_EQ(Messages::segment(again, Segment::kMediaQueue), 2_us + 40_ns);
  EXPECT_EQ(bench.latency(again), 3_ns + 2_us + 40_ns + 1_us + 20_ns);
}

TEST(CachedMedia, APlaceThatIsBeingFilledIsNotAVictim) {
  CachedMediaParams params = cached_media();
  params.ways = 1;
  CachedBench bench(params);
  const Message& first = bench.access(0, 0_ns);
  const Message& rival = bench.access(4 * kCachedPage, 0_ns);  // of the same set
  bench.run();
  EXPECT_EQ(bench.latency(first), 1023_ns);
  EXPECT_EQ(bench.latency(rival), 1023_ns + 1020_ns);
}

TEST(CachedMedia, AnAccessToSeveralPagesIsDoneWithTheLast) {
  CachedBench bench(cached_media());
  bench.access(0, 0_ns);
  bench.run();
  const Message& both = bench.access(kCachedPage - 64, 10_us, Opcode::kMemRd, 128);  // a hit and a miss
  bench.run();
  EXPECT_EQ(bench.latency(both), 1023_ns);
}

// --- ahead of its use ---------------------------------------------------------------------------------------

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

// --- hit rates against closed forms -------------------------------------------------------------------------

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

/// Che, Tung and Wang, "Hierarchical Web Caching Systems", JSAC 2002: a page is in an LRU cache if it was asked for within a time t that is
/// the same for all, so that as many are there as it holds. In a FIFO or random cache it is there with p t / (1 + p t)
/// (Fricker, Robert and Roberts, "A Versatile and Accurate Approximation for LRU Cache Performance", ITC 2012; Gelenbe 1973 that the two are equal).
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

// --- the whole of it against rules that are worked out apart ------------------------------------------------

struct Counted {
  double hits = 0;
  double misses = 0;
  double write_backs = 0;
};

/// What an LRU cache of pages does with accesses that come one at a time.
Counted by_hand(const std::vector<std::pair<std::uint64_t, bool>>& accesses, std::uint64_t sets,
                std::size_t ways) {
  struct Held {
    std::uint64_t page;
    bool dirty;
  };
  std::unordered_map<std::uint64_t, std::list<Held>> cache;
  Counted counted;
  for (const auto& [address, writes] : accesses) {
    const std::uint64_t page = address / kCachedPage;
    std::list<Held>& set = cache[page % sets];
    const auto found =
        std::find_if(set.begin(), set.end(), [&](const Held& held) { return held.page == page; });
    if (found != set.end()) {
      ++counted.hits;
      found->dirty |= writes;
      set.splice(set.end(), set, found);
      continue;
    }
    ++counted.misses;
    if (set.size() == ways) {
      counted.write_backs += set.front().dirty ? 1 : 0;
      set.pop_front();
    }
    set.push_back({page, writes});
  }
  return counted;
}

TEST(CachedMedia, WhatItMovesIsWhatBothMediaCount) {
  // One access at a time, over NVM, which counts its bytes: reads of the backing are misses x page, writes are write-backs x page.
  CachedMediaParams params;
  params.size = 64_KiB;
  params.ways = 4;
  params.cache = {
      "nvm", Value(Value::Map{{"write_buffer", 0}, {"buffer_read_latency", "20ns"}, {"read_buffer", 8}})};
  params.backing = {"nvm", Value(Value::Map{{"block", "4KiB"}, {"write_buffer", 8}})};
  CachedBench bench(params);
  RandomStream random(11, "test", "addresses");
  std::vector<std::pair<std::uint64_t, bool>> accesses;
  bench.open();
  Time ready;
  for (int i = 0; i < 3000; ++i) {
    accesses.emplace_back(random.below(4096) * 64, random.chance(0.4));
    bench.access(accesses.back().first, ready, accesses.back().second ? Opcode::kMemWr : Opcode::kMemRd);
    ready += 1_ms;
  }
  bench.run();
  EXPECT_EQ(bench.done.size(), 3000U);
  const double seconds = bench.kernel().now().ns() * 1e-9;
  const auto found = bench.measures();
  const Counted expected = by_hand(accesses, 4, 4);
  EXPECT_EQ(found.at("page_hits"), expected.hits);
  EXPECT_EQ(found.at("page_misses"), expected.misses);
  EXPECT_EQ(found.at("page_write_backs"), expected.write_backs);
  EXPECT_EQ(found.at("page_joins"), 0.0);
  EXPECT_DOUBLE_EQ(found.at("page_hit_rate"), expected.hits / 3000.0);
  const auto bytes = [&](const char* name) { return found.at(name) * seconds * 1e9; };
  EXPECT_NEAR(bytes("backing_media_read_gb_per_s"), expected.misses * kCachedPage, 1.0);
  EXPECT_NEAR(bytes("backing_media_write_gb_per_s"), expected.write_backs * kCachedPage, 1.0);
}

TEST(CachedMedia, EveryAccessIsDoneOnceWhateverIsUnderWay) {
  // A storm on a small cache with few registers: everybody is answered, in order, with an account that adds up.
  for (const std::uint32_t misses : {1U, 2U, 7U}) {
    for (const char* policy : {"lru", "random", "srrip", "tree-plru"}) {
      CachedMediaParams params = cached_media();
      params.misses = misses;
      params.policy.kind = policy;
      params.cache = fixed("40ns", "20ns", "10GB/s");
      params.backing = fixed("1us", "2us", "5GB/s");
      CachedBench bench(params);
      bench.open();
      RandomStream random(5, "test", policy);
      Time ready;
      for (int i = 0; i < 2000; ++i) {
        ready += Time{static_cast<std::int64_t>(random.below(400'000))};
        const std::uint64_t size = random.chance(0.1) ? 192 : 64;
        const Message& message =
            bench.access(random.below(1024) * 64, ready, random.chance(0.5) ? Opcode::kMemWr : Opcode::kMemRd,
                         static_cast<std::uint16_t>(size));
        EXPECT_EQ(message.account->mark(), ready);
      }
      bench.run();
      ASSERT_EQ(bench.done.size(), 2000U) << policy << ", " << misses;
      for (const auto& [message, at] : bench.done) {
        const Time sum =
            Messages::segment(*message, Segment::kMediaQueue) + Messages::segment(*message, Segment::kMedia);
        ASSERT_EQ(sum, at - message->age);
      }
      const auto found = bench.measures();
      EXPECT_LE(found.at("misses_max"), misses);
      EXPECT_GT(found.at("page_write_backs"), 100.0);
    }
  }
}

TEST(CachedMedia, SaturatedMissesAreAsManyAsTheirRegistersAllow) {
  // Clean misses in a row: `misses` pages each lookup-free 1 us + 20 ns, by Little's law.
  CachedMediaParams params = cached_media();
  params.size = 4_MiB;
  params.misses = 8;
  CachedBench bench(params);
  for (std::uint64_t i = 0; i < 800; ++i) bench.access(i * kCachedPage, 0_ns);
  bench.run();
  EXPECT_EQ(bench.end(), 3_ns + 1020_ns * 100);
}

TEST(CachedMedia, MoreOfAResourceIsNeverWorse) {
  const auto end = [](const CachedMediaParams& params) {
    CachedBench bench(params);
    RandomStream random(9, "test", "sweep");
    for (int i = 0; i < 3000; ++i)
      bench.access(random.below(2048) * 64, Time{i * 30'000},
                   random.chance(0.3) ? Opcode::kMemWr : Opcode::kMemRd);
    bench.run();
    return bench.end();
  };
  Time before = Time::max();
  for (const std::uint32_t misses : {1U, 2U, 4U, 16U, 64U}) {
    CachedMediaParams params = cached_media();
    params.misses = misses;
    const Time now = end(params);
    EXPECT_LE(now, before) << misses;
    before = now;
  }
  before = Time::max();
  for (const std::uint64_t pages : {4U, 8U, 16U, 32U}) {
    CachedMediaParams params = cached_media();
    params.size = Bytes{pages * kCachedPage};
    params.ways = 0;  // LRU keeps what a smaller cache keeps
    const Time now = end(params);
    EXPECT_LE(now, before) << pages;
    before = now;
  }
}

TEST(CachedMedia, CachesBeforeCachesWork) {
  CachedMediaParams inner = cached_media();
  CachedMediaParams params = cached_media();
  params.backing = {
      "cached", Value(Value::Map{{"size", "64KiB"},
                                 {"ways", 4},
                                 {"lookup_time", "5ns"},
                                 {"cache", Value(Value::Map{{"kind", "fixed"}, {"latency", "100ns"}})},
                                 {"backing", Value(Value::Map{{"kind", "fixed"}, {"latency", "10us"}})}})};
  CachedBench bench(params);
  bench.open();
  const Message& cold = bench.access(0, 0_ns);
  bench.access(kSet, 50_us);
  bench.access(2 * kSet, 100_us);
  bench.run();
  const Message& again = bench.access(0, 200_us);  // in the larger one only
  bench.run();
  EXPECT_EQ(bench.latency(cold), 3_ns + (5_ns + 10_us + 100_ns) + 20_ns);
  EXPECT_EQ(bench.latency(again), 3_ns + (5_ns + 100_ns) + 20_ns);
  EXPECT_EQ(bench.measures().at("backing_page_hits"), 1.0);
}

TEST(CachedMedia, TheBytesThatItHasAreThoseBehind) {
  CachedMediaParams params = cached_media();
  params.size = 16_MiB;
  params.cache = {"dram", Value(Value::Map{{"preset", "test-D5"}})};
  params.backing = {"dram", Value(Value::Map{{"preset", "test-D5"}, {"channels", 2}})};
  CachedBench bench(params);
  EXPECT_GT(bench.media().capacity()->count(), (16_MiB).count());
  EXPECT_NE(bench.media().described().find("; backing: 2 x test-D5"), std::string::npos);
  bench.access(0, 0_ns);
  bench.run();
  EXPECT_EQ(bench.done.size(), 1U);
}

TEST(CachedMediaParams, AreReadAndChecked) {
  const auto error = [](Value::Map params, bool backing = true) {
    if (backing) params.emplace_back("backing", "fixed");
    try {
      read_params<CachedMediaParams>(Value(params));
    } catch (const InputError& wrong) {
      return std::string(wrong.what());
    }
    return std::string();
  };
  EXPECT_EQ(error({}), "");
  EXPECT_NE(error({}, false).find("'backing' is missing"), std::string::npos);
  EXPECT_NE(error({{"page", "3KiB"}}).find("a power of two"), std::string::npos);
  EXPECT_NE(error({{"page", "64KiB"}}).find("at most 32KiB"), std::string::npos);
  EXPECT_NE(error({{"size", "65MB"}}).find("multiple of ways x page"), std::string::npos);
  EXPECT_NE(error({{"size", "4KiB"}, {"ways", 1}, {"policy", "fifo"}}).find("no effect"), std::string::npos)
      << "one page";
  EXPECT_EQ(error({{"size", "12KiB"}, {"ways", 0}}), "");
}

TEST(CachedMedia, SaysWhichOfItsMediaIsWrong) {
  CachedMediaParams params = cached_media();
  params.backing = {"flsh", Value(Value::Map{})};
  try {
    const CachedBench bench(params);
    FAIL() << "made with an unknown kind";
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), "backing.kind");
  }
}

/// Writes down the first draw of its random stream.
class DrawOnce final : public VictimPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) { schema.doc("Draws once."); }
  };
  DrawOnce(const Params& /*params*/, VictimContext& context) {
    draws().push_back(context.random.below(std::uint64_t{1} << 40U));
  }
  Slot victim(std::uint32_t set, const SlotOrder& /*order*/, const SlotPins& /*pins*/) override {
    return set;
  }
  static std::vector<std::uint64_t>& draws() {
    static std::vector<std::uint64_t> all;
    return all;
  }
};

// Each of several caches before caches has a random stream of its own; the first has that of a cache alone.
TEST(CachedMedia, EachOfSeveralLevelsDrawsItsOwnVictims) {
  VictimRegistry policies("victim policy");
  policies.add<DrawOnce>("draw-once");
  const auto cached = [](const KindSpec& backing) {
    Value::Map inside = *backing.params.as_map();
    inside.insert(inside.begin(), {"kind", backing.kind});
    return KindSpec{
        "cached",
        Value(Value::Map{{"size", "16KiB"}, {"ways", 2}, {"policy", "draw-once"}, {"backing", inside}})};
  };
  struct Client final : MediaClient {
    void media_done(Message& /*message*/, Time /*at*/) override {}
  } client;
  Kernel kernel;
  test::Probe owner(kernel, "mem");
  MediaContext context{kernel, owner, client, test::media_kinds(), policies, Bytes{1ULL << 30U}, 7};
  DrawOnce::draws().clear();
  const auto media = test::media_kinds().make(cached(cached(cached(fixed("1us")))), context);
  const std::vector<std::uint64_t>& draws = DrawOnce::draws();
  ASSERT_EQ(draws.size(), 3U);
  EXPECT_EQ(draws[0], RandomStream(7, "mem", "page victims").below(std::uint64_t{1} << 40U));
  EXPECT_NE(draws[0], draws[1]);
  EXPECT_NE(draws[0], draws[2]);
  EXPECT_NE(draws[1], draws[2]);
}

}  // namespace
}  // namespace cxloom
