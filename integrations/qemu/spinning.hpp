// A processor that waits for another one in a loop.
#pragma once

#include <time.h>

#include <cstddef>
#include <cstring>

namespace cxloom::qemu {

/// Loops that wait have this instruction: `pause`.
inline bool is_pause(const void* data, std::size_t size) {
  static const unsigned char pause[] = {0xf3, 0x90};
  return size == sizeof pause && std::memcmp(data, pause, size) == 0;
}

/// The thread that is waited for gets this computer's processor, and the one that waits goes round less
/// often: it would do so as often as this computer is busy otherwise. Where all but one of many processors
/// wait, this computer would have nothing but their looks to run: the more there are, the longer each waits.
inline void let_others_run(unsigned processors = 2) {
  const timespec moment{0, 10'000L * processors};
  nanosleep(&moment, nullptr);
}

}  // namespace cxloom::qemu
