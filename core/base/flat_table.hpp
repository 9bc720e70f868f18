// A hash table in one array: open addressing, linear probing, never more than half full, so that probes stay
// short.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace cxloom {

/// A cell has `std::uint64_t key() const`, which is zero exactly in empty cells. Cells move with every change
/// of the table.
template <class Cell, class Cells = std::vector<Cell>>
class FlatTable {
 public:
  /// Grows with its contents, and never shrinks.
  FlatTable() = default;
  /// Has room for so many cells from the start.
  explicit FlatTable(std::size_t capacity) : cells_(size_for(capacity)) {}

  /// How long the array is for so many cells.
  static std::size_t size_for(std::size_t capacity) { return std::bit_ceil(capacity * 2); }

  std::size_t used() const { return used_; }
  /// Null if there is none with that key.
  const Cell* find(std::uint64_t key) const {
    const Cell& cell = cells_[locate(key)];
    return cell.key() == key ? &cell : nullptr;
  }
  /// The cell of a key, which must be there.
  Cell& at(std::uint64_t key) { return cells_[locate(key)]; }
  /// The cell of a key. If there was none it is an empty one, to be filled before anything else is done.
  Cell& place(std::uint64_t key) {
    if ((used_ + 1) * 2 > cells_.size()) grow();
    Cell& cell = cells_[locate(key)];
    if (cell.key() == 0) ++used_;
    return cell;
  }
  /// Takes out the cell of a key, which must be there.
  void erase(std::uint64_t key) {
    std::size_t hole = locate(key);
    --used_;
    // Closes the gap: a later cell of the run moves into the hole if that is no further from its home.
    for (std::size_t at = (hole + 1) & mask(); cells_[at].key() != 0; at = (at + 1) & mask()) {
      const std::size_t from_home = (at - home(cells_[at].key())) & mask();
      const std::size_t from_hole = (at - hole) & mask();
      if (from_home >= from_hole) {
        cells_[hole] = cells_[at];
        hole = at;
      }
    }
    cells_[hole] = {};
  }

 private:
  static constexpr std::size_t kSmallest = 64;

  std::size_t mask() const { return cells_.size() - 1; }
  std::size_t home(std::uint64_t key) const { return static_cast<std::size_t>(mix_bits(key)) & mask(); }
  std::size_t locate(std::uint64_t key) const {
    std::size_t at = home(key);
    while (cells_[at].key() != key && cells_[at].key() != 0) at = (at + 1) & mask();
    return at;
  }
  void grow() {
    Cells before(std::max(kSmallest, cells_.size() * 2));
    std::swap(before, cells_);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i].key() != 0) cells_[locate(before[i].key())] = before[i];
    }
  }

  Cells cells_ = Cells(1);
  std::size_t used_ = 0;
};

}  // namespace cxloom
