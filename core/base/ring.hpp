// A queue in a ring that grows to the size it needs and then allocates no more.
#pragma once

#include <cstddef>
#include <vector>

namespace cxloom {

template <class T>
class Ring {
 public:
  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }
  const T& front() const { return items_[head_ & mask_]; }
  /// The i-th from the front.
  const T& operator[](std::size_t i) const { return items_[(head_ + i) & mask_]; }
  void pop_front() { ++head_; }
  void push_back(const T& item) {
    if (size() == items_.size()) grow();
    at(tail_++) = item;
  }
  /// Puts `item` behind the last for which `before(item, that)` does not hold; all are in such an order.
  template <class Before>
  void insert(const T& item, Before before) {
    if (size() == items_.size()) grow();
    std::size_t place = tail_++;
    for (; place != head_ && before(item, at(place - 1)); --place) at(place) = at(place - 1);
    at(place) = item;
  }

 private:
  T& at(std::size_t i) { return items_[i & mask_]; }
  void grow() {
    std::vector<T> items(items_.empty() ? 16 : items_.size() * 2);
    for (std::size_t i = 0; i < size(); ++i) items[i] = (*this)[i];
    tail_ = size();
    head_ = 0;
    items_.swap(items);
    mask_ = items_.size() - 1;
  }

  std::vector<T> items_;  // a power of two
  std::size_t mask_ = 0;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace cxloom
