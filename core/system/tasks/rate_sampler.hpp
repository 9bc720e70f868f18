// The rates of tasks that move lines together: measured in a window of lines, and taken for those between.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "system/tasks/activity.hpp"

namespace cxloom {

class System;

/// Time that is passed over in whole cycles leaves refreshes where they would have been.
struct RefreshCycle {
  Time length;   ///< zero: no memory is refreshed
  Time longest;  ///< refresh of a memory
  /// What a refresh of each memory takes whose refreshes do not repeat with the cycle, together.
  Time out_of_step;

  /// The most whole cycles within a time; all of it where nothing is refreshed.
  Time whole_of(Time time) const {
    return length > Time{} ? Time{time.ps() / length.ps() * length.ps()} : time;
  }
};

/// The cycle of all its memories together.
RefreshCycle refresh_cycle_of(const System& system);

/// What a window has found of activities that ran together.
struct RateWindow {
  std::vector<std::string> sorts = {};  ///< of the activities
  std::vector<double> rates = {};       ///< lines a picosecond, of each
  double error = 0;                     ///< of the rates, relative, with 99 % confidence
  Time skipped;                         ///< that its rates stood for
  std::uint64_t used = 0;               ///< times
};

class RateSampler {
 public:
  /// A window is the nearest length in which each batch that tells its error has whole cycles of refreshes.
  RateSampler(Time window, RefreshCycle refreshes);

  /// Another set of activities runs from now on. They live until the next call.
  void begin(Time now, std::vector<Activity*> activities);
  /// Between two looks, where no rate is known.
  Time period() const { return period_; }
  /// Somebody has to look again then.
  Time next_look() const { return next_look_; }
  /// Skips lines if their rates are known; gives the time that they stand for, at most `most`, or zero.
  Time look(Time now, Time most);
  /// Nobody moves lines; gives the time of `most` that may be passed over.
  Time pass(Time most);

  /// By what the activities are.
  const std::map<std::string, RateWindow>& windows() const { return windows_; }
  /// What the last look at the activities has found that was too uncertain to skip by; without rates where
  /// there was none.
  const RateWindow& uncertain() const { return uncertain_; }
  /// How far all the time that was skipped may be from what lines would take.
  double error_ps() const { return error_; }

 private:
  using Snapshot = std::vector<ActivityProgress>;

  std::string sorts_now(std::vector<std::string>& sorts) const;
  bool measured(const std::vector<std::string>& sorts, RateWindow& found) const;
  double rate_error(std::size_t activity, double rate) const;
  double turn_error(std::size_t activity, double rate) const;
  double burst_error(std::size_t activity) const;
  Time skip(RateWindow& window, Time most);
  void restart(Time now);
  void thin();

  RefreshCycle refreshes_;
  Time period_;  // between two looks
  Time settle_;  // until rates are steady, and before a transfer ends
  std::vector<Activity*> activities_;
  bool all_move_ = false;  // each has moved a line
  Time next_look_ = Time::max();
  std::string key_;  // at the last look; empty: there was none of these activities
  std::vector<Snapshot> snapshots_;
  std::int64_t stride_ = 1;  // periods between two of them
  std::map<std::string, RateWindow> windows_;
  RateWindow uncertain_;
  double error_ = 0;
};

}  // namespace cxloom
