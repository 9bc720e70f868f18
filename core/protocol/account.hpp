// An account: where the time of something that somebody waits for went, up to a mark.
#pragma once

#include <array>
#include <cstddef>

#include "base/error.hpp"
#include "base/units.hpp"
#include "protocol/segment.hpp"

namespace cxloom {

/// Charging a segment moves the mark, so that the segments always sum to the time from the opening of the account to the
/// mark.
struct Account {
  Time mark;
  std::array<Time, kSegmentCount> segments{};

  /// Accounts for the time from the mark up to `until`, and moves the mark there.
  void charge(Segment segment, Time until) {
    segments[static_cast<std::size_t>(segment)] += until - mark;
    mark = until;
  }
  /// Takes over the time of a child, which began with nothing at this mark: what was waited for is answered.
  void join(const Account& child) {
    for (std::size_t i = 0; i < kSegmentCount; ++i) {
      segments[i] += child.segments[i];
      mark += child.segments[i];
    }
    ensure(mark == child.mark, "an account that was charged for less than the time that it waited");
  }
  Time of(Segment segment) const { return segments[static_cast<std::size_t>(segment)]; }
};

}  // namespace cxloom
