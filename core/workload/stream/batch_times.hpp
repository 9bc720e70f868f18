// When the accesses of a trace were answered, batch by batch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

/// The times that pieces of a trace took, for a feeder.
class BatchTimes {
 public:
  /// A batch of so many records was read.
  void append(std::uint64_t records) {
    ends_.push_back((ends_.empty() ? 0 : ends_.back()) + records);
    latest_.emplace_back();
  }
  /// The record of that number, from 0, was answered.
  void answered(std::uint64_t number, Time now) {
    const auto batch = std::ranges::upper_bound(ends_, number) - ends_.begin();
    Time& latest = latest_[static_cast<std::size_t>(batch)];
    latest = std::max(latest, now);
  }
  /// When the last answer of each batch came; zero: none has.
  const std::vector<Time>& latest() const { return latest_; }

 private:
  std::vector<std::uint64_t> ends_;  // number behind the last record
  std::vector<Time> latest_;
};

}  // namespace cxloom
