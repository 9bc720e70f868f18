#include "tags/slot_tournament.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/random.hpp"

namespace cxloom {
namespace {

TEST(SlotTournament, TheWinnerIsTheHighestOfThoseThatTakePart) {
  constexpr std::uint32_t kSets = 3;
  for (const std::uint32_t ways : {1U, 2U, 7U, 8U, 9U, 64U, 65U, 600U}) {
    struct Player {
      std::uint32_t rank;
      std::uint64_t turn;
      bool aside;
    };
    SlotTournament tournament(kSets, ways);
    std::map<Slot, Player> players;
    RandomStream random(5, "test", "tournament");
    std::uint64_t turn = 0;
    for (int i = 0; i < 6000; ++i) {
      const auto set = static_cast<std::uint32_t>(random.below(kSets));
      const auto slot = static_cast<Slot>(set * ways + random.below(ways));
      const auto rank =
          static_cast<std::uint32_t>(random.below(6) == 0 ? SlotTournament::kHighestRank : random.below(5));
      const auto known = players.find(slot);
      const std::uint64_t action = random.below(5);
      if (known == players.end() || action == 0) {
        // Later turns are not always higher ones.
        const std::uint64_t own = ++turn % 2 == 0 ? turn : SlotTournament::kHighestTurn - turn;
        tournament.enter(set, slot, rank, own);
        players[slot] = {rank, own, known != players.end() && known->second.aside};
      } else if (action == 1) {
        tournament.set_rank(set, slot, rank);
        known->second.rank = rank;
      } else if (action == 2 && !known->second.aside) {
        tournament.leave(set, slot);
        players.erase(known);
      } else if (known->second.aside) {
        tournament.bring_back(set, slot);
        known->second.aside = false;
      } else {
        tournament.put_aside(set, slot);
        known->second.aside = true;
      }
      ASSERT_EQ(tournament.rank(set, slot), players.contains(slot) ? players[slot].rank : 0);
      const Player* best = nullptr;
      Slot winner = kNoSlot;
      for (const auto& [each, player] : players) {
        if (each / ways != set || player.aside) continue;
        if (best && std::tie(player.rank, player.turn) < std::tie(best->rank, best->turn)) continue;
        best = &player;
        winner = each;
      }
      if (!best) continue;
      ASSERT_EQ(tournament.winner(set), winner) << ways << " ways, step " << i;
    }
  }
}

}  // namespace
}  // namespace cxloom
