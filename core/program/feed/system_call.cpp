#include "program/feed/system_call.hpp"

#include <algorithm>

namespace cxloom::system_call {

namespace {

// In the order of their numbers; 0 is read.
constexpr std::array<std::uint32_t, 36> kWaiting = {
    0,         // read
    7,         // poll
    19,        // readv
    23,        // select
    34,  35,   // pause, nanosleep
    42,  43,   // connect, accept
    45,  47,   // recvfrom, recvmsg
    58,  59,   // vfork, execve
    60,  61,   // exit, wait4
    65,  70,   // semop, msgrcv
    73,        // flock
    128, 130,  // rt_sigtimedwait, rt_sigsuspend
    208, 220,  // io_getevents, semtimedop
    230, 231,  // clock_nanosleep, exit_group
    232, 243,  // epoll_wait, mq_timedreceive
    247,       // waitid
    270, 271,  // pselect6, ppoll
    281, 288,  // epoll_pwait, accept4
    295, 299,  // preadv, recvmmsg
    322, 327,  // execveat, preadv2
    426, 441,  // io_uring_enter, epoll_pwait2
};
static_assert(std::ranges::is_sorted(kWaiting));

}  // namespace

bool may_wait(const SystemCall& call) {
  if (call.number != kFutex) return std::ranges::binary_search(kWaiting, call.number);
  switch (futex_operation(call)) {
    case kFutexWait:
    case kFutexWaitBits:
    case kFutexLockPi:
    case kFutexLockPi2: return true;
    default: return false;
  }
}

}  // namespace cxloom::system_call
