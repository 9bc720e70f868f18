// The command clock: points in time as whole clocks and as picoseconds, by an exact ratio, so that a cycle of
// 416.67 ps does not drift however long the run.
#pragma once

#include <numeric>

#include "base/divider.hpp"
#include "base/units.hpp"
#include "memory/dram/device/device.hpp"

namespace cxloom {

class DramClock {
 public:
  explicit DramClock(Rate rate)
      : picoseconds_(static_cast<std::int64_t>(rate.numerator())),
        clocks_(static_cast<std::int64_t>(rate.denominator())),
        by_picoseconds_(rate.numerator()),
        by_clocks_(rate.denominator()) {}

  /// The time of an edge, rounded down to picoseconds.
  Time at(Clock clock) const { return Time{divided(clock * picoseconds_, by_clocks_)}; }
  /// The first edge at or after `time`; `edge_at(at(c))` is c.
  Clock edge_at(Time time) const { return divided(time.ps() * clocks_ + picoseconds_ - 1, by_picoseconds_); }
  /// The least multiple of so many clocks that is a whole number of picoseconds; where that is more than
  /// eight times as many, these clocks rounded down.
  Time whole(Clock clocks) const {
    const auto picoseconds = static_cast<std::int64_t>(clocks) * picoseconds_;
    const std::int64_t times = clocks_ / std::gcd(picoseconds, clocks_);
    return times <= 8 ? Time{picoseconds * times / clocks_} : at(clocks);
  }
  double cycle_ns() const {
    return static_cast<double>(picoseconds_) / static_cast<double>(clocks_) / 1000.0;
  }

 private:
  static std::int64_t divided(std::int64_t dividend, const Divider& by) {
    return static_cast<std::int64_t>(by(static_cast<std::uint64_t>(dividend)));
  }

  std::int64_t picoseconds_;
  std::int64_t clocks_;
  Divider by_picoseconds_;
  Divider by_clocks_;
};

}  // namespace cxloom
