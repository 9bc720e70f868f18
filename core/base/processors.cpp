#include "base/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace cxloom {

std::uint32_t available_processors() {
  cpu_set_t allowed{};
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return static_cast<std::uint32_t>(std::max(CPU_COUNT(&allowed), 1));
  return std::max(std::thread::hardware_concurrency(), 1U);
}

}  // namespace cxloom
