// A component's end of a link: where it hands over messages, and says when a receive buffer is free again.
#pragma once

#include <cstddef>

#include "base/prefetch.hpp"
#include "base/units.hpp"
#include "protocol/class_vc.hpp"

namespace cxloom {

class WireMonitor;

/// Where the state of a port lies that a message touches: to be fetched ahead of its events.
struct PortMemory {
  const void* end = nullptr;      ///< of the link: four lines
  const void* turns = nullptr;    ///< for the wire: two lines
  const void* vcs = nullptr;      ///< of these turns: a line for each
  const void* credits = nullptr;  ///< of the other end: a line for each virtual channel

  /// For a message that leaves by the port.
  [[gnu::always_inline]] void fetch_for_leaving(ClassVc vc) const {
    for (std::size_t i = 0; i < 4; ++i) prefetch(end, i);
    if (!turns) return;
    for (std::size_t i = 0; i < 2; ++i) prefetch(turns, i);
    prefetch(vcs, vc);
  }
  /// For one that has come in by it.
  [[gnu::always_inline]] void fetch_for_release(ClassVc vc) const {
    if (!credits) return;
    prefetch(end);
    prefetch(credits, vc);
  }
};

/// The queues before a port's wire. Who has queues of its own knows what they are:
/// interconnect/channel/virtual_channels.hpp.
class PortQueues {
 protected:
  ~PortQueues() = default;
};

class Port {
 public:
  Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  virtual ~Port() = default;

  /// Takes a message for transmission and always succeeds: the port queues what the wire cannot take yet. The
  /// head is ready at `ready`, the last byte `message.tail` later. `ready` is not before now, and never
  /// decreases from one call to the next unless the port is shared.
  virtual void send(Message& message, Time ready) = 0;

  /// Several parts of the component send here, each ahead of time: from now on messages leave in the order in
  /// which they are ready, whatever the order of the calls. To be said before the first message.
  virtual void share() = 0;

  /// Where a component with queues of its own asks for the wire; null: this port has no turns to give.
  virtual PortQueues* queues() const { return nullptr; }
  /// The load now, in messages: those that wait for the wire, the one on it, and those whose credit of the
  /// class has not come back from the far end.
  virtual std::uint32_t load(Channel which) = 0;
  /// Its wire has no limit of bandwidth.
  virtual bool unlimited() const = 0;
  /// The monitor of what it sends.
  virtual WireMonitor& monitor() = 0;
  /// To be asked once it is connected.
  virtual PortMemory memory() const { return {}; }

  /// Somebody counts the messages that come in here: `release` does something.
  bool returns_credits() const { return returns_credits_; }
  /// Says that the receive buffer which `message` took when it came in through this port is free from time
  /// `at` on. Receivers call it once for every message; without flow control it costs nothing.
  void release(const Message& message, Time at) { release(vc_of(message.channel), at); }
  /// Says that for a message which came in by this virtual channel, one of several of its class.
  void release(ClassVc vc, Time at) {
    if (returns_credits_) return_credit(vc, at);
  }

 protected:
  virtual void return_credit(ClassVc /*virtual channel*/, Time /*at*/) {}
  bool returns_credits_ = false;
};

}  // namespace cxloom
