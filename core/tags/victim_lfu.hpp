// The line used least often leaves (LFU).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/schema.hpp"
#include "tags/slot_tournament.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

/// Counts the uses of each line since it came. Of lines used equally often the one used longest ago leaves.
class LfuVictims final : public VictimPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc(
          "The line used least often since it came leaves; of those used equally often the one used longest "
          "ago.");
    }
  };
  LfuVictims(const Params& /*params*/, const VictimContext& context) : slots_(context.sets, context.ways) {}

  bool listens() const override { return true; }
  void inserted(std::uint32_t set, Slot slot, LineAddress /*line*/, const TagArray& /*tags*/) override {
    enter(set, slot, 0);
  }
  void used(std::uint32_t set, Slot slot) override {
    enter(set, slot, SlotTournament::kHighestRank - slots_.rank(set, slot) + 1);
  }
  void freed(std::uint32_t set, Slot slot, LineAddress /*line*/, const TagArray& /*tags*/) override {
    slots_.leave(set, slot);
  }
  void pinned(std::uint32_t set, Slot slot) override { slots_.put_aside(set, slot); }
  void unpinned(std::uint32_t set, Slot slot) override { slots_.bring_back(set, slot); }
  Slot victim(std::uint32_t set, const SlotOrder& /*order*/, const SlotPins& /*pins*/) override {
    return slots_.winner(set);
  }

 private:
  void enter(std::uint32_t set, Slot slot, std::uint32_t uses) {
    const std::uint32_t counted = std::min(uses, SlotTournament::kHighestRank);
    slots_.enter(set, slot, SlotTournament::kHighestRank - counted, SlotTournament::kHighestTurn - ++events_);
  }

  std::uint64_t events_ = 0;  // insertions and uses, so far
  SlotTournament slots_;
};

}  // namespace cxloom
