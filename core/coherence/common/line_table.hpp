// Something for each line that has something, such as an entry of a buffer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/flat_table.hpp"
#include "base/units.hpp"

namespace cxloom {

/// Lines to objects; grows with the lines that it has at one time.
template <class T>
class LineTable {
 public:
  /// Null if nothing is under way for the line.
  T* find(LineAddress line) const {
    const Cell* cell = table_.find(key_of(line));
    return cell ? cell->value : nullptr;
  }
  void add(LineAddress line, T& value) { table_.place(key_of(line)) = {key_of(line), &value}; }
  void remove(LineAddress line) { table_.erase(key_of(line)); }
  std::size_t lines() const { return table_.used(); }

 private:
  struct Cell {
    std::uint64_t line = 0;  // 0: empty
    T* value = nullptr;

    std::uint64_t key() const { return line; }
  };

  static std::uint64_t key_of(LineAddress line) { return line.number() + 1; }

  FlatTable<Cell> table_;
};

}  // namespace cxloom
