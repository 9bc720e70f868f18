// Lists of blocks, each block in one of them at most: in order of entry, any can be taken out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "workload/kv/request/kv_block.hpp"

namespace cxloom {

/// Every operation takes the same time, but for the first with a block of a higher number than before.
class BlockLists {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  explicit BlockLists(std::size_t lists) : ends_(lists) {}

  /// The list that has the block; kNone if it is in none.
  std::uint32_t list_of(KvBlock block) const { return block < cells_.size() ? cells_[block].list : kNone; }
  std::uint64_t size(std::size_t list) const { return list < ends_.size() ? ends_[list].size : 0; }
  /// The block that has been longest in the list, which is not empty.
  KvBlock front(std::size_t list) const { return ends_[list].first; }

  /// Adds a block that is in no list; lists come to be as they are named.
  void push_back(std::uint32_t list, KvBlock block) {
    if (list >= ends_.size()) ends_.resize(std::size_t{list} + 1);
    if (block >= cells_.size()) cells_.resize(std::size_t{block} + 1);
    Ends& ends = ends_[list];
    cells_[block] = {.before = ends.last, .behind = kNone, .list = list};
    if (ends.last == kNone) ends.first = block;
    else cells_[ends.last].behind = block;
    ends.last = block;
    ++ends.size;
  }
  /// Takes a block out of its list.
  void remove(KvBlock block) {
    const Cell cell = cells_[block];
    Ends& ends = ends_[cell.list];
    if (cell.before == kNone) ends.first = cell.behind;
    else cells_[cell.before].behind = cell.behind;
    if (cell.behind == kNone) ends.last = cell.before;
    else cells_[cell.behind].before = cell.before;
    cells_[block].list = kNone;
    --ends.size;
  }
  KvBlock pop_front(std::size_t list) {
    const KvBlock block = front(list);
    remove(block);
    return block;
  }

 private:
  struct Cell {
    KvBlock before = kNone;
    KvBlock behind = kNone;
    std::uint32_t list = kNone;
  };
  struct Ends {
    KvBlock first = kNone;
    KvBlock last = kNone;
    std::uint64_t size = 0;
  };

  std::vector<Cell> cells_;  // by block
  std::vector<Ends> ends_;   // by list
};

}  // namespace cxloom
