#include "workload/pattern/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "core/support/errors.hpp"
#include "workload/stream/phases.hpp"

namespace cxloom {
namespace {

using test::input_error;

std::unique_ptr<AccessStream> make(const std::string& kind, Value::Map params,
                                   const std::string& name = "host", std::uint64_t seed = 1) {
  PatternRegistry patterns("pattern");
  register_patterns(patterns);
  PatternContext context{seed, name};
  return patterns.make({kind, Value(std::move(params))}, context);
}

std::vector<Access> take(AccessStream& stream, int count) {
  std::vector<Access> all(static_cast<std::size_t>(count));
  for (Access& access : all) EXPECT_TRUE(stream.next(access));
  return all;
}

std::vector<std::uint64_t> blocks(const std::string& kind, Value::Map params, int count) {
  std::vector<std::uint64_t> all;
  for (const Access& access : take(*make(kind, std::move(params)), count))
    all.push_back(access.address.value() / 64);
  return all;
}

TEST(Pattern, SequentialGoesRoundTheFootprint) {
  EXPECT_EQ(blocks("sequential", {{"footprint", "256B"}}, 6), (std::vector<std::uint64_t>{0, 1, 2, 3, 0, 1}));
  const auto offset =
      take(*make("sequential", {{"footprint", "100B"}, {"base", "0x1000"}, {"size", "32B"}}), 4);
  EXPECT_EQ(offset[2].address.value(), 0x1040U);
  EXPECT_EQ(offset[2].size, 32);
  EXPECT_EQ(offset[3].address.value(), 0x1000U);  // three whole blocks fit into 100 B
}

// Two pages and a half: a lap goes through all 160 blocks once, laps are alike, the first three steps are in
// three pages and begin them, and after block 0 of a page come 32, 16, 48.
TEST(Pattern, ACycleGoesThroughAllBlocksInOneOrder) {
  const auto all = blocks("cycle", {{"footprint", "10KiB"}}, 320);
  const std::vector<std::uint64_t> lap(all.begin(), all.begin() + 160);
  EXPECT_EQ(std::set<std::uint64_t>(lap.begin(), lap.end()).size(), 160U);
  EXPECT_TRUE(std::equal(lap.begin(), lap.end(), all.begin() + 160));
  EXPECT_EQ(std::set<std::uint64_t>(all.begin(), all.begin() + 3), (std::set<std::uint64_t>{0, 64, 128}));
  std::vector<std::uint64_t> first;
  std::ranges::copy_if(lap, std::back_inserter(first), [](std::uint64_t block) { return block < 64; });
  EXPECT_EQ(std::vector<std::uint64_t>(first.begin(), first.begin() + 5),
            (std::vector<std::uint64_t>{0, 32, 16, 48, 8}));
  EXPECT_EQ(blocks("cycle", {{"footprint", "512B"}}, 8),
            (std::vector<std::uint64_t>{0, 4, 2, 6, 1, 5, 3, 7}));
  for (const Access& access : take(*make("cycle", {}), 10)) EXPECT_EQ(access.dependence, 1U);
  EXPECT_NE(blocks("cycle", {{"footprint", "1MiB"}}, 256), [] {
    std::vector<std::uint64_t> starts(256);
    for (std::size_t page = 0; page < 256; ++page) starts[page] = 64 * page;
    return starts;
  }());
  EXPECT_THROW(make("cycle", {{"size", "96B"}}), InputError);
}

TEST(Pattern, StridedVisitsEveryBlockOnceARound) {
  EXPECT_EQ(blocks("strided", {{"footprint", "512B"}, {"stride", "192B"}}, 9),
            (std::vector<std::uint64_t>{0, 3, 6, 1, 4, 7, 2, 5, 0}));
  for (const char* stride : {"64B", "128B", "320B", "4096B", "8128B"}) {
    const auto all = blocks("strided", {{"footprint", "8KiB"}, {"stride", stride}}, 128);
    EXPECT_EQ(std::set<std::uint64_t>(all.begin(), all.end()).size(), 128U) << stride;
  }
  EXPECT_THROW(make("strided", {{"footprint", "4KiB"}}), InputError);  // stride 4 KiB: not below
  EXPECT_THROW(make("strided", {{"footprint", "8KiB"}, {"stride", "96B"}}), InputError);  // no multiple of 64
}

TEST(Pattern, RandomCoversItsFootprintEvenly) {
  constexpr int kDraws = 160'000;
  std::map<std::uint64_t, int> counts;
  for (const std::uint64_t block : blocks("random", {{"footprint", "1KiB"}}, kDraws)) ++counts[block];
  ASSERT_EQ(counts.size(), 16U);
  double chi = 0.0;
  for (const auto& [block, count] : counts) chi += std::pow(count - kDraws / 16.0, 2) / (kDraws / 16.0);
  EXPECT_LT(chi, 45.0);  // 15 degrees of freedom: p below 1e-4
}

TEST(Pattern, TheShareOfReadsIsRightAndLeavesTheAddressesAlone) {
  const auto some = take(*make("random", {{"reads", "67%"}, {"footprint", "1MiB"}}), 100'000);
  const auto reads =
      std::count_if(some.begin(), some.end(), [](const Access& a) { return a.kind == AccessKind::kRead; });
  EXPECT_NEAR(static_cast<double>(reads) / 100'000, 0.67, 5 * std::sqrt(0.67 * 0.33 / 100'000));
  const auto all = take(*make("random", {{"reads", 1.0}, {"footprint", "1MiB"}}), 1000);
  const auto none = take(*make("random", {{"reads", 0.0}, {"footprint", "1MiB"}}), 1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(all[i].kind, AccessKind::kRead);
    EXPECT_EQ(none[i].kind, AccessKind::kWrite);
    EXPECT_EQ(all[i].address, none[i].address);
    EXPECT_EQ(all[i].address, some[i].address);
  }
}

TEST(Pattern, TheShareOfAtomicsIsRightAndLeavesTheOthersAlone) {
  constexpr int kDraws = 100'000;
  const Value::Map base{{"reads", "50%"}, {"footprint", "1MiB"}};
  const auto with = [&](const char* share) {
    Value::Map params = base;
    params.emplace_back("atomics", share);
    return take(*make("random", params), kDraws);
  };
  const auto none = take(*make("random", base), kDraws);
  const auto some = with("30%");
  int atomics = 0;
  for (int i = 0; i < kDraws; ++i) {
    EXPECT_EQ(some[i].address, none[i].address);
    const bool atomic = some[i].kind == AccessKind::kAtomic;
    atomics += atomic ? 1 : 0;
    EXPECT_EQ(some[i].size, atomic ? 8 : 64);
    if (!atomic) {
      EXPECT_EQ(some[i].kind, none[i].kind);
    }
  }
  EXPECT_NEAR(atomics / double{kDraws}, 0.3, 5 * std::sqrt(0.3 * 0.7 / kDraws));
  for (const Access& access : with("100%")) EXPECT_EQ(access.kind, AccessKind::kAtomic);
}

TEST(Pattern, AnAtomicOperationTakesEightBytesOrFour) {
  for (const auto& [size, bytes] : {std::pair("64B", 8), {"8B", 8}, {"256B", 8}, {"12B", 4}, {"4B", 4}}) {
    for (const Access& access :
         take(*make("random", {{"atomics", 1.0}, {"footprint", "4KiB"}, {"size", size}}), 200)) {
      EXPECT_EQ(access.size, bytes) << size;
      EXPECT_EQ(access.address.value() % access.size, 0U) << size;
    }
  }
  for (const char* const size : {"3B", "6B"}) {
    const std::string error = input_error([&] {
                                make("random", {{"atomics", 0.1}, {"footprint", "4KiB"}, {"size", size}});
                              }).what();
    EXPECT_NE(error.find("the size of an access must be a multiple of 4"), std::string::npos) << error;
  }
  EXPECT_NO_THROW(make("random", {{"footprint", "4KiB"}, {"size", "3B"}}));
  for (const char* const share : {"101%", "-1%"})
    EXPECT_EQ(input_error([&] { make("random", {{"atomics", share}}); }).path(), "atomics");
}

TEST(Pattern, SameSeedSameStreamAndOtherNamesOtherStreams) {
  const auto addresses = [](const std::string& name, std::uint64_t seed) {
    std::vector<std::uint64_t> all;
    for (const Access& access : take(*make("random", {}, name, seed), 100))
      all.push_back(access.address.value());
    return all;
  };
  EXPECT_EQ(addresses("host", 1), addresses("host", 1));
  EXPECT_NE(addresses("host", 1), addresses("host", 2));
  EXPECT_NE(addresses("host", 1), addresses("host1", 1));
}

TEST(Pattern, HotColdSplitsAsSaid) {
  constexpr int kDraws = 200'000;
  int hot = 0;
  std::set<std::uint64_t> seen;
  for (const std::uint64_t block :
       blocks("hot-cold", {{"footprint", "64000B"}, {"hot_footprint", "10%"}, {"hot_requests", "90%"}},
              kDraws)) {
    hot += block < 100 ? 1 : 0;
    seen.insert(block);
  }
  EXPECT_NEAR(static_cast<double>(hot) / kDraws, 0.9, 5 * std::sqrt(0.09 / kDraws));
  EXPECT_EQ(seen.size(), 1000U);
  for (const std::uint64_t block : blocks("hot-cold", {{"footprint", "6400B"}, {"hot_footprint", 1.0}}, 100))
    EXPECT_LT(block, 100U);
  for (const std::uint64_t block : blocks("hot-cold", {{"footprint", "6400B"}, {"hot_footprint", 0.0}}, 100))
    EXPECT_LT(block, 100U);
}

TEST(Pattern, ZipfFollowsItsLaw) {
  // The frequencies in descending order against k^-s / H, by chi square over the ranks expected at least 20
  // times.
  for (const double exponent : {0.0, 0.5, 0.99, 1.0, 1.5, 3.0}) {
    constexpr int kDraws = 300'000;
    constexpr std::size_t kBlocks = 1000;
    std::map<std::uint64_t, int> counts;
    for (const std::uint64_t block :
         blocks("zipf", {{"footprint", "64000B"}, {"exponent", exponent}}, kDraws))
      ++counts[block];
    for (const auto& [block, count] : counts) ASSERT_LT(block, kBlocks);
    // Rank k lies at block (k - 1) x m mod 1000 for one m: that of rank 2, the second most frequent.
    double sum = 0.0;
    for (std::size_t k = 1; k <= kBlocks; ++k) sum += std::pow(static_cast<double>(k), -exponent);
    std::uint64_t multiplier = 0x9e3779b97f4a7c15ULL % kBlocks;
    while (std::gcd(multiplier, kBlocks) != 1) ++multiplier;
    double chi = 0.0;
    int cells = 0;
    for (std::size_t k = 1; k <= kBlocks; ++k) {
      const double expected = kDraws * std::pow(static_cast<double>(k), -exponent) / sum;
      if (expected < 20.0) break;
      chi += std::pow(counts[(k - 1) * multiplier % kBlocks] - expected, 2) / expected;
      ++cells;
    }
    EXPECT_LT(chi, cells + 5.0 * std::sqrt(2.0 * cells) + 5.0)
        << "exponent " << exponent << ", " << cells << " ranks";
  }
}

TEST(Pattern, ZipfOverOneBlockAndOverVeryMany) {
  for (const std::uint64_t block : blocks("zipf", {{"footprint", "64B"}}, 100)) EXPECT_EQ(block, 0U);
  for (const double exponent : {0.0, 1.0, 10.0}) {
    for (const std::uint64_t block :
         blocks("zipf", {{"footprint", "1TiB"}, {"exponent", exponent}}, 10'000)) {
      ASSERT_LT(block, (1ULL << 40U) / 64);
    }
  }
}

TEST(Pattern, APointerChaseNeedsTheAccessBefore) {
  for (const Access& access : take(*make("pointer-chase", {}), 100)) EXPECT_EQ(access.dependence, 1U);
  for (const Access& access : take(*make("random", {}), 100)) EXPECT_EQ(access.dependence, 0U);
}

TEST(Pattern, AFenceComesAfterEachSoManyAccesses) {
  for (const std::int64_t every : {1, 3}) {
    const auto all = take(*make("random", {{"fence_every", every}}), 100);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool fence = i > 0 && i % static_cast<std::size_t>(every) == 0;
      EXPECT_EQ(all[i].dependence, fence ? kAllBefore : 0U) << i;
    }
  }
  EXPECT_THROW(make("random", {{"fence_every", 0}}), InputError);
  EXPECT_THROW(make("pointer-chase", {{"fence_every", 4}}), InputError);  // one at a time as it is
}

TEST(Pattern, Refusals) {
  EXPECT_EQ(input_error([] { make("random", {{"reads", 1.5}}); }).path(), "reads");
  EXPECT_EQ(input_error([] { make("random", {{"size", "0B"}}); }).path(), "size");
  EXPECT_THROW(make("random", {{"size", "128B"}, {"footprint", "64B"}}), InputError);
  EXPECT_EQ(input_error([] { make("randm", {}); }).detail().suggestion, "random");
}

/// Counts up from a number, without end.
class Counter final : public AccessStream {
 public:
  explicit Counter(std::uint64_t from) : at_(from) {}
  bool next(Access& access) override {
    access.address = Address{at_++};
    return true;
  }

 private:
  std::uint64_t at_;
};

TEST(PhasedStream, PhasesFollowEachOtherOverAndOver) {
  std::vector<PhasedStream::Phase> phases;
  phases.push_back({std::make_unique<Counter>(100), 2});
  phases.push_back({std::make_unique<Counter>(200), 3});
  PhasedStream stream(std::move(phases));
  std::vector<std::uint64_t> got;
  for (const Access& access : take(stream, 8)) got.push_back(access.address.value());
  EXPECT_EQ(got, (std::vector<std::uint64_t>{100, 101, 200, 201, 202, 102, 103, 203}));
}

}  // namespace
}  // namespace cxloom
