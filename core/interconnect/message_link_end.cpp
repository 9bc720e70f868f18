#include "interconnect/message_link_end.hpp"

namespace cxloom {

void MessageLinkEnd::send(Message& message, Time ready) {
  if (ready > kernel().now()) {
    kernel().schedule(ready, source(), *this, kReady, reinterpret_cast<std::uintptr_t>(&message));
  } else {
    enqueue(message, ready);
  }
}

void MessageLinkEnd::arrange() {
  wants_wire_ = true;
  const Time free = wire().free_for(direction());
  if (free > kernel().now()) {
    if (wire_wake_pending_) return;
    wire_wake_pending_ = true;
    kernel().schedule(free, source(), *this, kWireFree);
  } else if (!settling_) {
    settling_ = true;
    kernel().at_end_of_instant(*this);
  }
}

// When both directions of a shared wire want it, they take turns.
bool MessageLinkEnd::should_yield() {
  auto* other = static_cast<MessageLinkEnd*>(opposite());
  return other && &other->wire() == &wire() && other->wants_wire_ && wire().last_direction() == direction();
}

void MessageLinkEnd::settle() {
  settling_ = false;
  const Time now = kernel().now();
  if (wire().free_for(direction()) > now) {  // the other direction was first
    arrange();
    return;
  }
  if (should_yield()) {
    const Time other = wire().free_for(1 - direction());
    if (other <= now) {
      arrange();  // it goes at the end of this same instant
    } else if (!wire_wake_pending_) {
      wire_wake_pending_ = true;
      kernel().schedule(other, source(), *this, kWireFree);
    }
    return;
  }
  Feeder* feeder = pick();
  wants_wire_ = false;
  if (!feeder) return;

  Message& message = feeder->head();
  const Channel which = message.channel;
  use_credit(message, now);
  monitor().queue().change(now, -1);
  const Time end = depart(message, now);
  left(which);
  feeder->taken(end);
  if (can_go() != 0) arrange();
}

void MessageLinkEnd::wake(std::uint8_t kind, std::uint64_t payload) {
  switch (kind) {
    case kReady: enqueue(*reinterpret_cast<Message*>(payload), kernel().now()); return;
    case kWireFree:
      wire_wake_pending_ = false;
      if (can_go() != 0) arrange();
      return;
    default: QueuedLinkEnd::wake(kind, payload);
  }
}

}  // namespace cxloom
