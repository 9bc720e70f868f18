// Leads from lines to slots: a hash table of fixed size.
#pragma once

#include <cstdint>

#include "base/flat_table.hpp"
#include "base/units.hpp"
#include "base/zeroed_array.hpp"
#include "tags/slot.hpp"

namespace cxloom {

/// Holds up to `capacity` lines and never allocates after construction.
class LineIndex {
 public:
  LineIndex() = default;
  explicit LineIndex(std::uint32_t capacity) : table_(capacity) {}

  /// What one of so many lines takes of memory.
  static std::uint64_t bytes(std::uint64_t capacity) { return Table::size_for(capacity) * sizeof(Cell); }

  Slot find(LineAddress line) const {
    const Cell* cell = table_.find(key_of(line));
    return cell ? cell->slot : kNoSlot;
  }
  /// The line must be absent.
  void insert(LineAddress line, Slot slot) { table_.place(key_of(line)) = {key_of(line), slot}; }
  /// The line must be present.
  void erase(LineAddress line) { table_.erase(key_of(line)); }

 private:
  struct Cell {
    std::uint64_t line;  // 0: empty
    Slot slot;

    std::uint64_t key() const { return line; }
  };
  using Table = FlatTable<Cell, ZeroedArray<Cell>>;

  static std::uint64_t key_of(LineAddress line) { return line.number() + 1; }

  Table table_;
};

}  // namespace cxloom
