// Credits of a message class on their way back to the end of a link that uses them. The line is all that the
// two ends share: one gives credits, the other takes arrived ones, and neither looks at the other.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "base/error.hpp"
#include "base/units.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "protocol/class_vc.hpp"

namespace cxloom {

class Kernel;

/// The user of a link end's credits: `user.wake(virtual channel, 0)` brings a credit that it asked for.
struct CreditUser {
  Kernel& kernel;
  EventHandler& user;
  EventSource source;
};

class CreditLine;

/// The way of credits from a part of a divided system to another: to these lines, by virtual channel.
struct CreditWay {
  Kernel& giver;
  const Kernel& user;
  CreditLine* lines;
};

/// A credit that arrives is an event of the line, the giver's. It is left out where nobody waits for it: a
/// credit is kept with the time at which it arrives, and counted when the others are used up.
///
/// One cache line. The giver writes the cache line of a credit without reading it, so that it waits for this
/// one alone.
class alignas(64) CreditLine {
 public:
  /// A credit arrives `delay` after it was given. There are so many `credits`, with the user, under way and
  /// held by those at the other end; none: credits of this class are not counted.
  CreditLine(const CreditUser& user, Time delay, ClassVc vc, std::optional<std::uint32_t> credits);
  /// What a giver has in place of a line of another part, all of which it leaves alone.
  CreditLine(const CreditLine& far, const CreditWay& way)
      : place_{.way = &way},
        delay_(far.delay_),
        user_(far.user_),
        total_(far.total_),
        vc_(far.vc_),
        limited_(far.limited_),
        sends_(true) {}
  /// The memory that a line of so many credits takes of the arena once one comes back.
  static constexpr std::uint64_t arena_bytes(std::uint32_t credits) {
    return std::bit_ceil(credits) * sizeof(Time);
  }

  // The giver.

  bool limited() const { return limited_; }
  /// A credit leaves at `at`, usually, but not always, behind the credits that are under way.
  void give(Time at) {
    if (sends_) [[unlikely]]
      return send(at + delay_);
    add(at + delay_);
  }

  // The user.

  /// How many there are.
  std::uint32_t total() const { return total_; }
  /// A credit has arrived by `now`, and not been taken.
  bool arrived(Time now) const { return head_ != tail_ && at(head_) <= now; }
  /// Takes the first one. Returns when it arrived.
  Time take() { return at(head_++); }
  /// A credit that it has used for nothing is back at once.
  void take_back(Time now) { add(now); }
  /// It waits for the next one: asks for the event.
  void await() {
    if (wake_before_ != kUnasked) return;
    wake_before_ = Time::max();
    if (head_ != tail_) wake_user(at(head_));
  }
  /// The event that was asked for has come.
  void awaited() { wake_before_ = kUnasked; }

 private:
  static constexpr Time kUnasked{-1};

  void add(Time arrival) {
    ensure(tail_ - head_ < total_, "more credits come back than there are: a buffer is released twice");
    if (!place_.coming) [[unlikely]]
      make_places();
    std::uint32_t place = tail_++;
    if (arrival < latest_) [[unlikely]] {
      for (; place != head_ && arrival < at(place - 1); --place) at(place) = at(place - 1);
    } else {
      latest_ = arrival;
    }
    at(place) = arrival;
    if (arrival < wake_before_) wake_user(arrival);
  }
  void make_places();
  void send(Time arrival);
  // The event of the credit that arrives then.
  void wake_user(Time at);

  Time& at(std::uint32_t number) { return place_.coming[number & mask_]; }
  const Time& at(std::uint32_t number) const { return place_.coming[number & mask_]; }

  union Place {
    Time* coming =
        nullptr;  ///< the arena's: when each credit under way arrives, soonest first; none before the first
    const CreditWay* way;  ///< of one that sends
  };

  Place place_;
  std::uint32_t head_ = 0;  // numbers of credits, which wrap around
  std::uint32_t tail_ = 0;
  Time latest_{kUnasked};       // when the last of all that were added arrives, under way or not
  Time wake_before_{kUnasked};  // a credit that arrives before then is to wake the user
  Time delay_;
  const CreditUser& user_;
  std::uint32_t total_;
  std::uint32_t mask_ = 0;  // of the numbers: their places
  ClassVc vc_;
  bool limited_;
  bool sends_ = false;  // to a line of another part
};

static_assert(sizeof(CreditLine) == 64);

}  // namespace cxloom
