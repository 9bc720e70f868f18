// Something for each pair of ports and message class that is in use.
#pragma once

#include <cstdint>
#include <vector>

#include "base/prefetch.hpp"

namespace cxloom {

/// Pointers to T by input, output and class; open addressing, so that a switch of thousands of ports takes
/// memory for the pairs that have a pointer and not for all that there could be.
template <class T>
class PairTable {
 public:
  PairTable() : cells_(kSmallest), shift_(64 - kSmallestBits) {}

  /// The pointer of a pair, null at first; to be set before another is asked for.
  T*& at(std::uint16_t input, std::uint16_t output, std::uint8_t channel) {
    const std::uint64_t key = key_of(input, output, channel);
    std::size_t place = locate(key);
    if (!cells_[place].value) [[unlikely]] {
      if (++used_ * 2 > cells_.size()) {
        grow();
        place = locate(key);
      }
      cells_[place].key = key;
    }
    return cells_[place].value;
  }
  /// Asks memory for the place of a pair.
  [[gnu::always_inline]] void fetch(std::uint16_t input, std::uint16_t output, std::uint8_t channel) const {
    prefetch(&cells_[home(key_of(input, output, channel))]);
  }
  /// Forgets a pair that has a pointer.
  void remove(std::uint16_t input, std::uint16_t output, std::uint8_t channel) {
    std::size_t hole = locate(key_of(input, output, channel));
    // Each that lies behind without a gap moves up, if it may lie where the hole is (Knuth, 6.4, Algorithm
    // R).
    for (std::size_t at = next(hole); cells_[at].value; at = next(at)) {
      if (distance(home(cells_[at].key), at) < distance(hole, at)) continue;
      cells_[hole] = cells_[at];
      hole = at;
    }
    cells_[hole].value = nullptr;
    --used_;
  }

 private:
  static constexpr unsigned kSmallestBits = 4;
  static constexpr std::size_t kSmallest = std::size_t{1} << kSmallestBits;

  struct Cell {
    std::uint64_t key = 0;
    T* value = nullptr;  // null: the cell is empty
  };

  static std::uint64_t key_of(std::uint16_t input, std::uint16_t output, std::uint8_t channel) {
    return (std::uint64_t{channel} << 32U) | (std::uint64_t{input} << 16U) | output;
  }
  std::size_t home(std::uint64_t key) const {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;  // spreads keys that lie in a row (Knuth, 6.4)
    return static_cast<std::size_t>((key * kGolden) >> shift_);
  }
  std::size_t next(std::size_t place) const { return (place + 1) & (cells_.size() - 1); }
  std::size_t distance(std::size_t from, std::size_t to) const { return (to - from) & (cells_.size() - 1); }
  std::size_t locate(std::uint64_t key) const {
    std::size_t place = home(key);
    while (cells_[place].value && cells_[place].key != key) place = next(place);
    return place;
  }
  void grow() {
    std::vector<Cell> before(cells_.size() * 2);
    before.swap(cells_);
    --shift_;
    for (const Cell& cell : before) {
      if (cell.value) cells_[locate(cell.key)] = cell;
    }
  }

  std::vector<Cell> cells_;
  unsigned shift_;
  std::size_t used_ = 0;
};

}  // namespace cxloom
