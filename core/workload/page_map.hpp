// The pages that a trace touches: numbered in the order of their first touch, and how much of them is used.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "base/units.hpp"

namespace cxloom {

inline constexpr std::uint64_t kPageBytes = 4096;

/// Gives each page of 4 KiB the next free frame when it is first touched: what an operating system with empty memory
/// does, and repeatable. Memory grows with the pages touched (at most 64 bytes each), not with the accesses.
class PageMap {
 public:
  PageMap() : cells_(1024, Cell{kEmpty, 0}) {}

  /// The frame of a page, from zero; a new one at the first touch.
  std::uint64_t frame_of(std::uint64_t page) {
    if (page == latest_.page) return latest_.frame;
    std::size_t at = home(page);
    while (cells_[at].page != page && cells_[at].page != kEmpty) at = (at + 1) & (cells_.size() - 1);
    if (cells_[at].page == kEmpty) {
      cells_[at] = {page, frames_++};
      latest_ = cells_[at];
      if (frames_ * 2 > cells_.size()) grow();
    } else {
      latest_ = cells_[at];
    }
    return latest_.frame;
  }
  /// The physical address of a virtual one.
  Address translate(Address address) {
    return Address{frame_of(address.value() / kPageBytes) * kPageBytes + address.value() % kPageBytes};
  }
  LineAddress translate(LineAddress line) { return LineAddress::of(translate(line.address())); }

  /// Pages touched so far.
  std::uint64_t frames() const { return frames_; }

 private:
  static constexpr std::uint64_t kEmpty =
      ~std::uint64_t{0};  // no page has this number: addresses have 64 bits
  struct Cell {
    std::uint64_t page;
    std::uint64_t frame;
  };

  std::size_t home(std::uint64_t page) const {
    return static_cast<std::size_t>(mix_bits(page)) & (cells_.size() - 1);
  }
  void grow() {
    std::vector<Cell> before(cells_.size() * 2, Cell{kEmpty, 0});
    before.swap(cells_);
    for (const Cell& cell : before) {
      if (cell.page == kEmpty) continue;
      std::size_t at = home(cell.page);
      while (cells_[at].page != kEmpty) at = (at + 1) & (cells_.size() - 1);
      cells_[at] = cell;
    }
  }

  std::vector<Cell> cells_;  // open addressing, linear probing, at most half full
  Cell latest_{kEmpty, 0};
  std::uint64_t frames_ = 0;
};

/// How much memory a trace touches. Memory grows with the pages touched, not with the accesses.
class Footprint {
 public:
  /// Counts the lines of `size` bytes at an address; what lies beyond the address space is left out.
  void touch(Address address, std::uint64_t size) {
    const std::uint64_t room = ~std::uint64_t{0} - address.value();
    const std::uint64_t reach = size == 0 ? 0 : size - 1;
    const std::uint64_t last = (address.value() + (reach < room ? reach : room)) / kLineBytes;
    for (std::uint64_t line = address.value() / kLineBytes; line <= last; ++line) {
      const std::uint64_t frame = pages_.frame_of(line / kLinesPerPage);
      if (frame == used_.size()) used_.push_back(0);
      used_[frame] |= std::uint64_t{1} << (line % kLinesPerPage);
    }
  }

  /// Distinct lines touched; walks all pages.
  std::uint64_t lines() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t used : used_) sum += static_cast<std::uint64_t>(std::popcount(used));
    return sum;
  }
  /// Distinct pages touched.
  std::uint64_t pages() const { return pages_.frames(); }

 private:
  static constexpr std::uint64_t kLinesPerPage = kPageBytes / kLineBytes;
  static_assert(kLinesPerPage == 64, "one bit a line in 64");

  PageMap pages_;
  std::vector<std::uint64_t> used_;  // by frame: one bit a line
};

}  // namespace cxloom
