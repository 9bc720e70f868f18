// A level that is known to fall ahead of time.
#pragma once

#include "base/ring.hpp"
#include "base/units.hpp"
#include "kernel/distribution.hpp"

namespace cxloom {

/// A level whose decreases are known ahead of time, so that they need no event: a queue with computed
/// departures.
class BookedLevel {
 public:
  void join(Time now) {
    settle(now);
    monitor_.change(now, +1);
  }
  /// One leaves at `at`, not before one that was booked earlier.
  void leave_at(Time at, Time now) {
    settle(now);
    if (leaves_.empty()) first_leave_ = at;
    leaves_.push_back(at);
  }
  void open(Time now) { settle(now), monitor_.open(now); }
  void close(Time now) { settle(now), monitor_.close(now); }
  /// Level times picoseconds from the opening of the window up to `now`.
  double integral(Time now) {
    settle(now);
    monitor_.advance(now);
    return monitor_.integral();
  }
  const LevelMonitor& monitor() const { return monitor_; }

 private:
  void settle(Time now) {
    while (first_leave_ <= now) {
      monitor_.change(first_leave_, -1);
      leaves_.pop_front();
      first_leave_ = leaves_.empty() ? Time::max() : leaves_.front();
    }
  }

  LevelMonitor monitor_;
  Time first_leave_ = Time::max();  // of `leaves_`
  Ring<Time> leaves_;
};

}  // namespace cxloom
