// Pseudo-LRU by a tree of bits: the usual approximation of LRU in hardware.
#pragma once

#include <bit>
#include <cstddef>

#include "base/error.hpp"
#include "base/schema.hpp"
#include "base/zeroed_array.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

/// A set has a binary tree over its ways; each inner node has a bit that points away from the half that was
/// used last. The victim is where the bits lead; a half of pinned lines alone is passed by.
class TreePlruVictims final : public VictimPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc(
          "Pseudo-LRU: a binary tree of bits over the ways, each pointing away from the half used last, "
          "leads to the line that leaves. The number of ways must be a power of two.");
    }
  };
  TreePlruVictims(const Params& /*params*/, const VictimContext& context)
      : ways_(context.ways), right_(std::size_t{context.sets} * context.ways) {
    if (!std::has_single_bit(ways_)) {
      throw InputError(
          {"tree-plru needs a number of ways that is a power of two", std::to_string(ways_), {}, {}});
    }
  }

  bool listens() const override { return true; }
  void inserted(std::uint32_t set, Slot slot, LineAddress /*line*/, const TagArray& /*tags*/) override {
    used(set, slot);
  }
  void used(std::uint32_t set, Slot slot) override {
    const std::size_t tree = std::size_t{set} * ways_;
    // Nodes as in a heap: 1 is the root, the children of n are 2n and 2n + 1, and the ways follow the nodes.
    for (std::uint32_t node = ways_ + slot % ways_; node > 1; node /= 2)
      right_[tree + node / 2] = node % 2 == 0;
  }
  Slot victim(std::uint32_t set, const SlotOrder& /*order*/, const SlotPins& pins) override {
    const std::size_t tree = std::size_t{set} * ways_;
    const bool free = pins.in(set) == 0;
    std::uint32_t node = 1;
    while (node < ways_) {
      node = 2 * node + (right_[tree + node] ? 1U : 0U);
      if (!free && all_pinned(set, node, pins)) node ^= 1U;  // to the other half
    }
    return set * ways_ + (node - ways_);
  }

 private:
  // Whether all ways below a node are pinned. Takes a step for each pin that it meets, and one.
  bool all_pinned(std::uint32_t set, std::uint32_t node, const SlotPins& pins) const {
    std::uint32_t ways = 1;
    for (; node < ways_; node *= 2) ways *= 2;
    const Slot begin = set * ways_ + (node - ways_);
    Slot slot = begin;
    while (slot != begin + ways && pins.pinned(slot)) ++slot;
    return slot == begin + ways;
  }

  std::uint32_t ways_;
  ZeroedArray<bool> right_;  // by set and node: whether the victim is in the right half
};

}  // namespace cxloom
