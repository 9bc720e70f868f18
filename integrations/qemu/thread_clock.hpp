// How time passes for the thread that asks.
#pragma once

#include <sys/resource.h>
#include <time.h>

#include <cstdint>

namespace cxloom::qemu {

inline std::uint64_t nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// How often this thread gave its processor up.
inline long switches() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

}  // namespace cxloom::qemu
