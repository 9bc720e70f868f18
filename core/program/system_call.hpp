// What threads ask of the kernel, as far as one of them waits there for another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cxloom {

/// A system call by which a thread let others go on: it woke them, began them or ended.
struct Release {
  std::uint32_t thread = 0;  ///< who called; 0: nobody who is known
  std::uint64_t order = 0;   ///< of that call among all calls

  bool operator==(const Release&) const = default;
};

/// A thread calls the kernel.
struct SystemCall {
  static constexpr std::size_t kArguments = 6;

  std::uint32_t number = 0;  ///< that Linux gives it for x86-64, also below
  std::uint64_t order = 0;   ///< calls and ends of calls of all threads have one row of numbers, from 1
  std::array<std::uint64_t, kArguments> arguments{};  ///< as they are in the registers
};

/// The kernel lets it go on.
struct SystemCallEnd {
  std::uint32_t number = 0;
  std::uint64_t order = 0;
  std::int64_t result = 0;        ///< what the kernel gives; negative: an error, -errno
  std::uint64_t nanoseconds = 0;  ///< that the call took by the clock of this machine
  bool slept = false;             ///< it gave its processor up meanwhile
  Release by;                     ///< the call that it waited for
};

/// Numbers of system calls of x86-64 Linux.
namespace system_call {

inline constexpr std::uint32_t kClone = 56;
inline constexpr std::uint32_t kExit = 60;
inline constexpr std::uint32_t kWait4 = 61;
inline constexpr std::uint32_t kFutex = 202;
inline constexpr std::uint32_t kSetTidAddress = 218;
inline constexpr std::uint32_t kExitGroup = 231;

}  // namespace system_call
}  // namespace cxloom
