// Finds the slot of a line in a large set: a hash table of fixed size, open addressing, linear probing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/random.hpp"
#include "base/units.hpp"
#include "base/zeroed_array.hpp"
#include "tags/slot_order.hpp"

namespace cxloom {

/// Holds up to `capacity` lines and never allocates after construction. At most half full, so that probes stay short.
class LineIndex {
 public:
  LineIndex() = default;
  explicit LineIndex(std::uint32_t capacity)
      : cells_(std::bit_ceil(std::size_t{capacity} * 2)), mask_(cells_.size() - 1) {}

  /// What one of so many lines takes of memory.
  static std::uint64_t bytes(std::uint64_t capacity) { return std::bit_ceil(capacity * 2) * sizeof(Cell); }

  Slot find(LineAddress line) const {
    const std::uint64_t key = key_of(line);
    for (std::size_t at = home(key);; at = (at + 1) & mask_) {
      if (cells_[at].key == key) return cells_[at].slot;
      if (cells_[at].key == kEmpty) return kNoSlot;
    }
  }
  /// The line must be absent.
  void insert(LineAddress line, Slot slot) {
    const std::uint64_t key = key_of(line);
    std::size_t at = home(key);
    while (cells_[at].key != kEmpty) at = (at + 1) & mask_;
    cells_[at] = {key, slot};
  }
  /// The line must be present.
  void erase(LineAddress line) {
    const std::uint64_t key = key_of(line);
    std::size_t hole = home(key);
    while (cells_[hole].key != key) hole = (hole + 1) & mask_;
    // Closes the gap: a later cell of the run moves into the hole if that is no further from its home.
    for (std::size_t at = (hole + 1) & mask_; cells_[at].key != kEmpty; at = (at + 1) & mask_) {
      const std::size_t from_home = (at - home(cells_[at].key)) & mask_;
      const std::size_t from_hole = (at - hole) & mask_;
      if (from_home >= from_hole) {
        cells_[hole] = cells_[at];
        hole = at;
      }
    }
    cells_[hole] = {kEmpty, 0};
  }

 private:
  static constexpr std::uint64_t kEmpty = 0;
  struct Cell {
    std::uint64_t key;
    Slot slot;
  };

  static std::uint64_t key_of(LineAddress line) { return line.number() + 1; }
  std::size_t home(std::uint64_t key) const { return static_cast<std::size_t>(mix_bits(key)) & mask_; }

  ZeroedArray<Cell> cells_;
  std::size_t mask_ = 0;
};

}  // namespace cxloom
