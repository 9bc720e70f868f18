#include "workload/placement/page_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "workload/placement/bind.hpp"
#include "workload/placement/first_touch.hpp"
#include "workload/placement/interleave.hpp"
#include "workload/placement/preferred.hpp"

namespace cxloom {
namespace {

constexpr std::uint64_t kSharedPage = 4096;
using Pages = std::vector<std::optional<std::uint64_t>>;
using Counts = std::vector<std::uint64_t>;

/// Programs that place so many pages each, by first touch, in nodes of so many frames; what each gets of them
/// all.
std::vector<Counts> shares_by_node(const Counts& frames, const Pages& pages) {
  std::vector<NumaNode> nodes(frames.size());
  const PlacementRegistry kinds("placement");
  PlacementContext context{nodes, Bytes{kSharedPage}, kinds};
  std::vector<std::unique_ptr<PagePlacement>> placements;
  std::vector<PlacedProgram> programs;
  for (const auto& each : pages) {
    placements.push_back(std::make_unique<FirstTouchPlacement>(FirstTouchPlacement::Params{}, context));
    PlacedProgram program{placements.back().get(), std::nullopt, {}};
    if (each) program.pages = *each > 0 ? PageRuns{{0, *each}} : PageRuns{};
    for (std::size_t node = 0; node < frames.size(); ++node) program.nodes.push_back(node);
    programs.push_back(std::move(program));
  }
  return share_out(frames, programs);
}

Counts shares(std::uint64_t frames, const Pages& pages) {
  Counts all;
  for (const Counts& each : shares_by_node({frames}, pages)) all.push_back(each.front());
  return all;
}

TEST(ShareOut, WhatFitsTogetherFits) {
  RandomStream random(1, "frames", "test");
  for (int round = 0; round < 200; ++round) {
    Pages pages;
    std::uint64_t left = 1024;
    while (left > 0) {
      pages.emplace_back(1 + random.below(left));
      left -= *pages.back();
    }
    const std::vector<Counts> got = shares_by_node({1000, 24}, pages);
    Counts used(2);
    for (std::size_t i = 0; i < pages.size(); ++i) {
      EXPECT_EQ(got[i][0] + got[i][1], *pages[i]);
      for (std::size_t node = 0; node < 2; ++node) used[node] += got[i][node];
    }
    EXPECT_EQ(used, (Counts{1000, 24}));
  }
}

TEST(ShareOut, WhatDoesNotFitIsDividedFairly) {
  EXPECT_EQ(shares(100, {100, 300}), (Counts{50, 50}));
  EXPECT_EQ(shares(100, {300, 10, 100}), (Counts{45, 10, 45}));
  EXPECT_EQ(shares(4096, {4096, 1}), (Counts{4095, 1}));
  EXPECT_EQ(shares(10, {0, 100, 4, 3}), (Counts{0, 4, 3, 3}));
  const std::uint64_t huge = std::uint64_t{1} << 60U;
  EXPECT_EQ(shares(101, {huge, huge}), (Counts{51, 50}));
}

// A program can gain only from one with at most one frame above it, and more memory takes nothing away.
TEST(ShareOut, SharesAreMaxMinFair) {
  RandomStream random(1, "shares", "test");
  for (int round = 0; round < 200; ++round) {
    Pages pages;
    for (std::uint64_t programs = 1 + random.below(6); programs > 0; --programs)
      pages.emplace_back(random.below(5) > 0 ? std::optional(random.below(40)) : std::nullopt);
    Counts before(pages.size());
    for (std::uint64_t frames = 1; frames < 200; ++frames) {
      const Counts got = shares(frames, pages);
      std::uint64_t used = 0;
      std::uint64_t largest = 0;
      for (std::size_t i = 0; i < pages.size(); ++i) {
        used += got[i];
        if (pages[i]) largest = std::max(largest, got[i]);
      }
      ASSERT_LE(used, frames);
      for (std::size_t i = 0; i < pages.size(); ++i) {
        EXPECT_GE(got[i], before[i]) << "with " << frames << " frames";
        EXPECT_LE(got[i], pages[i].value_or(frames));
        if (pages[i] && got[i] < *pages[i]) {
          EXPECT_GE(got[i] + 1, largest);
        }
        if (frames >= pages.size()) {
          EXPECT_GE(got[i], std::min<std::uint64_t>(1, pages[i].value_or(1)));
        }
      }
      before = got;
    }
  }
}

TEST(ShareOut, TheUnknownShareWhatTheOthersLeave) {
  EXPECT_EQ(shares(100, {std::nullopt}), (Counts{100}));
  EXPECT_EQ(shares(100, {std::nullopt, 40, std::nullopt}), (Counts{30, 40, 30}));
  EXPECT_EQ(shares(100, {std::nullopt, 100}), (Counts{1, 99}));
  EXPECT_EQ(shares(100, {std::nullopt, 300, 300}), (Counts{1, 50, 49}));
}

// Each prefers a node of its own: 100 pages fit into the first one's 100 frames, of the other's 150 pages 50
// spill over into what is left of it, which is nothing, and then into the third.
TEST(ShareOut, WhoSpillsOverTakesWhatOthersLeave) {
  std::vector<NumaNode> nodes(3);
  for (std::size_t i = 0; i < 3; ++i) nodes[i].memories = {std::string(1, static_cast<char>('a' + i))};
  const PlacementRegistry kinds("placement");
  PlacementContext context{nodes, Bytes{kSharedPage}, kinds};
  PreferredPlacement first({.nodes = {"a"}, .limit = {}}, context);
  PreferredPlacement second({.nodes = {"b"}, .limit = {}}, context);
  BindPlacement bound({.nodes = {"c"}}, context);
  const std::vector<std::size_t> all{0, 1, 2};
  const std::vector<PlacedProgram> programs{{&first, PageRuns{{0, 100}}, all},
                                            {&second, PageRuns{{7, 150}}, all},
                                            {&bound, PageRuns{{0, 30}}, all}};
  const auto got = share_out({100, 100, 100}, programs);
  EXPECT_EQ(got[0], (Counts{100, 0, 0}));
  EXPECT_EQ(got[1], (Counts{0, 100, 50}));
  EXPECT_EQ(got[2], (Counts{0, 0, 30}));
}

TEST(LayOut, SharesFollowEachOtherAndAreApart) {
  const std::vector<PlacedProgram> programs{{nullptr, {}, {0, 1}}, {nullptr, {}, {1}}, {nullptr, {}, {0}}};
  const std::vector<Counts> counts{{8, 1}, {0, 4}, {4, 0}};
  const auto laid = lay_out(programs, counts);
  const auto is = [&](std::size_t program, std::size_t node, std::uint64_t first, std::uint64_t count) {
    return laid[program][node].first == first && laid[program][node].count == count;
  };
  ASSERT_EQ(laid[0].size(), 2U);
  EXPECT_TRUE(is(0, 0, 0, 8));
  EXPECT_TRUE(is(0, 1, 0, 1));
  ASSERT_EQ(laid[1].size(), 1U);
  EXPECT_TRUE(is(1, 0, 1, 4));
  EXPECT_TRUE(is(2, 0, 8, 4));
}

/// These addresses, one access after the other.
class ListedTouches final : public AccessStream {
 public:
  explicit ListedTouches(std::vector<std::uint64_t> addresses) : addresses_(std::move(addresses)) {}
  bool next(Access& access) override {
    if (at_ == addresses_.size()) return false;
    access.address = Address{addresses_[at_++]};
    return true;
  }

 private:
  std::vector<std::uint64_t> addresses_;
  std::size_t at_ = 0;
};

TEST(PagesTouched, CountsEachPageOnceInTheOrderOfTouch) {
  const Bytes page{kSharedPage};
  EXPECT_EQ(count_of(pages_in({{Address{0}, 4096}, {Address{4095}, 2}, {Address{1U << 20U}, 8192}}, page)),
            4U);
  EXPECT_EQ(count_of(pages_in({{Address{~std::uint64_t{0}}, 64}}, page)), 1U);
  EXPECT_EQ(count_of(pages_in({{Address{0}, 1U << 21U}}, Bytes{1U << 21U})), 1U);
  for (const auto& [accesses, pages] : {std::pair{0U, 0U}, {3U, 1U}, {4U, 2U}, {5U, 3U}, {100U, 3U}}) {
    ListedTouches stream({0, 4032, 64, 4090, 1U << 30U});
    EXPECT_EQ(count_of(pages_touched(stream, accesses, page)), pages) << accesses;
  }
  ListedTouches stream({0x9000, 0x8000, 0x9000, 0x1000, 0x2000});
  const PageRuns runs = pages_touched(stream, 100, page);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].first, 9U);
  EXPECT_EQ(runs[1].first, 8U);
  EXPECT_EQ(runs[2].first, 1U);
  EXPECT_EQ(runs[2].count, 2U);
}

}  // namespace
}  // namespace cxloom
