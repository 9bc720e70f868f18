// The places of the write queue. A write holds one until its data are in the device.
#pragma once

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
  Clock next_free() const { return leaving_.empty() ? kNeverClock : leaving_.front(); }
  void take() { ++held_; }
  /// A write has gone out; its data are in the device at `at`. Calls come in the order of `at`.
  void leave(Clock at) { leaving_.push_back(at); }
  /// Frees the places whose data have left by `now`.
  void release(Clock now, DramLevel& level) {
    while (!leaving_.empty() && leaving_.front() <= now) {
      level.change(leaving_.front(), -1);
      --held_;
      leaving_.pop_front();
    }
  }

 private:
  const std::uint32_t places_;
  std::uint32_t held_ = 0;
  Ring<Clock> leaving_;
};

}  // namespace cxloom
