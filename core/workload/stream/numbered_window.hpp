// What is known of the accesses of a stream that are not answered yet, by their number: a ring that grows to
// the size it needs, and then allocates no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cxloom {

/// `Item` has a member `bool done`. Numbers begin with zero.
template <class Item>
class NumberedWindow {
 public:
  /// The number of the next.
  std::uint64_t next() const { return next_; }
  Item& add() {
    if (next_ - first_ == items_.size()) [[unlikely]]
      grow();
    Item& item = at(next_++);
    item = {};
    return item;
  }
  /// That one, which is not done.
  const Item& operator[](std::uint64_t number) const { return items_[number & (items_.size() - 1)]; }
  /// That one is done: what of it is known. Its place is free once all before it are done, too.
  Item done(std::uint64_t number) {
    Item& item = at(number);
    item.done = true;
    const Item known = item;
    while (first_ != next_ && at(first_).done) ++first_;
    return known;
  }

 private:
  Item& at(std::uint64_t number) { return items_[number & (items_.size() - 1)]; }
  [[gnu::noinline]] void grow() {
    constexpr std::size_t kSmallest = 64;
    std::vector<Item> larger(items_.empty() ? kSmallest : items_.size() * 2);
    for (std::uint64_t i = first_; i != next_; ++i) larger[i & (larger.size() - 1)] = at(i);
    items_.swap(larger);
  }

  std::vector<Item> items_;  // a power of two
  std::uint64_t first_ = 0;  // that is not done
  std::uint64_t next_ = 0;
};

}  // namespace cxloom
