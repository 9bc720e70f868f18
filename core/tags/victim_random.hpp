// Any line that is not pinned leaves, each with equal chance.
#pragma once

#include "base/schema.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

class RandomVictims final : public VictimPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc("Any line of the set leaves, with equal chance.");
    }
  };
  RandomVictims(const Params& /*params*/, const VictimContext& context)
      : ways_(context.ways), random_(context.random) {}

  Slot victim(std::uint32_t set, const SlotOrder& /*order*/, const SlotPins& pins) override {
    const std::uint32_t pinned = pins.in(set);
    if (pinned > ways_ / 2) return counted(set, random_.below(ways_ - pinned), pins);
    Slot slot = draw(set);
    while (pins.pinned(slot)) slot = draw(set);  // two draws on average, at most
    return slot;
  }

 private:
  Slot draw(std::uint32_t set) { return set * ways_ + static_cast<Slot>(random_.below(ways_)); }
  // The slot with so many before it that are not pinned.
  Slot counted(std::uint32_t set, std::uint64_t before, const SlotPins& pins) const {
    Slot slot = set * ways_;
    while (pins.pinned(slot) || before-- > 0) ++slot;
    return slot;
  }

  std::uint32_t ways_;
  RandomStream random_;
};

}  // namespace cxloom
