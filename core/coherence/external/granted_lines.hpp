// The rights to lines that homes have granted to a cache, and not taken back: at least what it holds.
#pragma once

#include <cstdint>

#include "base/flat_table.hpp"
#include "base/units.hpp"
#include "tags/cache_array.hpp"

namespace cxloom {

/// Invalid, shared, or clean (exclusive), which may have become modified unseen.
class GrantedLines {
 public:
  LineState of(LineAddress line) const {
    const Cell* const cell = table_.find(key_of(line));
    return cell ? cell->state : LineState::kInvalid;
  }
  void set(LineAddress line, LineState state) {
    if (state != LineState::kInvalid) {
      table_.place(key_of(line)) = {key_of(line), state};
    } else if (table_.find(key_of(line))) {
      table_.erase(key_of(line));
    }
  }

 private:
  struct Cell {
    std::uint64_t line = 0;  // 0: empty
    LineState state = LineState::kInvalid;

    std::uint64_t key() const { return line; }
  };
  static std::uint64_t key_of(LineAddress line) { return line.number() + 1; }

  FlatTable<Cell> table_;
};

}  // namespace cxloom
