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
  explicit LevelRun(LevelMonitor& monitor)
      : monitor_(monitor),
        changed_(monitor.changed_),
        last_(monitor.last_),
        integral_(monitor.integral_),
        level_(monitor.level_),
        held_(monitor.held_),
        maximum_(monitor.maximum_) {
    find_times();
  }
  LevelRun(const LevelRun&) = delete;
  LevelRun& operator=(const LevelRun&) = delete;
  ~LevelRun() {
    monitor_.changed_ = changed_;
    monitor_.last_ = last_;
    monitor_.integral_ = integral_;
    monitor_.level_ = level_;
    monitor_.held_ = held_;
    monitor_.maximum_ = maximum_;
  }

  [[gnu::always_inline]] void change(Time at, std::int32_t delta) {
    if (at != changed_) {
      if (level_ != held_) end_hold();
      changed_ = at;
    }
    level_ += delta;
  }

 private:
  [[gnu::always_inline]] void end_hold() {
    if (!monitor_.closed_) {
      const std::int64_t elapsed = (changed_ - last_).ps();
      last_ = changed_;
      if (held_ != 0 && elapsed != 0) account(elapsed);
    }
    held_ = level_;
  }
  [[gnu::always_inline]] void account(std::int64_t elapsed) {
    if (held_ > maximum_) maximum_ = held_;
    integral_ += static_cast<double>(held_) * static_cast<double>(elapsed);
    if (static_cast<std::size_t>(held_) < own_) [[likely]] {
      times_[held_] += elapsed;
    } else {
      monitor_.count_time(held_, elapsed);
      find_times();
    }
  }
  void find_times() {
    times_ = monitor_.time_at_.data();
    own_ = monitor_.exact_heights();
  }

  LevelMonitor& monitor_;
  Time changed_;
  Time last_;
  double integral_;
  std::int32_t level_;
  std::int32_t held_;
  std::int32_t maximum_;
  std::int64_t* times_ = nullptr;
  std::size_t own_ = 0;  // heights that have a place of their own there, which is their number
};

}  // namespace cxloom
