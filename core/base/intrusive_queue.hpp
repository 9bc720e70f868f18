// A first-in first-out queue of objects that are linked through their own member `next`: it takes no memory
// for them.
#pragma once

namespace cxloom {

/// An object is in one queue at a time.
template <class T>
class IntrusiveQueue {
 public:
  bool empty() const { return first_ == nullptr; }
  T& front() const { return *first_; }
  /// The first item, or null if there is none; the others follow through `next`.
  T* first() const { return first_; }
  void push(T& item) {
    item.next = nullptr;
    (last_ ? last_->next : first_) = &item;
    last_ = &item;
  }
  T& pop() {
    T& item = *first_;
    first_ = item.next;
    if (!first_) last_ = nullptr;
    return item;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace cxloom
