#include "tags/tlb.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "core/support/victims.hpp"

namespace cxloom {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kHuge = std::uint64_t{2} << 20U;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
constexpr std::uint64_t kRoot = std::uint64_t{1} << 39U;  // what an entry of the root is for

TlbParams small() {
  return {.entries = 8, .ways = 2, .second_entries = 32, .second_ways = 4, .walk_cache = 4};
}

/// Loads of an access to a page: none if the first level has it, or the second.
unsigned loads(Tlb& tlb, std::uint64_t address) { return tlb.has(address, 8) ? 0 : tlb.bring(address); }

TEST(PageTable, EntriesOfNeighboursAreNeighbours) {
  std::set<std::uint64_t> places;
  for (unsigned level = 1; level <= kPageTableLevels; ++level) {
    const std::uint64_t reach = kPage << (9 * (level - 1));
    const std::uint64_t first = page_table_entry(0x7f00'0000'0000, level);
    EXPECT_EQ(page_table_entry(0x7f00'0000'0000 + reach - 1, level), first);
    EXPECT_EQ(page_table_entry(0x7f00'0000'0000 + reach, level), first + 8);
    EXPECT_EQ(first >> 47U, 1U);  // in the half that programs do not have
    for (std::uint64_t i = 0; i < 512; ++i) places.insert(page_table_entry(i * reach, level));
  }
  EXPECT_EQ(places.size(), 4U * 512);
}

TEST(PageTable, TheNumberOfTheSpaceIsNotInTheEntry) {
  EXPECT_EQ(page_table_entry(std::uint64_t{3} << 48U | 0x1234'5678, 1), page_table_entry(0x1234'5678, 1));
}

// A cycle through n pages that follow each other, and so fill all sets alike: lru keeps all of it or nothing.
TEST(Tlb, ACycleOfPagesHitsWhereItFits) {
  const auto lap = [](Tlb& tlb, std::uint64_t pages) {
    unsigned missed = 0;
    unsigned walked = 0;
    for (std::uint64_t page = 0; page < pages; ++page) {
      if (tlb.has(page * kPage, 8)) continue;
      ++missed;
      walked += tlb.bring(page * kPage);
    }
    return std::pair(missed, walked);
  };
  for (const auto& [pages, missed, walked] : std::vector<std::array<unsigned, 3>>{
           {8, 0, 0}, {12, 12, 0}, {32, 32, 0}, {40, 40, 40}, {400, 400, 400}}) {
    Tlb tlb(small(), test::victims());
    lap(tlb, pages);
    EXPECT_EQ(lap(tlb, pages), std::pair(missed, walked)) << pages;
  }
}

TEST(Tlb, AWalkBeginsBelowTheLowestEntryThatIsKnown) {
  Tlb tlb(small(), test::victims());
  EXPECT_EQ(loads(tlb, 0), 4U);
  EXPECT_EQ(loads(tlb, kPage), 1U);
  EXPECT_EQ(loads(tlb, kHuge), 2U);
  EXPECT_EQ(loads(tlb, kGiB), 3U);
  EXPECT_EQ(loads(tlb, kRoot), 4U);
  EXPECT_EQ(loads(tlb, kRoot + kPage), 1U);
  EXPECT_EQ(loads(tlb, std::uint64_t{1} << 48U), 4U);  // of another process
}

TEST(Tlb, HugePagesHaveATableLess) {
  TlbParams params = small();
  params.page = TlbParams::kHugePage;
  params.huge_entries = 2;
  params.huge_ways = 0;
  Tlb tlb(params, test::victims());
  EXPECT_EQ(tlb.leaf(), 2U);
  EXPECT_EQ(loads(tlb, 0), 3U);
  EXPECT_EQ(loads(tlb, kHuge - 8), 0U);
  EXPECT_EQ(loads(tlb, kHuge), 1U);
  EXPECT_EQ(loads(tlb, kGiB), 2U);
  EXPECT_EQ(loads(tlb, kRoot), 3U);
  // Two fit into the first level: all but the last two are in the second.
  EXPECT_TRUE(tlb.has(kRoot, 8));
  EXPECT_FALSE(tlb.has(0, 8));
  EXPECT_EQ(tlb.bring(0), 0U);
}

TEST(Tlb, WithoutCachesOfUpperLevelsEachWalkBeginsAtTheRoot) {
  for (const bool huge : {false, true}) {
    TlbParams params = small();
    params.walk_cache = 0;
    if (huge) params.page = TlbParams::kHugePage;
    Tlb tlb(params, test::victims());
    for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(loads(tlb, i * (huge ? kHuge : kPage)), huge ? 3U : 4U);
  }
}

TEST(Tlb, AnAccessAcrossTheEndOfAPageNeedsBoth) {
  Tlb tlb(small(), test::victims());
  tlb.bring(0);
  EXPECT_TRUE(tlb.has(kPage - 8, 8));
  EXPECT_FALSE(tlb.has(kPage - 7, 8));
  tlb.bring(kPage);
  EXPECT_TRUE(tlb.has(kPage - 7, 8));
}

TEST(Tlb, WhatCannotBeIsRefused) {
  const auto refused = [](Value::Map params) {
    try {
      read_params<TlbParams>(Value(std::move(params)));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused({}), "");
  EXPECT_EQ(refused({{"entries", 72}, {"ways", 0}}), "");
  EXPECT_NE(refused({{"entries", 72}, {"ways", 7}}), "");
  EXPECT_NE(refused({{"second_entries", 100}}), "");
  EXPECT_NE(refused({{"page", "1GiB"}}), "");
  EXPECT_NE(refused({{"walkers", 0}}), "");
}

/// A TLB by lists, the page used last in front.
class NaiveTlb {
 public:
  explicit NaiveTlb(const TlbParams& params)
      : params_(params),
        page_(params.page.count()),
        first_{params.huge() ? params.huge_entries : params.entries,
               params.huge() ? params.huge_ways : params.ways},
        second_{params.second_entries, params.second_ways} {
    for (unsigned level = 1; level <= 4; ++level) upper_.emplace_back(Part{params.walk_cache, 0});
  }

  /// As `loads`, or -1 if the first level has it.
  int access(std::uint64_t address) {
    const std::uint64_t page = address / page_;
    if (first_.use(page)) return -1;
    int count = 0;
    if (!second_.use(page)) {
      const unsigned leaf = params_.huge() ? 2 : 1;
      unsigned known = leaf + 1;
      while (known <= 4 && !upper_[known - 1].use(address / reach(known))) ++known;
      for (unsigned level = leaf + 1; level < known; ++level) upper_[level - 1].put(address / reach(level));
      count = static_cast<int>(known - leaf);
      second_.put(page);
    }
    first_.put(page);
    return count;
  }

 private:
  struct Part {
    std::uint32_t entries;
    std::uint32_t ways;
    std::map<std::uint64_t, std::list<std::uint64_t>> sets{};

    std::uint32_t in_set() const { return ways == 0 ? entries : ways; }
    std::list<std::uint64_t>& set_of(std::uint64_t number) { return sets[number % (entries / in_set())]; }
    bool use(std::uint64_t number) {
      if (entries == 0) return false;
      auto& set = set_of(number);
      const auto found = std::find(set.begin(), set.end(), number);
      if (found == set.end()) return false;
      set.splice(set.begin(), set, found);
      return true;
    }
    void put(std::uint64_t number) {
      if (entries == 0) return;
      auto& set = set_of(number);
      set.push_front(number);
      if (set.size() > in_set()) set.pop_back();
    }
  };

  static std::uint64_t reach(unsigned level) { return kPage << (9 * (level - 1)); }

  TlbParams params_;
  std::uint64_t page_;
  Part first_;
  Part second_;
  std::vector<Part> upper_;
};

TEST(Tlb, AgreesWithListsOfWhatWasUsed) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, "tlb", "test");
    TlbParams params;
    const auto entries = [&](std::uint32_t& all, std::uint32_t& ways) {
      ways = static_cast<std::uint32_t>(1 + random.below(40));
      all = static_cast<std::uint32_t>(ways * (1 + random.below(5)));
      if (random.below(4) == 0) ways = 0;
    };
    entries(params.entries, params.ways);
    entries(params.huge_entries, params.huge_ways);
    entries(params.second_entries, params.second_ways);
    params.walk_cache = static_cast<std::uint32_t>(random.below(6));
    if (random.below(3) == 0) params.page = TlbParams::kHugePage;
    Tlb tlb(params, test::victims());
    NaiveTlb naive(params);
    const std::uint64_t spread = 1 + random.below(300);
    for (int i = 0; i < 3000; ++i) {
      // Pages close together, in a few places far from each other.
      const std::uint64_t place = random.below(3) * kRoot + random.below(3) * kGiB + random.below(3) * kHuge;
      const std::uint64_t address = place + random.below(spread) * params.page.count() + random.below(4000);
      const int found = tlb.has(address, 8) ? -1 : static_cast<int>(tlb.bring(address));
      ASSERT_EQ(found, naive.access(address)) << seed << " " << i;
    }
  }
}

}  // namespace
}  // namespace cxloom
