// One end of a link: it transmits in one direction, and returns credits for what comes in from the other end.
#pragma once

#include <cstdint>
#include <string>

#include "base/measure.hpp"
#include "base/units.hpp"
#include "component/component.hpp"
#include "component/port.hpp"
#include "interconnect/link_params.hpp"
#include "interconnect/wire.hpp"
#include "interconnect/wire_monitor.hpp"
#include "kernel/kernel.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class FlitMonitor;
class LinkEnd;

/// What a link end needs to know of the two components it joins.
struct LinkEndSetup {
  Component& owner;  ///< sends here
  Component& receiver;
  std::uint16_t receiver_port = 0;
  std::uint16_t owner_port = 0;
  Wire wire;               ///< as the end finds it, idle
  unsigned direction = 0;  ///< on the wire
  Time port_delays;        ///< of both ends together
  Time delay;              ///< time of flight in this direction
  MessageCost cost;
  Segment queue_segment = Segment::kLinkQueue;  ///< what waiting for this wire is called
  LinkEnd* shares_wire = nullptr;               ///< half duplex: the wire is that of this end instead
};

class alignas(64) LinkEnd : public Port, public EventHandler {
 public:
  LinkEnd(Kernel& kernel, const LinkEndSetup& setup);

  /// "host->bus".
  std::string name() const final { return owner_.name() + "->" + receiver_.name(); }
  const Component& owner() const { return owner_; }
  const Component& receiver() const { return receiver_; }
  bool unlimited() const { return wire_->unlimited(); }
  const Rate& rate() const { return wire_->rate(); }
  /// From the first byte leaving until it is at the receiver, without waiting and serialisation.
  Time flight() const { return port_delays_ + delay_; }
  /// The receiver's, from there until `receive` is called for the message.
  Time pipeline() const { return pipeline_; }
  std::uint64_t message_bytes(std::uint64_t payload) const {
    return payload > 0 ? payload + data_header_ : header_;
  }
  /// The serialisation of a line of data on an idle wire.
  virtual Time line_time() const { return RateMeter(rate()).advance(message_bytes(kLineBytes)); }

  /// Brings the monitors up to `now`, where turns are worked off later than they happen.
  virtual void catch_up(Time /*now*/) {}
  virtual void open_window(Time now) { monitor_.open(now); }
  virtual void close_window(Time now) { monitor_.close(now); }
  /// What the flits carry; none on a wire without flits.
  virtual const FlitMonitor* flits() const { return nullptr; }
  WireMonitor& monitor() { return monitor_; }
  const WireMonitor& monitor() const { return monitor_; }
  /// Time in the window in which messages of a class waited for credits; zero without credits.
  virtual Time credit_blocked(Channel /*channel*/) const { return Time{}; }
  /// The same, summed over the classes.
  Time total_credit_blocked() const {
    Time total;
    for (std::size_t i = 0; i < kChannelCount; ++i) total += credit_blocked(static_cast<Channel>(i));
    return total;
  }

 protected:
  /// Puts the message on the wire, whose head has been ready since `ready` and may start now or later; charges the
  /// time until it is with the receiver. Returns when its last byte leaves.
  Time depart(Message& message, Time ready);
  /// For a wire of flits: the last part of the message that the receiver needs is sent at `sent`. Charges what is left
  /// until it is with the receiver, and returns when that is.
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
  /// Gives an accounted message to the receiver: at a time of this event or a later one, or within this event.
  void deliver(Message& message, Time at) { kernel_.deliver(at, source_, receiver_, message); }
  void deliver_now(Message& message) { receiver_.receive(message); }
  void hand_over(Message& message, Time sent) { deliver(message, account_arrival(message, sent)); }
  /// For a message that turns back here: the owner gets it as if it had come in through this port.
  void return_to_owner(Message& message);
  Segment queue_segment() const { return queue_segment_; }

  Kernel& kernel() { return kernel_; }
  const Kernel& kernel() const { return kernel_; }
  Wire& wire() { return *wire_; }
  const Wire& wire() const { return *wire_; }
  unsigned direction() const { return direction_; }
  EventSource& source() { return source_; }

 private:
  // What every message touches lies together: a hop is paid for in cache lines.
  Kernel& kernel_;
  Component& receiver_;
  Wire* wire_;
  EventSource source_;
  Time port_delays_;
  std::uint16_t header_;  // bytes, as in MessageCost
  std::uint16_t data_header_;
  std::uint16_t receiver_port_;
  Segment queue_segment_;
  std::uint8_t direction_;
  Time delay_;
  Time pipeline_;
  Wire own_wire_;
  bool to_head_taker_;
  std::uint16_t owner_port_;
  WireMonitor monitor_;
  Component& owner_;
};

/// Transmits in the order of arrival and never runs out of room at the other end: the departure is known on arrival, so
/// that a hop costs one event. Its wire is its own, or has no limit.
class FifoLinkEnd final : public LinkEnd {
 public:
  using LinkEnd::LinkEnd;

  void send(Message& message, Time ready) override { depart(message, ready); }
  bool queues() const override { return !unlimited(); }
};

}  // namespace cxloom
