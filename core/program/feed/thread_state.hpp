// What the kernel of this machine says of a thread of a program.
#pragma once

#include <cstdint>

namespace cxloom {

/// What a thread does at the moment.
enum class ThreadState : std::uint8_t {
  kRuns,    ///< or waits for a processor, or for a disk: it goes on by itself
  kSleeps,  ///< until something happens; or there is no such thread any longer
  kUnknown
};

/// Of a thread of a process, by the numbers that the system gives them; 0: it has told none, so that it is unknown.
ThreadState state_of_thread(std::uint32_t process, std::uint32_t thread);

}  // namespace cxloom
