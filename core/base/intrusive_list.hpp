// A list of objects that are linked through their own members `next` and `previous`, any of which may leave:
// it takes no memory for them.
#pragma once

#include <cstdint>

namespace cxloom {

/// An object is in one list at a time.
template <class T>
class IntrusiveList {
 public:
  std::uint32_t size() const { return size_; }
  /// The one that came first; there is one.
  T& front() const { return *first_; }
  void push_back(T& item) {
    item.next = nullptr;
    item.previous = last_;
    (last_ ? last_->next : first_) = &item;
    last_ = &item;
    ++size_;
  }
  void remove(T& item) {
    (item.previous ? item.previous->next : first_) = item.next;
    (item.next ? item.next->previous : last_) = item.previous;
    --size_;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
  std::uint32_t size_ = 0;
};

}  // namespace cxloom
