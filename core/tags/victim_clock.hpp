// A hand goes round the set and gives lines that were used a second chance: CLOCK (Corbato, "A Paging
// Experiment with the Multics System", 1968), which approximates LRU with a bit for each line.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/schema.hpp"
#include "base/zeroed_array.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

/// The bit of a line is set when it is used again. The hand clears bits until it comes to a line whose bit is
/// not set: that leaves. Pinned lines are passed over.
class ClockVictims final : public VictimPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc(
          "A hand goes round the set: a line that was used since it came by last has a second chance, the "
          "first one that was not leaves.");
    }
  };
  ClockVictims(const Params& /*params*/, const VictimContext& context)
      : ways_(context.ways), used_(std::size_t{context.sets} * context.ways), hand_(context.sets) {}

  bool listens() const override { return true; }
  void inserted(std::uint32_t set, Slot slot, LineAddress /*line*/, const TagArray& /*tags*/) override {
    used_[slot] = false;
    // Into the place of the victim: the hand goes on behind it.
    const std::uint32_t way = slot - set * ways_;
    if (way == hand_[set]) advance(set);
  }
  void used(std::uint32_t /*set*/, Slot slot) override { used_[slot] = true; }
  Slot victim(std::uint32_t set, const SlotOrder& /*order*/, const SlotPins& pins) override {
    for (;; advance(set)) {
      const Slot slot = set * ways_ + hand_[set];
      if (pins.pinned(slot)) continue;
      if (!used_[slot]) return slot;
      used_[slot] = false;
    }
  }

 private:
  void advance(std::uint32_t set) { hand_[set] = hand_[set] + 1 == ways_ ? 0 : hand_[set] + 1; }

  std::uint32_t ways_;
  ZeroedArray<bool> used_;           // by slot
  ZeroedArray<std::uint32_t> hand_;  // by set: the way that it points at
};

}  // namespace cxloom
