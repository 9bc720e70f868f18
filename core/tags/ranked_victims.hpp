// Victim policies whose lines have ranks, of which a tournament finds the winner.
#pragma once

#include <cstdint>

#include "tags/slot_tournament.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

/// What they have in common: a line is in the tournament while it is there and not pinned, and its winner
/// leaves. The subclass says which rank a line has.
class RankedVictims : public VictimPolicy {
 public:
  bool listens() const final { return true; }
  void freed(std::uint32_t set, Slot slot, LineAddress /*line*/, const TagArray& /*tags*/) final {
    slots_.leave(set, slot);
  }
  void pinned(std::uint32_t set, Slot slot) final { slots_.put_aside(set, slot); }
  void unpinned(std::uint32_t set, Slot slot) final { slots_.bring_back(set, slot); }
  Slot victim(std::uint32_t set, const SlotOrder& /*order*/, const SlotPins& /*pins*/) final {
    return slots_.winner(set);
  }

 protected:
  explicit RankedVictims(const VictimContext& context) : slots_(context.sets, context.ways) {}
  SlotTournament& slots() { return slots_; }

 private:
  SlotTournament slots_;
};

}  // namespace cxloom
