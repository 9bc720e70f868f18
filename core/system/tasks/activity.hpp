// A task that moves lines, as whoever measures its rate and skips a part of it sees it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/units.hpp"
#include "system/tasks/task_objects.hpp"

namespace cxloom {

/// What has become of an activity.
struct ActivityProgress {
  std::uint64_t done = 0;   ///< lines moved, those that were skipped aside
  Time at;                  ///< when the last of them was
  std::uint64_t steps = 0;  ///< in which they were moved
  Time gap;                 ///< the longest between two steps, of those since it was last asked for

  /// What it is now; the next gap is one since this.
  ActivityProgress asked() {
    const ActivityProgress now = *this;
    gap = {};
    return now;
  }
  void step(std::uint64_t lines, Time now) {
    if (steps++ > 0) gap = std::max(gap, now - at);
    done += lines;
    at = now;
  }
};

class Activity {
 public:
  /// Gaps are those since the last call.
  virtual ActivityProgress progress() = 0;
  /// Lines that are not begun, up to where its memory changes.
  virtual std::uint64_t ahead() const = 0;
  /// So many of these at most are taken as moved, in that time; gives how many were.
  virtual std::uint64_t skip(std::uint64_t lines, Time time) = 0;
  /// Lines after which its memories come in the same order again; at least 1. What it moves meanwhile says
  /// nothing about its rate.
  virtual std::uint64_t turn() const = 0;
  /// How long it goes on with its sort at that rate, in lines a picosecond, if its memory does not change.
  virtual Time steady_for(double /*rate*/) const { return Time::max(); }
  /// Activities with equal texts have equal rates beside equal others.
  virtual std::string sort() const = 0;

 protected:
  ~Activity() = default;
};

}  // namespace cxloom
