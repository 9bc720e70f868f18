// Wakes a link end by a given time. Of several times only the soonest is scheduled; later ones are asked for
// again.
#pragma once

#include <cstdint>
#include <optional>

#include "kernel/kernel.hpp"

namespace cxloom {

class TurnAlarm {
 public:
  /// `sleeper` is woken with `kind`.
  TurnAlarm(Kernel& kernel, EventSource& source, EventHandler& sleeper, std::uint8_t kind)
      : kernel_(kernel), source_(source), sleeper_(sleeper), kind_(kind) {}

  void wake_by(Time at) {
    if (at_ && *at_ <= at) return;
    at_ = at;
    kernel_.schedule(at, source_, sleeper_, kind_);
  }
  /// The sleeper has been woken, at `now`.
  void rang(Time now) {
    if (at_ && *at_ <= now) at_.reset();
  }

 private:
  Kernel& kernel_;
  EventSource& source_;
  EventHandler& sleeper_;
  std::optional<Time> at_;
  std::uint8_t kind_;
};

}  // namespace cxloom
