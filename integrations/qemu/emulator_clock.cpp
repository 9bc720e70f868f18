#include "emulator_clock.hpp"

#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

#include <algorithm>

namespace cxloom::qemu {

BusyProcessors busy_processors;

namespace {

GuestClock guest_clock;

constexpr std::int64_t kSecond = 1'000'000'000;
// Waits for a timer while the clock does not go by this computer's: it is slower than that one as long as a
// processor has something to do, and whoever has nothing more to do is noticed so late.
constexpr std::int64_t kShortestLook = 50'000;
constexpr std::int64_t kLongestLook = 2'000'000;
// A processor that was woken gets so long to go on before the clock passes to the next timer: it has to be
// given a processor of this computer first.
constexpr std::int64_t kPatience = 1'000'000;

template <class Function>
Function next_of(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

int clock_of_computer(clockid_t clock, timespec* time) {
  static const auto next = next_of<int (*)(clockid_t, timespec*)>("clock_gettime");
  return next(clock, time);
}

int poll_of_computer(pollfd* files, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  static const auto next = next_of<int (*)(pollfd*, nfds_t, const timespec*, const sigset_t*)>("ppoll");
  return next(files, count, timeout, mask);
}

std::int64_t nanoseconds_of(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }
timespec timespec_of(std::int64_t nanoseconds) {
  return {.tv_sec = nanoseconds / kSecond, .tv_nsec = nanoseconds % kSecond};
}

std::int64_t of_this_computer() {
  timespec time{};
  clock_of_computer(CLOCK_MONOTONIC, &time);
  return nanoseconds_of(time);
}

int poll_by_guest_time(pollfd* files, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  const std::int64_t wanted = timeout == nullptr ? kLongestLook : nanoseconds_of(*timeout);
  const std::uint64_t before = busy_processors.goings_on();
  const bool idle = busy_processors.count() == 0;
  const std::int64_t longest = idle ? kPatience : std::clamp(wanted, kShortestLook, kLongestLook);
  const timespec wait = timespec_of(wanted == 0 ? 0 : longest);
  const int found = poll_of_computer(files, count, &wait, mask);
  if (found == 0 && idle && timeout != nullptr && busy_processors.goings_on() == before &&
      guest_clock.is_driven())
    guest_clock.pass(wanted);
  return found;
}

}  // namespace

void drive_guest_clock() { guest_clock.drive(of_this_computer()); }
void pass_guest_time(std::int64_t nanoseconds) { guest_clock.pass(nanoseconds); }
void release_guest_clock() { guest_clock.release(of_this_computer()); }

}  // namespace cxloom::qemu

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock,
                                                                    timespec* time) noexcept {
  using namespace cxloom::qemu;
  if (clock != CLOCK_MONOTONIC) return clock_of_computer(clock, time);
  *time = timespec_of(guest_clock.now(of_this_computer()));
  return 0;
}

extern "C" __attribute__((visibility("default"))) int ppoll(pollfd* files, nfds_t count,
                                                            const timespec* timeout, const sigset_t* mask) {
  using namespace cxloom::qemu;
  if (!guest_clock.is_driven()) return poll_of_computer(files, count, timeout, mask);
  return poll_by_guest_time(files, count, timeout, mask);
}
