// Memory for what events touch all the time, side by side: in huge pages once it is much, so that the
// addresses of a large system's state fit in the tables of the processor.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <utility>

namespace cxloom {

/// Destroys an object whose memory is an arena's.
struct Destroy {
  template <class T>
  void operator()(T* object) const {
    std::destroy_at(object);
  }
};

/// An object that lives in an arena, and not longer.
template <class T>
using InArena = std::unique_ptr<T, Destroy>;

/// Objects that live side by side in an arena, and not longer.
template <class T>
class ArrayInArena {
 public:
  explicit ArrayInArena(T* first) : first_(first) {}
  ArrayInArena(ArrayInArena&& other) noexcept : first_(other.first_), size_(std::exchange(other.size_, 0)) {}
  ArrayInArena& operator=(ArrayInArena&&) = delete;
  ~ArrayInArena() { std::destroy_n(first_, size_); }

  T& operator[](std::size_t index) { return first_[index]; }
  const T& operator[](std::size_t index) const { return first_[index]; }
  T* data() { return first_; }
  std::size_t size() const { return size_; }

 private:
  friend class Arena;
  void grow() { ++size_; }

  T* first_;
  std::size_t size_ = 0;
};

/// Memory that is given back with the arena, all of it at once.
class Arena {
 public:
  Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  template <class T, class... Arguments>
  InArena<T> make(Arguments&&... arguments) {
    void* const place = memory_.allocate(sizeof(T), alignof(T));
    return InArena<T>(std::construct_at(static_cast<T*>(place), std::forward<Arguments>(arguments)...));
  }
  /// `count` objects side by side, the i-th of them `make(i)`.
  template <class T, class Make>
  ArrayInArena<T> make_array(std::size_t count, Make make) {
    T* const first = count == 0 ? nullptr : static_cast<T*>(memory_.allocate(count * sizeof(T), alignof(T)));
    ArrayInArena<T> array(first);
    for (std::size_t i = 0; i < count; ++i) {
      ::new (static_cast<void*>(first + i)) T(make(i));
      array.grow();
    }
    return array;
  }
  std::pmr::memory_resource& memory() { return memory_; }

 private:
  std::pmr::monotonic_buffer_resource memory_;
};

}  // namespace cxloom
