// The pages that a trace touches: numbered in the order of their first touch, and how much of them is used.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/flat_table.hpp"
#include "base/units.hpp"

namespace cxloom {

inline constexpr std::uint64_t kPageBytes = 4096;

/// Gives each page, of 4 KiB unless it is said, the next free frame when it is first touched: what an
/// operating system with empty memory does, and repeatable. Memory grows with the pages touched (at most 64
/// bytes each), not with the accesses.
class PageMap {
 public:
  /// The size of a page is a power of two.
  explicit PageMap(Bytes page = Bytes{kPageBytes})
      : page_bits_(static_cast<unsigned>(std::countr_zero(page.count()))), frame_of_(kAtFirst) {}

  /// The frame of a page, from zero; a new one at the first touch.
  std::uint64_t frame_of(std::uint64_t page) {
    const std::uint64_t number = page + 1;  // never zero: addresses have 64 bits
    if (number == latest_.number) return latest_.frame;
    Cell& cell = frame_of_.place(number);
    if (cell.number == 0) cell = {number, frames_++};
    latest_ = cell;
    return cell.frame;
  }
  /// The physical address of a virtual one.
  Address translate(Address address) {
    const std::uint64_t within = address.value() & ((std::uint64_t{1} << page_bits_) - 1);
    return Address{frame_of(address.value() >> page_bits_) << page_bits_ | within};
  }
  LineAddress translate(LineAddress line) { return LineAddress::of(translate(line.address())); }

  /// Pages touched so far.
  std::uint64_t frames() const { return frames_; }

 private:
  static constexpr std::size_t kAtFirst = 512;

  struct Cell {
    std::uint64_t number = 0;  ///< of the page, from one
    std::uint64_t frame = 0;

    std::uint64_t key() const { return number; }
  };

  unsigned page_bits_;
  FlatTable<Cell> frame_of_;
  Cell latest_;
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
  static_assert(kLinesPerPage == 64, "one bit per line in 64");

  PageMap pages_;
  std::vector<std::uint64_t> used_;  // by frame: one bit per line
};

}  // namespace cxloom
