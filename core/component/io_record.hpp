// The record of the CXL.io packets that one device sends to another. It is kept where
// they end, so that a posted write, which nothing answers, need not be reported back.
#pragma once

#include "base/units.hpp"
#include "kernel/distribution.hpp"
#include "kernel/exact_level.hpp"
#include "kernel/windowed.hpp"
#include "protocol/account.hpp"
#include "protocol/segment_sums.hpp"

namespace cxloom {

class Kernel;

/// The packets that have ended.
class IoRecord {
 public:
  /// A packet that was sent at `begun` ends now, its account charged up to now.
  void add(const Account& account, Time begun, Time now);
  /// It is opened and closed with the window from now on.
  void measure_in(Kernel& kernel);

  /// How many have ended so far.
  const ExactLevel& ended() const { return ended_; }
  // The packets that ended in the window.
  const LatencyDistribution& latency() const { return in_window_->latency; }
  SegmentSums::Sums segment_sums_ps() const { return in_window_->segments.in_ps(); }

 private:
  struct Entries {
    LatencyDistribution latency;
    SegmentSums segments;
  };

  ExactLevel ended_;
  EntriesInWindow<Entries> in_window_;
};

}  // namespace cxloom
