// The transactions that are under way, by line.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

/// A hash table of lists, which the transactions are the links of: T has a member `LineAddress line`, and
/// `T* next`, which a pool has no use for while the transaction is under way. A quarter of the lists hold
/// something at most, so that nearly all are looked at once.
template <class T>
class TransactionTable {
 public:
  /// Null if nothing is under way for the line.
  T* find(LineAddress line) const {
    T* at = lists_[list_of(line)];
    while (at && at->line != line) at = at->next;
    return at;
  }
  /// Nothing is under way for its line.
  void add(T& transaction) {
    if (++lines_ * kListsForEach > lists_.size()) [[unlikely]]
      grow();
    link(transaction);
  }
  /// It is in the table.
  void remove(T& transaction) {
    T** at = &lists_[list_of(transaction.line)];
    while (*at != &transaction) at = &(*at)->next;
    *at = transaction.next;
    --lines_;
  }
  std::size_t lines() const { return lines_; }

 private:
  static constexpr std::size_t kListsForEach = 4;
  static constexpr std::size_t kSmallest = 64;

  // By one multiplication (Knuth, 6.4): lines that follow each other have lists of their own. Folded before,
  // as strides of a Fibonacci number of lines would share a few.
  std::size_t list_of(LineAddress line) const {
    const std::uint64_t number = line.number();
    return static_cast<std::size_t>((number ^ number >> 11U) * 0x9e3779b97f4a7c15ULL >> shift_);
  }
  void link(T& transaction) {
    T*& first = lists_[list_of(transaction.line)];
    transaction.next = first;
    first = &transaction;
  }
  [[gnu::noinline]] void grow() {
    const std::vector<T*> before = std::exchange(lists_, std::vector<T*>(lists_.size() * 2));
    --shift_;
    for (T* first : before) {
      while (first) link(*std::exchange(first, first->next));
    }
  }

  std::vector<T*> lists_ = std::vector<T*>(kSmallest);
  unsigned shift_ = 64 - std::countr_zero(kSmallest);
  std::size_t lines_ = 0;
};

}  // namespace cxloom
