// Large tables that are mostly empty: their memory is the machine's where they are written, not where they
// are made.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace cxloom {

/// Memory that is all zeros, in huge pages if it is large, but not so large that a part of it should not cost
/// as much as the whole. Throws std::bad_alloc.
void* take_zeroed(std::size_t bytes);
void give_back_zeroed(void* memory, std::size_t bytes);

/// An array of fixed size in which every element is all zeros until it is written. To make one takes no time,
/// whatever its size, and a page of a large one no memory before something is written there.
template <class T>
  requires std::is_trivially_copyable_v<T>
class ZeroedArray {
 public:
  ZeroedArray() = default;
  explicit ZeroedArray(std::size_t size)
      : elements_(static_cast<T*>(take_zeroed(size * sizeof(T))), {size}) {}
  ZeroedArray(ZeroedArray&&) noexcept = default;
  ZeroedArray& operator=(ZeroedArray&&) noexcept = default;

  std::size_t size() const { return elements_.get_deleter().size; }
  const T* data() const { return elements_.get(); }
  T& operator[](std::size_t at) { return elements_[at]; }
  const T& operator[](std::size_t at) const { return elements_[at]; }

 private:
  struct Free {
    std::size_t size = 0;
    void operator()(T* elements) const { give_back_zeroed(static_cast<void*>(elements), size * sizeof(T)); }
  };

  std::unique_ptr<T[], Free> elements_;
};

}  // namespace cxloom
