#include "system/epochs/page_demand.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "system/epochs/fault_calendar.hpp"

namespace cxloom {
namespace {

constexpr std::uint64_t kPage = 4096;

PageDemand::ThreadPart part_of(std::uint64_t first, std::uint64_t pages, double share = 1.0,
                               DemandPart::Order order = DemandPart::Order::kDrawn) {
  DemandPart part;
  part.range = {Address{first * kPage}, pages * kPage};
  part.share = share;
  part.order = order;
  return {.demand = part, .thread = {}};
}

PageDemand in_turn(std::uint64_t pages) {
  return PageDemand({{.requests = 1U << 30U, .parts = {part_of(0, pages, 1.0, DemandPart::Order::kInTurn)}}},
                    {{0, pages}}, Bytes{kPage});
}

// 64 blocks of a page: page p is accessed by those of number 64 p to 64 p + 63, and again a pass later.
TEST(PageDemand, KnowsWhenBlocksInTurnComeToAPage) {
  const PageDemand demand = in_turn(16);
  RandomStream random(1, "test", "draws");
  EXPECT_EQ(demand.next(0, 0, random), 0);
  EXPECT_EQ(demand.next(3, 0, random), 192);
  EXPECT_EQ(demand.next(3, 192, random), 192);
  EXPECT_EQ(demand.next(3, 255, random), 255);
  EXPECT_EQ(demand.next(3, 256, random), 1024 + 192);
  EXPECT_EQ(demand.next(0, 1000, random), 1024);
  EXPECT_FALSE(demand.visited(3, 0, 192, random));
  EXPECT_TRUE(demand.visited(3, 0, 193, random));
  EXPECT_FALSE(demand.visited(3, 256, 1216, random));
  EXPECT_TRUE(demand.visited(3, 255, 256, random));
  EXPECT_FALSE(demand.visited(3, 255, 255, random));
}

// One of two parts makes every second access.
TEST(PageDemand, GivesAPartItsShareOfTheAccesses) {
  const PageDemand demand({{.requests = 1U << 30U,
                            .parts = {part_of(0, 4, 0.5, DemandPart::Order::kInTurn), part_of(4, 4, 0.5)}}},
                          {{0, 8}}, Bytes{kPage});
  RandomStream random(1, "test", "draws");
  EXPECT_EQ(demand.next(1, 0, random), 128);
  EXPECT_DOUBLE_EQ(demand.share(0, 1), 0.125);
  EXPECT_DOUBLE_EQ(demand.share(0, 5), 0.125);
  EXPECT_DOUBLE_EQ(demand.drawn_share(0, 1), 0);
  EXPECT_DOUBLE_EQ(demand.expected(5, 100, 180), 10);
}

// The number of the next access to one of n pages is geometric: its mean is n - 1, and it is 0 with 1/n.
TEST(PageDemand, DrawsTheNextAccessToAPage) {
  const std::uint64_t pages = 16;
  const PageDemand demand({{.requests = 1U << 30U, .parts = {part_of(0, pages)}}}, {{0, pages}},
                          Bytes{kPage});
  RandomStream random(1, "test", "draws");
  constexpr int kDraws = 100'000;
  double sum = 0;
  int at_once = 0;
  int seen = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double next = demand.next(5, 1000, random) - 1000;
    ASSERT_GE(next, 0);
    ASSERT_EQ(next, std::floor(next));
    sum += next;
    at_once += next == 0 ? 1 : 0;
    seen += demand.visited(5, 1000, 1010, random) ? 1 : 0;
  }
  // Three standard deviations of each: 15.5, sqrt(p (1 - p)) draws.
  EXPECT_NEAR(sum / kDraws, 15, 3 * 15.5 / std::sqrt(kDraws));
  EXPECT_NEAR(at_once / double{kDraws}, 1.0 / 16, 3 * 0.242 / std::sqrt(kDraws));
  EXPECT_NEAR(seen / double{kDraws}, 1 - std::pow(15.0 / 16, 10), 3 * 0.5 / std::sqrt(kDraws));
}

// Two phases of 100 and 300 accesses; pages 0 to 3 are of the first, 4 to 7 of the second.
TEST(PageDemand, FollowsPhases) {
  const PageDemand demand(
      {{.requests = 100, .parts = {part_of(0, 4)}}, {.requests = 300, .parts = {part_of(4, 4)}}}, {{0, 8}},
      Bytes{kPage});
  EXPECT_EQ(demand.phase_at(0), 0U);
  EXPECT_EQ(demand.phase_at(99), 0U);
  EXPECT_EQ(demand.phase_at(100), 1U);
  EXPECT_EQ(demand.phase_at(400), 0U);
  EXPECT_EQ(demand.phase_end(50), 100);
  EXPECT_EQ(demand.phase_end(100), 400);
  EXPECT_EQ(demand.phase_end(450), 500);
  EXPECT_DOUBLE_EQ(demand.expected(0, 0, 800), 50);
  EXPECT_DOUBLE_EQ(demand.expected(5, 350, 850), (50 + 300) / 4.0);
  RandomStream random(1, "test", "draws");
  for (int i = 0; i < 1000; ++i) {
    const double next = demand.next(5, 10, random);
    EXPECT_EQ(demand.phase_at(next), 1U);
    EXPECT_GE(next, 100);
    EXPECT_FALSE(demand.visited(5, 0, 100, random));
    EXPECT_FALSE(demand.visited(0, 100, 400, random));
  }
}

// A page in which one hot and 63 cold blocks lie has the weights of both.
TEST(PageDemand, WeighsPagesByTheirBlocks) {
  PageDemand::ThreadPart hot = part_of(0, 1, 0.9);
  hot.demand.range.bytes = 64;
  PageDemand::ThreadPart cold = part_of(0, 2, 0.1);
  cold.demand.range = {Address{64}, 2 * kPage - 64};
  const PageDemand demand({{.requests = 100, .parts = {hot, cold}}}, {{0, 2}}, Bytes{kPage});
  EXPECT_DOUBLE_EQ(demand.share(0, 0), 0.9 + 0.1 * 63 / 127);
  EXPECT_DOUBLE_EQ(demand.share(0, 1), 0.1 * 64 / 127);
}

// All ranks are weighed: the weights of 2 pages with 128 blocks, rank k at (k - 1) 5 mod 128.
TEST(PageDemand, WeighsRanks) {
  PageDemand::ThreadPart part = part_of(0, 2);
  part.demand.exponent = 0.99;
  part.demand.scatter = 5;
  const PageDemand demand({{.requests = 100, .parts = {part}}}, {{0, 2}}, Bytes{kPage});
  double first = 0;
  double all = 0;
  for (int rank = 1; rank <= 128; ++rank) {
    const double weight = std::pow(rank, -0.99);
    all += weight;
    if ((rank - 1) * 5 % 128 < 64) first += weight;
  }
  EXPECT_NEAR(demand.share(0, 0), first / all, 1e-6);
  EXPECT_NEAR(demand.share(0, 1), 1 - first / all, 1e-6);
}

TEST(PageDemand, SaysWhereASweepIs) {
  const auto sweeps = in_turn(16).sweeps(0, 1024 + 130, 200);
  ASSERT_EQ(sweeps.size(), 1U);
  EXPECT_EQ(sweeps[0].at, 2U);
  EXPECT_EQ(sweeps[0].ahead, 4U);
  EXPECT_EQ(sweeps[0].pages, 16U);
}

// Whatever the order in which pages are added, and however far ahead they are due.
TEST(FaultCalendar, GivesPagesInTheOrderOfTheirAccesses) {
  FaultCalendar calendar(10);
  RandomStream random(1, "test", "calendar");
  constexpr std::uint32_t kPages = 2000;
  std::vector<double> due;
  for (std::uint32_t page = 0; page < kPages; ++page) {
    due.push_back(static_cast<double>(random.below(100'000)));
    calendar.add({due.back(), page});
  }
  double before = 0;
  std::uint32_t seen = 0;
  for (double end = 0; end < 100'000; end = calendar.end(), calendar.turn()) {
    while (const auto first = calendar.first()) {
      EXPECT_GE(first->accesses, before);
      EXPECT_NEAR(first->accesses, due[first->page], 1e-6);
      before = first->accesses;
      calendar.drop_first();
      ++seen;
    }
  }
  EXPECT_EQ(seen, kPages);
}

TEST(FaultCalendar, TakesPagesThatAreDueAtOnce) {
  FaultCalendar calendar(10);
  calendar.add({5, 1});
  calendar.add({3, 2});
  EXPECT_EQ(calendar.first()->page, 2U);
  calendar.drop_first();
  calendar.add({4, 3});
  EXPECT_EQ(calendar.first()->page, 3U);
  calendar.drop_first();
  EXPECT_EQ(calendar.first()->page, 1U);
  calendar.drop_first();
  EXPECT_FALSE(calendar.first());
}

}  // namespace
}  // namespace cxloom
