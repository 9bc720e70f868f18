// System calls by which threads wait for each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cxloom {

/// A system call by which a thread let others go on: it woke them, began them or ended.
struct Release {
  std::uint32_t thread = 0;  ///< the caller; 0: unknown
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

/// System calls of x86-64 Linux.
namespace system_call {

inline constexpr std::uint32_t kMmap = 9;
inline constexpr std::uint32_t kMunmap = 11;
inline constexpr std::uint32_t kBrk = 12;
inline constexpr std::uint32_t kMremap = 25;
inline constexpr std::uint32_t kClone = 56;
inline constexpr std::uint32_t kExecve = 59;
inline constexpr std::uint32_t kExit = 60;
inline constexpr std::uint32_t kWait4 = 61;
inline constexpr std::uint32_t kFutex = 202;
inline constexpr std::uint32_t kSetTidAddress = 218;
inline constexpr std::uint32_t kExitGroup = 231;
inline constexpr std::uint32_t kExecveAt = 322;

/// The operation on a futex, as <linux/futex.h> numbers it.
enum FutexOperation : std::uint32_t {
  kFutexWait = 0,
  kFutexWake = 1,
  kFutexRequeue = 3,
  kFutexCompareRequeue = 4,
  kFutexWakeOperation = 5,
  kFutexLockPi = 6,
  kFutexUnlockPi = 7,
  kFutexWaitBits = 9,
  kFutexWakeBits = 10,
  kFutexLockPi2 = 13
};
/// The operation without its options, which are above it.
inline constexpr std::uint64_t kFutexPrivate = 128;
inline constexpr std::uint64_t kFutexOptions = 128 | 256;  // and the clock that is meant
constexpr FutexOperation futex_operation(const SystemCall& call) {
  return static_cast<FutexOperation>(call.arguments[1] & ~kFutexOptions);
}

/// The thread may be in it until another one, or the outside, does something; or it does not come back.
bool may_wait(const SystemCall& call);

}  // namespace system_call
}  // namespace cxloom
