// What is under way for each block of media.
#pragma once

#include <cstdint>

#include "base/flat_table.hpp"

namespace cxloom {

template <class Job>
class BlockTable {
 public:
  /// Null if there is none.
  Job* find(std::uint64_t block) const {
    const Cell* const cell = cells_.find(block + 1);
    return cell ? cell->job : nullptr;
  }
  void put(std::uint64_t block, Job& job) { cells_.place(block + 1) = {block + 1, &job}; }
  void erase(std::uint64_t block) { cells_.erase(block + 1); }

 private:
  struct Cell {
    std::uint64_t block_plus_one = 0;  // no key of a table is 0
    Job* job = nullptr;

    std::uint64_t key() const { return block_plus_one; }
  };

  FlatTable<Cell> cells_;
};

}  // namespace cxloom
