// The account of messages that wait for a link while it fails and is repaired.
#pragma once

#include "base/units.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// The segment that a wait for a failed link is charged to.
inline constexpr Segment kInterrupted = Segment::kRetry;

/// The tail of a message has kept coming in since its head joined the queue.
inline void pass_tail(Message& message, Time now) {
  const Time waited = now - message.since;
  message.tail = message.tail > waited ? message.tail - waited : Time{};
}

/// It has waited for this up to now, and goes on waiting, for something else.
inline void charge_wait(Message& message, Segment segment, Time now) {
  pass_tail(message, now);
  message.since = now;
  message.charge(segment, now);
}

}  // namespace cxloom
