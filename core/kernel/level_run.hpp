// Many changes of a level at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/units.hpp"
#include "kernel/distribution.hpp"

namespace cxloom {

/// Changes of a monitor one after the other, as by its `change`: what they touch is kept apart as long as
/// this lives, and given back at its end. Nobody looks at the monitor meanwhile.
class LevelRun {
 public:
  /// Whether a run in which no level is above `highest` can be: its window is open, and each has a place.
  static bool can_be(const LevelMonitor& monitor, std::int64_t highest) {
    return !monitor.closed() && highest < static_cast<std::int64_t>(LevelMonitor::kOwn);
  }

  LevelRun(LevelMonitor& monitor, std::int64_t highest) : monitor_(monitor) {
    monitor.advance(monitor.changed_);
    if (monitor.time_at_.size() <= static_cast<std::size_t>(highest)) monitor.make_room(highest);
    changed_ = monitor.changed_;
    level_ = monitor.level_;
    times_ = monitor.time_at_.data();
  }
  LevelRun(const LevelRun&) = delete;
  LevelRun& operator=(const LevelRun&) = delete;
  ~LevelRun() {
    monitor_.last_ = monitor_.changed_ = changed_;
    monitor_.level_ = monitor_.held_ = static_cast<std::int32_t>(level_);
  }

  /// Time at every level is added up, at zero too and where it is none: nobody can foresee it.
  [[gnu::always_inline]] void change(Time at, std::int64_t delta) {
    times_[level_] += (at - changed_).ps();
    changed_ = at;
    level_ += delta;
  }

 private:
  LevelMonitor& monitor_;
  Time changed_;
  std::int64_t level_ = 0;
  std::int64_t* times_ = nullptr;
};

}  // namespace cxloom
