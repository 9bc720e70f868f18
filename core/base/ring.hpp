// A queue in a ring that grows to the size it needs and then allocates no more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/error.hpp"

namespace cxloom {

template <class T>
class Ring {
 public:
  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }
  const T& front() const { return items_[head_ & (room_ - 1)]; }
  /// The i-th from the front.
  const T& operator[](std::size_t i) const {
    return items_[(head_ + static_cast<std::uint32_t>(i)) & (room_ - 1)];
  }
  void pop_front() { ++head_; }
  void push_back(const T& item) {
    if (tail_ - head_ == room_) grow();
    at(tail_++) = item;
  }
  /// Puts `item` behind the last for which `before(item, that)` does not hold; all are in such an order.
  template <class Before>
  void insert(const T& item, Before before) {
    if (tail_ - head_ == room_) grow();
    std::uint32_t place = tail_++;
    for (; place != head_ && before(item, at(place - 1)); --place) at(place) = at(place - 1);
    at(place) = item;
  }

 private:
  static constexpr std::uint32_t kSmallest = 16;

  T& at(std::uint32_t i) { return items_[i & (room_ - 1)]; }
  void grow() {
    ensure(room_ < 1U << 31U, "more in a ring than it can number");
    const std::uint32_t room = std::max(kSmallest, room_ * 2);
    auto items = std::make_unique<T[]>(room);
    const std::uint32_t count = tail_ - head_;
    for (std::uint32_t i = 0; i < count; ++i) items[i] = at(head_ + i);
    items_ = std::move(items);
    head_ = 0;
    tail_ = count;
    room_ = room;
  }

  std::unique_ptr<T[]> items_;
  std::uint32_t room_ = 0;  // of a power of two
  std::uint32_t head_ = 0;  // numbers of items, which wrap around
  std::uint32_t tail_ = 0;
};

}  // namespace cxloom
