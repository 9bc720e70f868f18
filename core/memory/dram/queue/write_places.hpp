// The places of the write queue. A write holds one until its data are in the device.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/ring.hpp"
#include "memory/dram/device/counters.hpp"
#include "memory/dram/device/timers.hpp"

namespace cxloom {

class DramWritePlaces {
 public:
  explicit DramWritePlaces(std::uint32_t places) : places_(places) {}

  bool room() const { return held_ < places_; }
  /// When the next place is free whose data are on their way; kNeverClock if there is none.
  Clock next_free() const { return next_free_; }
  void take() { ++held_; }
  /// A write has gone out; its data are in the device at `at`. Calls come in the order of `at`.
  void leave(Clock at) {
    next_free_ = std::min(next_free_, at);
    leaving_.push_back(at);
  }
  /// Frees the places whose data have left by `now`.
  void release(Clock now, DramLevel& level) {
    while (next_free_ <= now) {
      level.change(next_free_, -1);
      --held_;
      leaving_.pop_front();
      next_free_ = leaving_.empty() ? kNeverClock : leaving_.front();
    }
  }

 private:
  const std::uint32_t places_;
  std::uint32_t held_ = 0;
  Ring<Clock> leaving_;
  Clock next_free_ = kNeverClock;
};

}  // namespace cxloom
