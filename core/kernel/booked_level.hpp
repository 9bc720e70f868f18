// A level that is known to fall ahead of time.
#pragma once

#include <array>
#include <cstdint>

#include "base/ring.hpp"
#include "base/units.hpp"
#include "kernel/distribution.hpp"

namespace cxloom {

/// A level whose decreases are known ahead of time, so that they need no event: a queue with computed
/// departures. What joins and leaves is worked off many at a time.
class BookedLevel {
 public:
  void join(Time now) {
    if (joined_ == kTogether) [[unlikely]]
      settle(now);
    joins_[joined_++] = now;
  }
  /// One leaves at `at`, not before one that was booked earlier.
  void leave_at(Time at) { leaves_.push_back(at); }
  void open(Time now) { settle(now), monitor_.open(now); }
  void close(Time now) { settle(now), monitor_.close(now); }
  /// Level times picoseconds from the opening of the window up to `now`.
  double integral(Time now) {
    settle(now);
    monitor_.advance(now);
    return monitor_.integral();
  }
  /// How many there were when the last one joined, whoever asks, and when.
  std::int64_t level() const;
  /// Up to date once the window is closed.
  const LevelMonitor& monitor() const { return monitor_; }

 private:
  static constexpr std::uint32_t kTogether = 16;

  /// Works off all that is known up to `now`.
  void settle(Time now);
  template <class Levels>
  void work_off(Time now, Levels& levels);

  std::uint32_t joined_ = 0;  // of `joins_`, soonest first
  // The last two are no joins: an end, and what is read behind it.
  std::array<Time, kTogether + 2> joins_{};
  Ring<Time> leaves_;
  LevelMonitor monitor_;
};

}  // namespace cxloom
