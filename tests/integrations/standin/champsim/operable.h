// What has a clock in ChampSim. A cycle first moves the time on.
#pragma once

#include "chrono.h"

namespace champsim {

class operable {
 public:
  explicit operable(chrono::picoseconds period) : clock_period(period) {}
  operable(const operable&) = default;
  virtual ~operable() = default;

  long _operate() {
    current_time += clock_period;
    return operate();
  }
  virtual long operate() = 0;
  virtual void begin_phase() {}
  virtual void print_deadlock() {}

  chrono::picoseconds clock_period;
  chrono::clock::time_point current_time{};
  bool warmup = true;
};

}  // namespace champsim
