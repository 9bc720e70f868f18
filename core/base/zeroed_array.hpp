// Large tables that are mostly empty: their memory is the machine's where they are written, not where they are made.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace cxloom {

/// An array of fixed size in which every element is all zeros until it is written. To make one takes no time, whatever its
/// size, and a page of a large one no memory before something is written there.
template <class T>
  requires std::is_trivially_copyable_v<T>
class ZeroedArray {
 public:
  ZeroedArray() = default;
  explicit ZeroedArray(std::size_t size)
      : elements_(static_cast<T*>(std::calloc(size, sizeof(T)))), size_(size) {
    if (!elements_ && size != 0) throw std::bad_alloc();
  }

  std::size_t size() const { return size_; }
  const T* data() const { return elements_.get(); }
  T& operator[](std::size_t at) { return elements_[at]; }
  const T& operator[](std::size_t at) const { return elements_[at]; }

 private:
  struct Free {
    void operator()(T* elements) const { std::free(static_cast<void*>(elements)); }
  };

  std::unique_ptr<T[], Free> elements_;
  std::size_t size_ = 0;
};

}  // namespace cxloom
