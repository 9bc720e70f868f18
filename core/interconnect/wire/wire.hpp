// A wire: carries one message at a time at a rational rate. A full-duplex link has two, a half-duplex link
// one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/units.hpp"

namespace cxloom {

class Wire {
 public:
  struct Use {
    Time start;
    Time end;
    Time turn;  ///< how long it turned before
  };

  explicit Wire(Rate rate, Time turnaround = {}) : meter_(rate), turnaround_(turnaround) {}

  bool unlimited() const { return meter_.rate().unlimited(); }
  const Rate& rate() const { return meter_.rate(); }
  Time free_at() const { return free_at_; }
  /// When a message in `direction` (0 or 1) may start at the earliest.
  Time free_for(unsigned direction) const { return free_at_ + turn(direction); }
  /// How long it has to turn before a message in `direction`.
  Time turn(unsigned direction) const { return turns(direction) ? turnaround_ : Time{}; }
  Time turnaround() const { return turnaround_; }
  /// The wire runs at another rate from now on; a message on it goes on at the old one.
  void change_rate(Rate rate) { meter_ = RateMeter(rate); }
  unsigned last_direction() const { return last_direction_; }

  // Something in a direction could go but for the wire: so that two directions that share it take turns.
  void want(unsigned direction) { wanted_[direction] = true; }
  void want_no_more(unsigned direction) { wanted_[direction] = false; }
  bool wanted(unsigned direction) const { return wanted_[direction]; }

  /// Carries `bytes` as soon as the wire is free after `ready`; the last byte is there to be sent at
  /// `tail_ready`, and holds the wire until then (cut-through from a slower link).
  Use carry(std::uint64_t bytes, Time ready, Time tail_ready, unsigned direction) {
    const Time turned = turnaround_ == Time{} ? Time{} : turn(direction);
    const Time start = std::max(ready, free_at_ + turned);
    last_direction_ = direction;
    meter_.restart_if(start > free_at_);
    free_at_ = std::max(start + meter_.advance(bytes), tail_ready);
    return {start, free_at_, turned};
  }

 private:
  static constexpr unsigned kNobody = 2;
  bool turns(unsigned direction) const { return last_direction_ == 1 - direction; }

  RateMeter meter_;
  Time turnaround_;
  Time free_at_;
  unsigned last_direction_ = kNobody;
  std::array<bool, 2> wanted_{};
};

}  // namespace cxloom
