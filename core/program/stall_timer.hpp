// How long something is waited for, by the clock of this machine.
#pragma once

#include <chrono>
#include <cstdint>

namespace cxloom {

/// The reader may have been away for long: only the time counts in which it has looked and found nothing.
class StallTimer {
 public:
  using Clock = std::chrono::steady_clock;

  explicit StallTimer(Clock::duration longest) : longest_(longest) {}

  /// Nothing came of what has that number, which is not zero. True if it has been waited for too long;
  /// waiting begins anew with another number.
  bool ends(std::uint32_t number = 1, Clock::time_point now = Clock::now()) {
    if (number != number_) since_ = now;
    number_ = number;
    return now - since_ >= longest_;
  }
  /// Something came.
  void begin_anew() { number_ = 0; }

 private:
  Clock::duration longest_;
  std::uint32_t number_ = 0;
  Clock::time_point since_;
};

}  // namespace cxloom
