// For how many windows of a divided run nothing happens that concerns all of its parts at once.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

class System;

/// Requesters are what opens and closes the measured window, and ends a run: by the number of requests that
/// they have issued. So many are foreseen for a window as any of them has issued in one, with ample room.
class WindowForecast {
 public:
  enum class Next : std::uint8_t {
    kAllWarm,         ///< the measured window opens when the last requester is warm
    kFirstOutOfWork,  ///< it closes when the first one has run out of work
    kAllOutOfWork,    ///< the run ends
  };

  explicit WindowForecast(const System& system) : system_(system) {}

  /// `next` is sure not to come in the next window.
  bool far(Next next);
  /// So many windows, or merged ones of that length, have passed since the last call.
  void passed() { ++passed_; }
  /// Requests that may be answered in a window at most, as far as is known.
  std::uint64_t most_answers() const { return kRoom * most_in_all_ + queues_ + kMargin; }

 private:
  static constexpr std::uint64_t kRoom = 4;
  static constexpr std::uint64_t kMargin = 64;
  static constexpr std::uint64_t kMostGranted = 256;  // windows until requesters are asked again

  void learn();
  std::uint64_t left(Next next) const;

  const System& system_;
  std::vector<std::uint64_t> issued_;  // by requester, when they were asked last
  std::uint64_t passed_ = 0;           // windows since then
  std::uint64_t granted_ = 0;
  Next granted_for_ = Next::kAllWarm;
  std::uint64_t most_ = 0;         // requests that one has issued in a window
  std::uint64_t most_in_all_ = 0;  // that all have
  std::uint64_t queue_ = 0;        // the longest
  std::uint64_t queues_ = 0;       // all together
};

}  // namespace cxloom
