// Finds the slot of a line in a tag array with many ways.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/prefetch.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "base/zeroed_array.hpp"
#include "tags/slot.hpp"

namespace cxloom {

/// A hash table of fixed size, half full at most: open addressing, linear probing. A cell is four bytes, as a
/// large table is looked at all over: the slot, and in the bits that slots leave free some of the line's
/// hash. The line itself is in the array's tags, which are looked at where these agree.
class SlotIndex {
 public:
  SlotIndex() = default;
  explicit SlotIndex(std::uint32_t capacity)
      : slot_bits_(static_cast<std::uint32_t>((std::uint64_t{1} << std::bit_width(capacity)) - 1)),
        cells_(std::size_t{capacity} * kCellsOfSlot) {}

  /// What one of so many slots takes of memory.
  static std::uint64_t bytes(std::uint64_t capacity) {
    return capacity * kCellsOfSlot * sizeof(std::uint32_t);
  }

  /// The slot of a line, or kNoSlot. `tags` are the array's tags by slot, `tag` is the line's.
  Slot find(LineAddress line, const std::uint64_t* tags, std::uint64_t tag) const {
    const std::uint64_t hash = hash_of(line);
    for (std::size_t at = home(hash); cells_[at] != 0; at = next(at)) {
      if (agrees(cells_[at], hash) && tags[slot_in(cells_[at])] == tag) return slot_in(cells_[at]);
    }
    return kNoSlot;
  }
  /// Asks memory for the cell that `find` will look at first.
  [[gnu::always_inline]] void foresee(LineAddress line) const {
    prefetch(cells_.data() + home(hash_of(line)));
  }
  /// The slot that a line most likely has, whose tag is not looked at; kNoSlot: it has none.
  Slot likely(LineAddress line) const {
    const std::uint64_t hash = hash_of(line);
    for (std::size_t at = home(hash); cells_[at] != 0; at = next(at)) {
      if (agrees(cells_[at], hash)) return slot_in(cells_[at]);
    }
    return kNoSlot;
  }
  /// The line must be absent.
  void insert(LineAddress line, Slot slot) {
    const std::uint64_t hash = hash_of(line);
    std::size_t at = home(hash);
    while (cells_[at] != 0) at = next(at);
    cells_[at] = cell(hash, slot);
  }
  /// The line must be present, in this slot. `line_of(slot)` is the line of a slot.
  template <class LineOf>
  void erase(LineAddress line, Slot slot, LineOf&& line_of) {
    const std::uint64_t hash = hash_of(line);
    std::size_t hole = home(hash);
    while (cells_[hole] != cell(hash, slot)) hole = next(hole);
    // Closes the gap: a later cell of the run moves into the hole if that is no further from its home.
    for (std::size_t at = next(hole); cells_[at] != 0; at = next(at)) {
      const std::size_t own = home(hash_of(line_of(slot_in(cells_[at]))));
      if (distance(own, at) >= distance(hole, at)) {
        cells_[hole] = cells_[at];
        hole = at;
      }
    }
    cells_[hole] = 0;
  }

 private:
  static constexpr std::uint64_t kCellsOfSlot = 2;

  static std::uint64_t hash_of(LineAddress line) { return mix_bits(line.number()); }
  // Never zero, which is an empty one.
  std::uint32_t cell(std::uint64_t hash, Slot slot) const {
    return (static_cast<std::uint32_t>(hash) & ~slot_bits_) | (slot + 1);
  }
  bool agrees(std::uint32_t cell, std::uint64_t hash) const {
    return ((cell ^ static_cast<std::uint32_t>(hash)) & ~slot_bits_) == 0;
  }
  Slot slot_in(std::uint32_t cell) const { return (cell & slot_bits_) - 1; }

  // A cell as far into the table as the upper half of the hash is into its range, so that any size will do.
  std::size_t home(std::uint64_t hash) const { return ((hash >> 32U) * cells_.size()) >> 32U; }
  std::size_t next(std::size_t at) const { return at + 1 == cells_.size() ? 0 : at + 1; }
  std::size_t distance(std::size_t from, std::size_t to) const {
    return to >= from ? to - from : to + cells_.size() - from;
  }

  std::uint32_t slot_bits_ = 0;  // of a cell, those of the slot and one
  ZeroedArray<std::uint32_t> cells_;
};

}  // namespace cxloom
