// The command clock: points in time as whole clocks and as picoseconds, by an exact ratio, so that a cycle of 416.67 ps
// does not drift however long the run.
#pragma once

#include "base/units.hpp"
#include "memory/dram_device.hpp"

namespace cxloom {

class DramClock {
 public:
  explicit DramClock(Rate rate)
      : picoseconds_(static_cast<std::int64_t>(rate.numerator())),
        clocks_(static_cast<std::int64_t>(rate.denominator())) {}

  /// The time of an edge, rounded down to picoseconds.
  Time at(Clock clock) const { return Time{clock * picoseconds_ / clocks_}; }
  /// The first edge at or after `time`; `edge_at(at(c))` is c.
  Clock edge_at(Time time) const { return (time.ps() * clocks_ + picoseconds_ - 1) / picoseconds_; }
  double cycle_ns() const {
    return static_cast<double>(picoseconds_) / static_cast<double>(clocks_) / 1000.0;
  }

 private:
  std::int64_t picoseconds_;
  std::int64_t clocks_;
};

}  // namespace cxloom
