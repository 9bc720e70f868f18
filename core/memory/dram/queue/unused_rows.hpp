// Rows that were opened and not used yet. Each is used once, in the direction for which it was opened, before
// another takes its place.
#pragma once

#include <cstdint>
#include <vector>

namespace cxloom {

class DramUnusedRows {
 public:
  explicit DramUnusedRows(std::size_t banks) : opener_(banks), place_(banks) {}

  /// Whether the row of a bank was opened for a write (or a read), and not used yet.
  bool holds(std::uint32_t bank, bool write) const { return opener_[bank] == mark(write); }
  bool holds(std::uint32_t bank) const { return opener_[bank] != 0; }
  bool any() const { return !banks_[0].empty() || !banks_[1].empty(); }
  /// The banks that hold such a row, in any order.
  const std::vector<std::uint32_t>& banks(bool write) const { return banks_[write]; }

  /// In line, as most accesses open a row.
  [[gnu::always_inline]] void opened(std::uint32_t bank, bool write) {
    opener_[bank] = mark(write);
    place_[bank] = static_cast<std::uint32_t>(banks_[write].size());
    banks_[write].push_back(bank);
  }
  /// The row of a bank was used, or closed.
  void forget(std::uint32_t bank) {
    if (opener_[bank] == 0) return;
    std::vector<std::uint32_t>& banks = banks_[opener_[bank] == mark(true)];
    const std::uint32_t last = banks.back();  // takes its place
    banks[place_[bank]] = last;
    place_[last] = place_[bank];
    banks.pop_back();
    opener_[bank] = 0;
  }

 private:
  static std::uint8_t mark(bool write) { return write ? 2 : 1; }

  std::vector<std::uint8_t> opener_;  ///< by bank: 0 nobody, 1 a read, 2 a write
  std::vector<std::uint32_t> banks_[2];
  std::vector<std::uint32_t> place_;  ///< by bank, among them
};

}  // namespace cxloom
