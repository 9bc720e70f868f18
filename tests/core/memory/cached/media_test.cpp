#include "memory/cached/media.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "core/support/cached_bench.hpp"
#include "core/support/errors.hpp"
#include "core/support/media_kinds.hpp"
#include "core/support/probe.hpp"
#include "kernel/kernel.hpp"
#include "memory/media/registry.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::cached_media;
using test::CachedBench;
using test::fixed;
using test::kCachedPage;
using test::kSet;
using test::Messages;

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

// --- the whole of it against rules that are worked out apart ---------------------------------------------

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
  // One access at a time, over NVM, which counts its bytes: reads of the backing are misses x page, writes
  // are write-backs x page.
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
  // A storm on a small cache with few registers: everybody is answered, in order, with an account that adds
  // up.
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
