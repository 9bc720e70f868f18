// The lists of what banks need next: the choice of any of them against a search of all.

#include "memory/dram/controller/ready.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "base/random.hpp"

namespace cxloom {
namespace {

constexpr std::uint32_t kBanks = 16;  // of two ranks, in groups of four
constexpr std::uint32_t kRanks = 2;
constexpr std::array kSteps{DramStep::kActivate, DramStep::kColumn, DramStep::kPrecharge};

struct Waiting {
  DramStep step = DramStep::kNothing;
  DramRank key = 0;
  Clock own = 0;
};

class ReadyLists : public ::testing::Test {
 protected:
  /// Puts a bank that waits into its list, or takes it out.
  void change(std::uint32_t bank, std::optional<Waiting> waiting) {
    lists.remove(bank);
    waits[bank] = waiting;
    if (!waiting) return;
    const DramRank rank = dram_rank(waiting->key, waiting->step);
    lists.add(bank, bank / (kBanks / kRanks), rank, bank, waiting->own, groups[bank / 4]);
  }
  DramChoice searched(std::uint32_t rank, DramStep step, Clock earliest, DramChoice best) const {
    for (std::uint32_t bank = 0; bank < kBanks; ++bank) {
      const auto& waiting = waits[bank];
      if (!waiting || waiting->step != step || bank / (kBanks / kRanks) != rank) continue;
      const Clock at = std::max({earliest, waiting->own, groups[bank / 4]});
      const DramChoice choice{at, step, false, bank, dram_rank(waiting->key, step)};
      if (choice.before(best)) best = choice;
    }
    return best;
  }
  DramChoice offered(std::uint32_t rank, DramStep step, Clock earliest, DramChoice best) const {
    lists.offer_first(rank, step, earliest, best);
    return best;
  }

  DramReadyLists lists{kBanks, kRanks};
  std::array<std::optional<Waiting>, kBanks> waits;
  std::array<Clock, kBanks / 4> groups{};
};

TEST_F(ReadyLists, OfferWhatASearchFindsWhateverComesAndGoes) {
  RandomStream random(1, "ready", "test");
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const auto bank = static_cast<std::uint32_t>(random.below(kBanks));
    if (random.below(3) == 0) {
      change(bank, std::nullopt);
    } else {
      const auto priority = static_cast<std::uint16_t>(random.below(2));
      const DramRank key = dram_key(priority, random.below(1'000) * kBanks + bank);  // no two are equal
      change(bank, Waiting{kSteps[random.below(3)], key, static_cast<Clock>(random.below(40))});
    }
    groups[random.below(groups.size())] = static_cast<Clock>(random.below(50));
    const auto rank = static_cast<std::uint32_t>(random.below(kRanks));
    const DramStep step = kSteps[random.below(3)];
    const auto earliest = static_cast<Clock>(random.below(40));
    DramChoice best;
    if (random.below(2) == 0) {  // something else may go out too
      best = {static_cast<Clock>(random.below(50)), DramStep::kTimeout, false, kBanks,
              dram_rank(dram_key(0, random.below(16'000)), kSteps[random.below(3)])};
    }
    const DramChoice found = offered(rank, step, earliest, best);
    const DramChoice wanted = searched(rank, step, earliest, best);
    ASSERT_EQ(found.at, wanted.at);
    ASSERT_EQ(found.target, wanted.target);
    ASSERT_EQ(found.step, wanted.step);
    ASSERT_EQ(found.rank, wanted.rank);
  }
}

TEST_F(ReadyLists, ABankThatIsTakenOutIsOfferedNoMore) {
  change(3, Waiting{DramStep::kColumn, dram_key(0, 1), 10});
  EXPECT_FALSE(lists.empty(0, DramStep::kColumn));
  EXPECT_TRUE(lists.empty(1, DramStep::kColumn));
  const DramRank rank = dram_rank(dram_key(0, 1), DramStep::kColumn);
  EXPECT_TRUE(lists.holds(3, rank, 10));
  EXPECT_FALSE(lists.holds(3, rank, 11));
  EXPECT_EQ(lists.rank(3), rank);
  EXPECT_EQ(offered(0, DramStep::kColumn, 4, {}).at, 10);
  EXPECT_EQ(offered(0, DramStep::kColumn, 14, {}).at, 14);
  groups[0] = 20;  // its group has to wait longer
  EXPECT_EQ(offered(0, DramStep::kColumn, 14, {}).at, 20);
  EXPECT_EQ(lists.at(3, 14), 20);
  change(3, std::nullopt);
  EXPECT_EQ(lists.rank(3), DramReadyLists::kNone);
  EXPECT_TRUE(lists.empty(0, DramStep::kColumn));
  EXPECT_EQ(offered(0, DramStep::kColumn, 4, {}).step, DramStep::kNothing);
}

}  // namespace
}  // namespace cxloom
