// The state of a program's thread, from the kernel of this machine.
#pragma once

#include <cstdint>

namespace cxloom {

/// The present state of a thread.
enum class ThreadState : std::uint8_t {
  kRuns,    ///< or waits for a processor, or for a disk: it goes on by itself
  kSleeps,  ///< until something happens; or there is no such thread any longer
  kUnknown
};

/// The state of a thread by the system's numbers of process and thread; unknown if one is 0 (untold).
ThreadState state_of_thread(std::uint32_t process, std::uint32_t thread);

}  // namespace cxloom
