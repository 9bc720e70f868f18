// The line used least often leaves (LFU).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/schema.hpp"
#include "tags/ranked_victims.hpp"
#include "tags/slot_tournament.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

/// Counts the uses of each line since it came. Of lines used equally often the one used longest ago leaves.
class LfuVictims final : public RankedVictims {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc(
          "The line used least often since it came leaves; of those used equally often the one used longest "
          "ago.");
    }
  };
  LfuVictims(const Params& /*params*/, const VictimContext& context) : RankedVictims(context) {}

  void inserted(std::uint32_t set, Slot slot, LineAddress /*line*/, const TagArray& /*tags*/) override {
    enter(set, slot, 0);
  }
  void used(std::uint32_t set, Slot slot) override {
    enter(set, slot, SlotTournament::kHighestRank - slots().rank(set, slot) + 1);
  }

 private:
  void enter(std::uint32_t set, Slot slot, std::uint32_t uses) {
    const std::uint32_t counted = std::min(uses, SlotTournament::kHighestRank);
    slots().enter(set, slot, SlotTournament::kHighestRank - counted,
                  SlotTournament::kHighestTurn - ++events_);
  }

  std::uint64_t events_ = 0;  // insertions and uses, so far
};

}  // namespace cxloom
