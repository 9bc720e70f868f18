#include "interconnect/wire/link_path.hpp"

#include "interconnect/wire/link_path_delivery.hpp"

namespace cxloom {

LinkPath::LinkPath(Kernel& kernel, const Setup& setup)
    : kernel_(kernel),
      receiver_(setup.receiver),
      wire_(setup.shares_wire ? setup.shares_wire->wire_ : &own_wire_),
      source_(kernel.new_source()),
      far_kernel_(setup.far_kernel ? *setup.far_kernel : kernel),
      port_delays_(setup.port_delays),
      delay_(setup.delay),
      pipeline_(setup.receiver.pipeline()),
      headers_{static_cast<std::uint16_t>(setup.cost.header.count()),
               static_cast<std::uint16_t>(setup.cost.data_header.count())},
      receiver_port_(setup.receiver_port),
      queue_place_(Account::place_of(setup.queue_segment)),
      direction_(static_cast<std::uint8_t>(setup.direction)),
      own_wire_(setup.wire),
      to_head_taker_(setup.receiver.takes_heads()),
      queue_segment_(setup.queue_segment),
      owner_port_(setup.owner_port),
      completion_header_(static_cast<std::uint16_t>(setup.cost.completion_header.count())),
      monitor_(kernel.arena().memory()),
      owner_(setup.owner),
      own_turns_(setup.wire.turnaround() > Time{} ? kernel.arena().make<WireMonitor>(kernel.arena().memory())
                                                  : nullptr),
      turns_(setup.shares_wire ? setup.shares_wire->turns_ : own_turns_.get()) {}

// From the wire, on which its head is since `start`, to the receiver. What it takes is read before anything
// is written: for all that the compiler knows the account may be a part of this.
inline void LinkPath::travel(Message& message, Time start) {
  const Time port_delays = port_delays_;
  const Time delay = delay_;
  const Time pipeline = pipeline_;
  Time tail = message.tail;
  if (to_head_taker_) tail = Time{};
  else message.tail = Time{};
  if (Account* account = message.account) {
    account->charge_at(queue_place_, start);
    account->charge_next(Segment::kPortDelay, port_delays);
    account->charge_next(Segment::kPropagation, delay);
    account->charge_next(Segment::kSerialization, tail);
  }
  ++message.hops;
  message.port = receiver_port_;
  deliver(message, start + port_delays + delay + tail + pipeline);
}

[[gnu::hot]] void LinkPath::depart(Message& message, Time ready) {
  if (!wire_->unlimited()) return take_turn(message, ready);
  // Never busy: messages pass it side by side, in any order.
  const std::uint64_t payload = message.payload();
  monitor_.count_at_once(bytes_of(message, payload), payload);
  travel(message, ready);
}

void LinkPath::take_turn(Message& message, Time ready) {
  const std::uint64_t payload = message.payload();
  const std::uint64_t bytes = bytes_of(message, payload);
  const Wire::Use use = wire_->carry(bytes, ready, ready + message.tail, direction_);
  if (use.turn > Time{}) [[unlikely]]
    turns_->book_turn(use.turn, use.start, kernel_.now());
  monitor_.book(
      {ready, use.start, use.end, static_cast<std::uint32_t>(bytes), static_cast<std::uint16_t>(payload)},
      kernel_.now());
  message.tail = use.end - use.start;
  travel(message, use.start);
}

void LinkPath::return_to_owner(Message& message) {
  message.port = owner_port_;
  kernel_.deliver(kernel_.now() + owner_.pipeline(), source_, owner_, message);
}

}  // namespace cxloom
