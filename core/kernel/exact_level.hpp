// A level of any size, such as bytes, or how much has come so far, and its exact integral over the window.
// `LevelMonitor` is for what fits into 31 bits, and has its distribution.
#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "kernel/measured_window.hpp"

namespace cxloom {

class ExactLevel {
 public:
  std::uint64_t level() const { return level_; }
  /// It is `level` from `now` on, which never decreases.
  void set(Time now, std::uint64_t level) {
    advance(now);
    level_ = level;
  }
  /// One more has come.
  void count(Time now) { set(now, level_ + 1); }

  void open(Time at) {
    measured_.open(at);
    last_ = at;
    integral_ = 0;
    at_opening_ = level_;
  }
  void close(Time at) {
    advance(at);
    measured_.close(at);
    at_close_ = level_;
  }
  const MeasuredWindow& measured() const { return measured_; }
  /// When the window opened, and when it closed.
  std::uint64_t at_opening() const { return at_opening_; }
  std::uint64_t at_close() const { return at_close_; }
  /// Level times picoseconds in the window.
  Wide integral() const { return integral_; }
  /// Over the window; zero for one of no length.
  double mean() const {
    const auto length = static_cast<double>(measured_.length().ps());
    return length > 0.0 ? static_cast<double>(integral_) / length : 0.0;
  }

 private:
  void advance(Time now) {
    if (measured_.is_open()) integral_ += Wide{level_} * static_cast<std::uint64_t>((now - last_).ps());
    last_ = now;
  }

  std::uint64_t level_ = 0;
  std::uint64_t at_opening_ = 0;
  std::uint64_t at_close_ = 0;
  Wide integral_ = 0;
  Time last_;  // the integral goes up to here
  MeasuredWindow measured_;
};

}  // namespace cxloom
