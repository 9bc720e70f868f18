// The record of the CXL.io packets that one device sends to another. It is kept where
// they end, so that a posted write, which nothing answers, need not be reported back.
#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "kernel/distribution.hpp"
#include "kernel/measured_window.hpp"
#include "protocol/account.hpp"
#include "protocol/segment_sums.hpp"

namespace cxloom {

class Kernel;

/// Counts what happens one after the other. The mean number of what has begun and not ended follows from two
/// counts, which may be kept at two places.
class MomentCount {
 public:
  void add(Time now) {
    ++count_;
    if (!measured_.is_open()) return;
    after_opening_ += static_cast<std::uint64_t>((now - measured_.opened()).ps());
  }
  void open(Time now) {
    measured_.open(now);
    before_opening_ = count_;
  }
  void close(Time now) {
    measured_.close(now);
    before_close_ = count_;
  }
  /// In all, from the beginning.
  std::uint64_t count() const { return count_; }
  /// Until the window opened, and until it closed.
  std::uint64_t before_opening() const { return before_opening_; }
  std::uint64_t before_close() const { return before_close_; }
  /// Over the window, the integral of the count at each time, in picoseconds.
  Wide integral() const {
    return Wide{before_close_} * static_cast<std::uint64_t>(length().ps()) - after_opening_;
  }
  /// The measured window has opened and not closed.
  bool is_open() const { return measured_.is_open(); }
  /// The length of the window, once it is closed.
  Time length() const { return measured_.length(); }

 private:
  std::uint64_t count_ = 0;
  std::uint64_t before_opening_ = 0;
  std::uint64_t before_close_ = 0;
  Wide after_opening_ = 0;
  MeasuredWindow measured_;
};

/// The packets that have ended.
class IoRecord {
 public:
  /// A packet that was sent at `begun` ends now, its account charged up to now.
  void add(const Account& account, Time begun, Time now);
  /// It is opened and closed with the window from now on.
  void measure_in(Kernel& kernel);

  const MomentCount& ended() const { return ended_; }
  // The packets that ended in the window.
  const LatencyDistribution& latency() const { return latency_; }
  SegmentSums::Sums segment_sums_ps() const { return segments_.in_ps(); }

 private:
  MomentCount ended_;
  LatencyDistribution latency_;
  SegmentSums segments_;
};

}  // namespace cxloom
