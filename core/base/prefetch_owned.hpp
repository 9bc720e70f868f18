// Asking memory for what will be written soon, and another processor has written.
#pragma once

#include <cstddef>

#include "base/prefetch.hpp"

namespace cxloom {

/// As `prefetch`, of a line that will be written: it comes once, where a usual hint would have it come to be
/// read, and be asked for again to be written.
[[gnu::always_inline]] inline void prefetch_owned(const void* address, std::size_t lines_behind = 0) {
  const char* const line = static_cast<const char*>(address) + lines_behind * kCacheLine;
#if defined(__x86_64__)
  // GCC makes a usual hint of its own one, unless it is told of a processor that has this.
  __asm__ volatile("prefetchw %0" : : "m"(*line));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace cxloom
