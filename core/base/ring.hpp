// A queue in a ring that grows to the size it needs and then allocates no more, or has room from the start.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <type_traits>

#include "base/error.hpp"

namespace cxloom {

template <class T>
  requires std::is_trivially_copyable_v<T>
class Ring {
 public:
  Ring() = default;
  /// Its items are in `memory`, which outlives it; there, what it grows out of is lost until all is given
  /// back.
  explicit Ring(std::pmr::memory_resource& memory) : items_(nullptr, Room{&memory}) {}

  /// Bytes that it takes with room for `count`.
  static constexpr std::uint64_t bytes_for(std::uint32_t count) { return std::bit_ceil(count) * sizeof(T); }
  /// Makes room for `count` at once. Its memory is not touched before it is used.
  void reserve(std::uint32_t count) {
    if (count > room()) grow_to(std::bit_ceil(count));
  }

  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }
  const T& front() const { return items_[head_ & (room() - 1)]; }
  /// The i-th from the front.
  const T& operator[](std::size_t i) const {
    return items_[(head_ + static_cast<std::uint32_t>(i)) & (room() - 1)];
  }
  /// The items as they are, for a loop that writes elsewhere meanwhile: where they are is not read again.
  class View {
   public:
    explicit View(const Ring& ring) : items_(ring.items_.get()), head_(ring.head_), mask_(ring.room() - 1) {}
    const T& operator[](std::uint32_t i) const { return items_[(head_ + i) & mask_]; }

   private:
    const T* items_;
    std::uint32_t head_;
    std::uint32_t mask_;
  };
  View view() const { return View(*this); }
  /// Takes away the first ones; there are so many.
  void pop_front(std::uint32_t count = 1) { head_ += count; }
  void push_back(const T& item) {
    if (tail_ - head_ == room()) [[unlikely]]
      grow();
    at(tail_++) = item;
  }
  /// Puts `item` behind the last for which `before(item, that)` does not hold; all are in such an order.
  template <class Before>
  void insert(const T& item, Before before) {
    if (tail_ - head_ == room()) [[unlikely]]
      grow();
    std::uint32_t place = tail_++;
    for (; place != head_ && before(item, at(place - 1)); --place) at(place) = at(place - 1);
    at(place) = item;
  }

 private:
  static constexpr std::uint32_t kSmallest = 16;

  /// The memory of the items; its size is a power of two.
  struct Room {
    std::pmr::memory_resource* memory = std::pmr::new_delete_resource();
    std::uint32_t size = 0;
    void operator()(T* items) const {
      memory->deallocate(static_cast<void*>(items), size * sizeof(T), alignof(T));
    }
  };

  std::uint32_t room() const { return items_.get_deleter().size; }
  T& at(std::uint32_t i) { return items_[i & (room() - 1)]; }
  [[gnu::noinline]] void grow() {
    ensure(room() < 1U << 31U, "more in a ring than it can number");
    grow_to(std::max(kSmallest, room() * 2));
  }
  void grow_to(std::uint32_t size) {
    Room larger{items_.get_deleter().memory, size};
    void* const place = larger.memory->allocate(larger.size * sizeof(T), alignof(T));
    auto* const items = static_cast<T*>(place);
    const std::uint32_t count = tail_ - head_;
    for (std::uint32_t i = 0; i < count; ++i) items[i] = at(head_ + i);
    items_ = std::unique_ptr<T[], Room>(items, larger);
    head_ = 0;
    tail_ = count;
  }

  std::unique_ptr<T[], Room> items_;
  std::uint32_t head_ = 0;  // numbers of items, which wrap around
  std::uint32_t tail_ = 0;
};

}  // namespace cxloom
