// Static re-reference interval prediction (SRRIP, Jaleel et al., ISCA 2010): lines that were used again stay,
// and a scan of lines that nobody wants again does not push them out.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/schema.hpp"
#include "base/zeroed_array.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

/// Each line has a predicted interval until its next use: long for one that has come in, near-immediate for
/// one that was used (hit priority). The first line of the set with a distant interval leaves; while there is
/// none, all intervals grow. Pinned lines age with the others, and do not leave.
class SrripVictims final : public VictimPolicy {
 public:
  struct Params {
    std::uint32_t bits = 2;

    static void describe(Schema<Params>& schema) {
      schema.doc(
          "Static re-reference interval prediction: a line that comes in is taken to be wanted late, one "
          "that was used again soon; the one wanted last leaves.");
      schema.field("bits", &Params::bits)
          .min(1)
          .max(8)
          .doc("Of the interval that is kept for each line; 1 is NRU, not recently used.")
          .source("Jaleel et al., ISCA 2010: 2");
    }
  };
  SrripVictims(const Params& params, const VictimContext& context)
      : ways_(context.ways),
        distant_(static_cast<std::uint8_t>((1U << params.bits) - 1)),
        interval_(std::size_t{context.sets} * context.ways) {}

  bool listens() const override { return true; }
  void inserted(std::uint32_t /*set*/, Slot slot, LineAddress /*line*/, const TagArray& /*tags*/) override {
    interval_[slot] = static_cast<std::uint8_t>(distant_ - 1);
  }
  void used(std::uint32_t /*set*/, Slot slot) override { interval_[slot] = 0; }
  Slot victim(std::uint32_t set, const SlotOrder& /*order*/, const SlotPins& pins) override {
    const Slot begin = set * ways_;
    Slot last = begin;
    if (pins.in(set) == 0) {
      for (Slot slot = begin; slot < begin + ways_; ++slot) {
        if (interval_[slot] > interval_[last]) last = slot;
      }
    } else {
      last = last_unpinned(begin, pins);
    }
    const auto growth = static_cast<std::uint8_t>(distant_ - interval_[last]);
    if (growth == 0) return last;
    for (Slot slot = begin; slot < begin + ways_; ++slot) {
      // Only that of a pinned line may be beyond.
      interval_[slot] = static_cast<std::uint8_t>(std::min<int>(interval_[slot] + growth, distant_));
    }
    return last;
  }

 private:
  Slot last_unpinned(Slot begin, const SlotPins& pins) const {
    Slot last = begin;
    while (pins.pinned(last)) ++last;
    for (Slot slot = last; slot < begin + ways_; ++slot) {
      if (interval_[slot] > interval_[last] && !pins.pinned(slot)) last = slot;
    }
    return last;
  }

  std::uint32_t ways_;
  std::uint8_t distant_;
  ZeroedArray<std::uint8_t> interval_;  // by slot
};

}  // namespace cxloom
