// Distributions in constant memory: of latencies (one entry per request) and of levels (weighted by time).
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

/// Counts of time values in logarithmic buckets, each cut into 2^precision parts: a percentile is right to
/// one part in 2^precision, count, sum, minimum and maximum are exact. Buckets come into being when used.
class LatencyDistribution {
 public:
  explicit LatencyDistribution(unsigned precision = 7) : precision_(precision) {}

  void add(Time value) {
    if (value < minimum_) minimum_ = value;
    if (value > maximum_) maximum_ = value;
    ++count_;
    sum_ += static_cast<std::uint64_t>(value.ps());
    const auto ps = static_cast<std::uint64_t>(value.ps());
    if (const std::uint64_t place = place_of(ps); place < room_) [[likely]] {
      ++counts_[place];
    } else {
      count_in_new_octave(ps);
    }
  }
  /// Adds all entries of another distribution of the same precision.
  void merge(const LatencyDistribution& other);

  std::uint64_t count() const { return count_; }
  Wide sum_ps() const { return sum_; }
  double mean_ns() const;
  /// Zero if there is no entry.
  Time minimum() const { return count_ > 0 ? minimum_ : Time{}; }
  Time maximum() const { return maximum_; }
  /// The value below or at which a share `fraction` of all entries lies, in ns; zero if there is none.
  double quantile_ns(double fraction) const;
  /// The variance of the entries, as exact as percentiles are, in ps squared.
  double variance() const;

 private:
  /// The middle of a place of `counts_`, ps.
  double middle_of(std::size_t place) const;
  /// In `counts_`; beyond its end, if it has no room for the value yet. Above octave 0 the shifted value
  /// keeps its leading bit, 2^precision, which adds the octave that the shift lacks.
  std::uint64_t place_of(std::uint64_t value) const {
    const auto magnitude = static_cast<unsigned>(std::bit_width(value | std::uint64_t{1} << precision_));
    const unsigned shift = magnitude - precision_ - 1;
    return ((std::uint64_t{shift} - first_octave_) << precision_) + (value >> shift);
  }
  void count_in_new_octave(std::uint64_t value);
  void make_room(unsigned octave);

  unsigned precision_;
  std::uint64_t count_ = 0;
  Wide sum_ = 0;  // 10^8 requests of a fifth of a second pass 64 bits
  Time minimum_ = Time::max();
  Time maximum_;
  // From the lowest octave used to the highest, 2^precision counts each. Octave 0 holds the values below
  // 2^precision.
  unsigned first_octave_ = 0;
  unsigned octaves_ = 0;
  std::uint64_t room_ = 0;  // in `counts_`
  std::vector<std::uint64_t> counts_;
};

/// How long a level (of a queue, of requests in flight) stood at each height: mean and percentiles over time.
class LevelMonitor {
 public:
  static constexpr std::size_t kExact = 16;  ///< levels below are told apart, of others eight an octave
  static constexpr std::size_t kOwn = 128;   ///< levels below are accounted for apart
  std::int64_t level() const { return level_; }

  /// The level changes by `delta` at `at`, which never decreases.
  void change(Time at, std::int32_t delta) {
    if (at != changed_) {
      if (level_ != held_) end_hold();
      changed_ = at;
    }
    level_ += delta;
  }
  /// Accounts for the time up to `at`.
  void advance(Time at) {
    if (closed_) return;
    if (level_ != held_) end_hold();
    hold_until(at);
    changed_ = at;
  }
  /// Starts the measured window at `at` with the level as it is.
  void open(Time at);
  /// Ends it; later changes no longer count.
  void close(Time at) {
    advance(at);
    closed_ = true;
  }
  Time opened() const { return opened_; }
  bool closed() const { return closed_; }

  double mean() const;
  /// Level times picoseconds since the window opened.
  double integral() const;
  double maximum() const;
  /// The height at or below which the level stood for a share `fraction` of the window.
  double quantile(double fraction) const;

 private:
  friend class LevelRun;

  /// The level has stood at `held_` up to here.
  void hold_until(Time at) {
    const std::int64_t elapsed = (at - last_).ps();
    last_ = at;
    if (held_ != 0 && elapsed != 0) count_time(held_, elapsed);
  }
  void end_hold() {
    if (!closed_) hold_until(changed_);
    held_ = level_;
  }
  /// Picoseconds at `held_`, up to the last change, that have not been added up.
  std::int64_t held_for() const { return closed_ ? 0 : (changed_ - last_).ps(); }
  /// Picoseconds from the opening of the window up to its end, or to the last change.
  std::int64_t length() const { return (last_ - opened_).ps() + held_for(); }
  /// The level has stood at `height` for `elapsed` more picoseconds, neither of them zero.
  void count_time(std::int32_t height, std::int64_t elapsed) {
    if (static_cast<std::size_t>(height) < own_heights()) [[likely]] {
      time_at_[static_cast<std::size_t>(height)] += elapsed;
    } else {
      count_time_elsewhere(height, elapsed);
    }
  }
  void count_time_elsewhere(std::int32_t height, std::int64_t elapsed);
  void make_room(std::int64_t height);
  /// Heights that have a place of their own in `time_at_`, which is their number.
  std::size_t own_heights() const { return time_at_.size() < kOwn ? time_at_.size() : kOwn; }

  // A level that is back at its height within an instant, as that of requests in flight where the next one
  // follows an answer, has not changed: its time is added up when it has.
  std::int32_t level_ = 0;
  std::int32_t held_ = 0;  // from `last_` until `changed_`; since then it is `level_`
  Time changed_;
  Time last_;  // the account goes up to here; the end of the window once it is closed
  // Both are of the heights that share a bucket: of the others the times say it.
  double shared_integral_ = 0.0;  // exact below 2^53
  std::int32_t shared_maximum_ = 0;
  bool closed_ = false;
  Time opened_;
  // By level, that of zero means nothing; behind these by bucket.
  std::vector<std::int64_t> time_at_;
};

}  // namespace cxloom
