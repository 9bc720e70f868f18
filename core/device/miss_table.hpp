// The lines that a cache has asked for, and who waits for each (the miss status holding registers).
#pragma once

#include <cstdint>

#include "base/flat_table.hpp"
#include "base/intrusive_queue.hpp"
#include "base/units.hpp"
#include "protocol/request.hpp"

namespace cxloom {

/// Lines to lists of requests; grows with the number of lines at the same time.
class MissTable {
 public:
  /// The first request that waits for a line, or null if the line was not asked for. The others follow through `next`.
  Request* find(LineAddress line) const {
    const Cell* cell = table_.find(key_of(line));
    return cell ? cell->waiting.first() : nullptr;
  }
  /// Adds a request behind those that wait for the line already.
  void add(LineAddress line, Request& request) {
    Cell& cell = table_.place(key_of(line));
    cell.line = key_of(line);
    cell.waiting.push(request);
  }
  /// Forgets the line and gives the requests that waited.
  Request* take(LineAddress line) {
    Request* first = table_.at(key_of(line)).waiting.first();
    table_.erase(key_of(line));
    return first;
  }
  std::size_t lines() const { return table_.used(); }

 private:
  struct Cell {
    std::uint64_t line = 0;  // 0: empty
    IntrusiveQueue<Request> waiting;

    std::uint64_t key() const { return line; }
  };

  static std::uint64_t key_of(LineAddress line) { return line.number() + 1; }

  FlatTable<Cell> table_;
};

}  // namespace cxloom
