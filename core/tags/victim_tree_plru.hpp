// Pseudo-LRU by a tree of bits: the usual approximation of LRU in hardware.
#pragma once

#include <bit>
#include <cstddef>

#include "base/zeroed_array.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

/// A set has a binary tree over its ways; each inner node has a bit that points away from the half that was used last. The
/// victim is where the bits lead.
class TreePlruVictims final : public VictimPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc(
          "Pseudo-LRU: a binary tree of bits over the ways, each pointing away from the half used last, "
          "leads to the "
          "line that leaves. The number of ways must be a power of two.");
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
  void inserted(std::uint32_t set, Slot slot) override { used(set, slot); }
  void used(std::uint32_t set, Slot slot) override {
    const std::size_t tree = std::size_t{set} * ways_;
    // Nodes as in a heap: 1 is the root, those of node n are 2n and 2n + 1, and the ways follow the nodes.
    for (std::uint32_t node = ways_ + slot % ways_; node > 1; node /= 2)
      right_[tree + node / 2] = node % 2 == 0;
  }
  Slot victim(std::uint32_t set, const SlotOrder& /*order*/) override {
    const std::size_t tree = std::size_t{set} * ways_;
    std::uint32_t node = 1;
    while (node < ways_) node = 2 * node + (right_[tree + node] ? 1U : 0U);
    return set * ways_ + (node - ways_);
  }

 private:
  std::uint32_t ways_;
  ZeroedArray<bool> right_;  // by set and node: whether the victim is in the right half
};

}  // namespace cxloom
