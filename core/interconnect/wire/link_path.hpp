// One direction of a link, as a message on it sees it: the wire, the times on the way, and the component at
// the far end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/arena.hpp"
#include "base/prefetch.hpp"
#include "base/units.hpp"
#include "component/component.hpp"
#include "component/wire_monitor.hpp"
#include "interconnect/wire/link_params.hpp"
#include "interconnect/wire/wire.hpp"
#include "kernel/event_source.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class Kernel;

class LinkPath {
 public:
  /// What it needs to know of the two components it joins.
  struct Setup {
    Component& owner;  ///< sends here
    Component& receiver;
    std::uint16_t receiver_port = 0;
    std::uint16_t owner_port = 0;
    Wire wire;               ///< as the path finds it, idle
    unsigned direction = 0;  ///< on the wire
    Time port_delays;        ///< of both ends together
    Time delay;              ///< time of flight in this direction
    MessageCost cost;
    Segment queue_segment = Segment::kLinkQueue;  ///< what waiting for this wire is called
    LinkPath* shares_wire = nullptr;              ///< half duplex: the wire is that of this path instead
    Kernel* far_kernel = nullptr;                 ///< the receiver's, if it is another
  };

  LinkPath(Kernel& kernel, const Setup& setup);
  LinkPath(const LinkPath&) = delete;
  LinkPath& operator=(const LinkPath&) = delete;

  /// "host->bus".
  std::string name() const { return owner_.name() + "->" + receiver_.name(); }
  const Component& owner() const { return owner_; }
  const Component& receiver() const { return receiver_; }
  bool unlimited() const { return wire_->unlimited(); }
  const Rate& rate() const { return wire_->rate(); }
  /// From the first byte leaving until it is at the receiver, without waiting and serialisation.
  Time flight() const { return port_delays_ + delay_; }
  /// The receiver's, from there until `receive` is called for the message.
  Time pipeline() const { return pipeline_; }
  /// The owner's port: messages that leave by it come here.
  std::uint16_t owner_port() const { return owner_port_; }
  std::uint64_t message_bytes(std::uint64_t payload) const { return payload + headers_[payload > 0]; }
  /// What a message puts on the wire that travels in no flits.
  std::uint64_t bytes_of(const Message& message, std::uint64_t payload) const {
    if (message.opcode == Opcode::kCplD) [[unlikely]]
      return payload + completion_header_;
    return message_bytes(payload);
  }

  /// Puts the message on the wire, whose head has been ready since `ready` and may start now or later;
  /// charges the time until it is with the receiver.
  void depart(Message& message, Time ready);
  /// For a wire of flits: the last part of the message that the receiver needs is sent at `sent`. Charges
  /// what is left until it is with the receiver, and returns when that is.
  Time account_arrival(Message& message, Time sent) {
    message.tail = Time{};
    const Time arrival = sent + port_delays_ + delay_;
    if (Account* account = message.account) {
      account->charge(Segment::kSerialization, sent);
      account->charge(Segment::kPortDelay, sent + port_delays_);
      account->charge(Segment::kPropagation, arrival);
    }
    ++message.hops;
    message.port = receiver_port_;
    return arrival + pipeline_;
  }
  /// Gives an accounted message to the receiver: at a time of this event or a later one, or within this
  /// event.
  inline void deliver(Message& message, Time at);
  void deliver_now(Message& message) { receiver_.receive(message); }
  /// The ends have event queues of their own: what one does reaches the other no sooner than after the
  /// flight.
  bool cut() const { return &kernel_ != &far_kernel_; }
  /// Wakes something at the far end, no sooner than after the flight.
  inline void wake_far(EventHandler& handler, Time at, std::uint8_t kind, std::uint64_t payload);
  inline void hand_over(Message& message, Time sent);
  /// For a message that cannot cross the link: the owner finds another way for it, now.
  void take_back(Message& message) { owner_.take_back(message); }
  /// For a message that turns back here: the owner gets it as if it had come in through this port.
  void return_to_owner(Message& message);

  /// Asks memory for what `depart` touches.
  [[gnu::always_inline]] void fetch() const {
    for (std::size_t line = 0; line < 4; ++line) prefetch(this, line);
  }

  Segment queue_segment() const { return queue_segment_; }
  Kernel& kernel() { return kernel_; }
  const Kernel& kernel() const { return kernel_; }
  Wire& wire() { return *wire_; }
  const Wire& wire() const { return *wire_; }
  unsigned direction() const { return direction_; }
  /// The source of this end's events.
  EventSource& source() { return source_; }
  /// The source of the owner's events: it orders an owner's event that is scheduled here, too.
  EventSource& owner_source() { return owner_.source(); }
  WireMonitor& monitor() { return monitor_; }
  const WireMonitor& monitor() const { return monitor_; }
  /// Turns of the wire that both directions share, kept by the direction whose wire it is; null: it takes no
  /// time to turn.
  WireMonitor* turns() const { return turns_; }
  WireMonitor* own_turns() const { return own_turns_.get(); }

 private:
  [[gnu::always_inline]] inline void travel(Message& message, Time start);
  /// `depart` by a wire that has a rate. By itself, so that a wire without one needs none of its registers.
  [[gnu::noinline]] void take_turn(Message& message, Time ready);

  // What every message touches lies together: a hop is paid for in cache lines. In a link end the first four
  // members share a line with its own, the next ones with the wire's rate, the rest of the wire with what
  // books its use.
  Kernel& kernel_;
  Component& receiver_;
  Wire* wire_;
  EventSource source_;

  Kernel& far_kernel_;
  Time port_delays_;
  Time delay_;
  Time pipeline_;
  std::array<std::uint16_t, 2> headers_;  // bytes, as in MessageCost: without and with data
  std::uint16_t receiver_port_;
  std::uint8_t queue_place_;  // in accounts
  std::uint8_t direction_;
  Wire own_wire_;
  bool to_head_taker_;
  Segment queue_segment_;
  std::uint16_t owner_port_;
  std::uint16_t completion_header_;
  WireMonitor monitor_;
  Component& owner_;
  InArena<WireMonitor> own_turns_;
  WireMonitor* turns_;
};

}  // namespace cxloom
