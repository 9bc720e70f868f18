// Memory for what events touch all the time, side by side: in huge pages once it is much, so that the addresses of a large
// system's state fit in the tables of the processor.
#pragma once

#include <memory>
#include <memory_resource>
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

/// What is taken is given back with the arena, all of it at once.
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
  std::pmr::memory_resource& memory() { return memory_; }

 private:
  std::pmr::monotonic_buffer_resource memory_;
};

}  // namespace cxloom
