// The lines of a cache outside: what it may hold, and what it has given up.
#pragma once

#include <cstdint>

#include "base/flat_table.hpp"
#include "base/units.hpp"
#include "tags/cache_array.hpp"

namespace cxloom {

/// The rights to lines that homes have granted and not taken back: at least what the cache holds. Invalid,
/// shared, or clean (exclusive), which may have become modified unseen.
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

/// Lines that the outside has given up, whose write-backs have not come to the agent yet: the requester's
/// queue may be full.
class LeavingLines {
 public:
  /// The write-back of a line is given: it comes some time.
  void add(LineAddress line) {
    Cell& cell = table_.place(key_of(line));
    cell.line = key_of(line);
    ++cell.coming;
  }
  /// It has come. Whether its data have been taken before.
  bool came(LineAddress line) {
    Cell& cell = table_.at(key_of(line));
    const bool taken = cell.taken > 0;
    if (taken) --cell.taken;
    if (--cell.coming == 0) table_.erase(key_of(line));
    return taken;
  }
  /// The data of the first that is coming are needed now, for a snoop. False: none is coming whose data are
  /// there.
  bool take(LineAddress line) {
    if (!table_.find(key_of(line))) return false;
    Cell& cell = table_.at(key_of(line));
    if (cell.taken == cell.coming) return false;
    ++cell.taken;
    return true;
  }

 private:
  struct Cell {
    std::uint64_t line = 0;  // 0: empty
    std::uint32_t coming = 0;
    std::uint32_t taken = 0;  // of these

    std::uint64_t key() const { return line; }
  };
  static std::uint64_t key_of(LineAddress line) { return line.number() + 1; }

  FlatTable<Cell> table_;
};

}  // namespace cxloom
