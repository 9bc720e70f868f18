// Which parts of a program's run are recorded.
#pragma once

#include <cstdint>

namespace cxloom {

/// A run is recorded where all agree: the recorder, the regions of interest of all threads, and the sample.
class RecordedParts {
 public:
  /// With `regions` only within regions of interest. Of each `period` the last `window` instructions; 0: all.
  RecordedParts(bool regions, std::uint64_t window, std::uint64_t period);

  bool recording() const { return wanted_ && in_window_ && (!in_regions_ || inside_ > 0); }

  /// While it is not wanted, nothing is recorded.
  void set_wanted(bool wanted) { wanted_ = wanted; }
  void begin_region() {
    ++inside_;
    ++regions_;
  }
  void end_region() { --inside_; }
  /// A region of some thread has begun and not ended.
  bool in_region() const { return inside_ > 0; }
  /// Regions that have begun.
  std::uint64_t regions() const { return regions_; }
  /// So many instructions have begun in all: true if a window begins or ends with them.
  bool reach(std::uint64_t instructions) {
    if (instructions < change_) [[likely]]
      return false;
    in_window_ = !in_window_;
    change_ += in_window_ ? window_ : period_ - window_;
    return true;
  }

 private:
  bool in_regions_;
  std::uint64_t window_;
  std::uint64_t period_;
  std::uint64_t change_;  // number of instructions in all at which a window of the sample begins or ends
  std::uint64_t regions_ = 0;
  std::uint64_t inside_ = 0;  // regions of all threads that have begun and not ended
  bool in_window_ = true;
  bool wanted_ = true;
};

}  // namespace cxloom
