// What a thread does between two looks at something that another one is about to change.
#pragma once

#include <atomic>

namespace cxloom {

/// Lets the other thread of the same core run meanwhile, where the processor knows how.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace cxloom
