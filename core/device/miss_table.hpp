// The lines that a cache has asked for, and who waits for each (the miss status holding registers).
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "base/units.hpp"
#include "protocol/request.hpp"

namespace cxloom {

/// Lines to lists of requests; open addressing, grows with the number of lines at the same time, never shrinks.
class MissTable {
 public:
  /// The first request that waits for a line, or null if the line was not asked for. The others follow through `next`.
  Request* find(LineAddress line) const {
    if (cells_.empty()) return nullptr;
    return cells_[locate(line)].first;
  }
  /// Adds a request behind those that wait for the line already.
  void add(LineAddress line, Request& request) {
    if (used_ * 2 >= cells_.size()) grow();
    Cell& cell = cells_[locate(line)];
    request.next = nullptr;
    if (!cell.first) {
      cell = {line, &request, &request};
      ++used_;
    } else {
      cell.last->next = &request;
      cell.last = &request;
    }
  }
  /// Forgets the line and gives the requests that waited.
  Request* take(LineAddress line) {
    std::size_t hole = locate(line);
    Request* first = cells_[hole].first;
    --used_;
    // Close the gap, so that no later cell of the same run gets lost.
    for (std::size_t at = (hole + 1) & mask(); cells_[at].first; at = (at + 1) & mask()) {
      const std::size_t home = home_of(cells_[at].line);
      if (((at - home) & mask()) >= ((at - hole) & mask())) {
        cells_[hole] = cells_[at];
        hole = at;
      }
    }
    cells_[hole] = {};
    return first;
  }
  std::size_t lines() const { return used_; }

 private:
  struct Cell {
    LineAddress line;
    Request* first = nullptr;  // null: the cell is empty
    Request* last = nullptr;
  };

  std::size_t mask() const { return cells_.size() - 1; }
  std::size_t home_of(LineAddress line) const {
    return static_cast<std::size_t>(mix_bits(line.number())) & mask();
  }
  std::size_t locate(LineAddress line) const {
    std::size_t at = home_of(line);
    while (cells_[at].first && cells_[at].line != line) at = (at + 1) & mask();
    return at;
  }
  void grow() {
    std::vector<Cell> before(cells_.empty() ? 64 : cells_.size() * 2);
    before.swap(cells_);
    for (const Cell& cell : before) {
      if (cell.first) cells_[locate(cell.line)] = cell;
    }
  }

  std::vector<Cell> cells_;
  std::size_t used_ = 0;
};

}  // namespace cxloom
