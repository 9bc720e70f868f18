// Which slots of a tag array may not be emptied for now, because their lines are busy with a transaction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/zeroed_array.hpp"
#include "tags/slot.hpp"

namespace cxloom {

/// A bit for each slot and a count for each set. One made without sets, as most caches have it, has no pins
/// and takes no memory.
class SlotPins {
 public:
  SlotPins() = default;
  SlotPins(std::uint32_t sets, std::uint32_t ways)
      : words_((std::size_t{sets} * ways + kBits - 1) / kBits), in_set_(sets) {}

  /// What one takes of memory.
  static std::uint64_t bytes(std::uint64_t sets, std::uint64_t slots) {
    return (slots + kBits - 1) / kBits * sizeof(std::uint64_t) + sets * sizeof(std::uint32_t);
  }

  bool pinned(Slot slot) const { return pins_ != 0 && (words_[slot / kBits] & bit(slot)) != 0; }
  /// How many slots of a set are pinned.
  std::uint32_t in(std::uint32_t set) const { return pins_ == 0 ? 0 : in_set_[set]; }

  /// The slot must not be pinned.
  void pin(std::uint32_t set, Slot slot) {
    words_[slot / kBits] |= bit(slot);
    ++in_set_[set];
    ++pins_;
  }
  /// The slot must be pinned.
  void unpin(std::uint32_t set, Slot slot) {
    words_[slot / kBits] &= ~bit(slot);
    --in_set_[set];
    --pins_;
  }

 private:
  static constexpr std::uint32_t kBits = 64;
  static std::uint64_t bit(Slot slot) { return std::uint64_t{1} << (slot % kBits); }

  ZeroedArray<std::uint64_t> words_;  // by slot
  ZeroedArray<std::uint32_t> in_set_;
  std::uint32_t pins_ = 0;
};

}  // namespace cxloom
