// ChampSim's time: picoseconds since the start.
#pragma once

#include <chrono>
#include <cstdint>

namespace champsim::chrono {

using microseconds = std::chrono::microseconds;
using picoseconds = std::chrono::duration<std::intmax_t, std::pico>;

class clock {
 public:
  using duration = picoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<clock>;
  static constexpr bool is_steady = false;
};

}  // namespace champsim::chrono
