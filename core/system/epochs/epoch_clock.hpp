// The time of a study by epochs: instants, and accesses that the program has made by then.
#pragma once

#include <algorithm>

#include "base/units.hpp"

namespace cxloom {

class EpochClock {
 public:
  Time now() const { return now_; }
  /// Made so far.
  double accesses() const { return accesses_; }
  bool stalls() const { return now_ < stalled_until_; }
  Time stalled_until() const { return stalled_until_; }
  /// The program makes no accesses for so much longer.
  void stall(double ps) {
    lost_ += ps;
    stalled_at_ = accesses_;
    // What is below a picosecond is kept for the next time.
    part_ += ps;
    const auto whole = static_cast<std::int64_t>(part_);
    part_ -= static_cast<double>(whole);
    stalled_until_ = std::max(stalled_until_, now_) + Time{whole};
  }
  /// Nor until then.
  void stall_until(Time time) {
    const Time from = std::max(stalled_until_, now_);
    if (time <= from) return;
    lost_ += static_cast<double>((time - from).ps());
    stalled_until_ = time;
    stalled_at_ = accesses_;
  }
  void go_to(Time now, double accesses) {
    now_ = now;
    accesses_ = accesses;
  }
  /// Made since it stalled last.
  double since_stall() const { return accesses_ - stalled_at_; }
  /// Picoseconds in which it made none.
  double lost() const { return lost_; }

 private:
  Time now_;
  Time stalled_until_;
  double accesses_ = 0;
  double stalled_at_ = 0;  // accesses
  double part_ = 0;
  double lost_ = 0;
};

}  // namespace cxloom
