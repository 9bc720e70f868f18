// Asking memory for what will be touched soon.
#pragma once

#include <cstddef>

namespace cxloom {

/// Bytes of a cache line on the processors that matter.
inline constexpr std::size_t kCacheLine = 64;

/// Asks for the line at `address`, or so many lines behind it. A hint, whatever the address is. A compiler
/// takes a function that does nothing but this for one without effect and may leave out calls of it (GCC 12
/// does): such a function is `always_inline`, or virtual.
[[gnu::always_inline]] inline void prefetch(const void* address, std::size_t lines_behind = 0) {
  __builtin_prefetch(static_cast<const char*>(address) + lines_behind * kCacheLine);
}

}  // namespace cxloom
