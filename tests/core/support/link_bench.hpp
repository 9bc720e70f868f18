// Two probes joined by a link, and messages to put on it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/arena.hpp"
#include "core/support/probe.hpp"
#include "interconnect/arbitration/arbitration.hpp"
#include "interconnect/link/end.hpp"
#include "interconnect/link/message_transmitter.hpp"
#include "kernel/kernel.hpp"
#include "protocol/message.hpp"
#include "protocol/request.hpp"

namespace cxloom::test {

inline constexpr std::uint64_t kAllEvents = ~std::uint64_t{0};
/// 10 ps per byte: a request of 16 B takes 160 ps, a message with 64 B of data and its 16 B header 800 ps.
inline const Bandwidth kTenPerByte{Rate::per_time(1, 10)};

/// Messages with or without a waiting request, kept until the end of the test.
class Messages {
 public:
  Message& make(Opcode opcode, std::uint16_t size = 64) {
    Message& message = messages_.emplace_back();
    message.opcode = opcode;
    message.channel = channel_of(opcode);
    message.size = size;
    return message;
  }
  /// One that a request waits for, whose account starts at `created`.
  Message& tracked(Opcode opcode, Time created = {}, std::uint16_t size = 64) {
    Message& message = make(opcode, size);
    Account& account = accounts_.emplace_back();
    message.age = created;
    account.open(created);
    message.account = &account;
    return message;
  }
  static Time segment(const Message& message, Segment segment) { return message.account->of(segment); }

 private:
  std::deque<Message> messages_;
  std::deque<Account> accounts_;
};

template <class Kind>
std::unique_ptr<Arbiter> make_arbiter(const ArbitrationContext& context) {
  return std::make_unique<Kind>(typename Kind::Params{}, context);
}

/// What a link between `a` and `b` is like: the test says what differs from an ideal link.
struct LinkOf {
  Bandwidth bandwidth{};
  Time port_delays{};  ///< of both ends together
  Time delay{};
  Time turnaround{};
  MessageCost cost{};
  ClassCredits credits{};
  std::unique_ptr<Arbiter> (*arbiter)(const ArbitrationContext& context) = nullptr;  ///< null: turns
  bool shared = false;                                                               ///< half duplex
  unsigned virtual_channels = 1;                                                     ///< of each class
};

inline LinkPath::Setup path_of(const LinkOf& link, Component& from, Component& to, unsigned direction = 0,
                               LinkPath* shares_wire = nullptr) {
  return {from,
          to,
          0,
          0,
          Wire(link.bandwidth.rate, link.turnaround),
          direction,
          link.port_delays,
          link.delay,
          link.cost,
          Segment::kLinkQueue,
          shares_wire};
}

/// a <-> b with both ends queued (credits, arbitration, turns).
class QueuedLink {
 public:
  QueuedLink(Kernel& kernel, Probe& a, Probe& b, const LinkOf& link)
      : a_to_b(kernel, path_of(link, a, b, 0)),
        b_to_a(kernel, path_of(link, b, a, 1, link.shared ? &a_to_b.path() : nullptr)) {
    const VirtualChannels::Setup setup{link.credits, link.port_delays + link.delay, link.virtual_channels};
    for (LinkEnd* end : {&a_to_b, &b_to_a}) {
      end->set_transmitter(kernel.arena().make<MessageTransmitter>(end->path(), setup));
      if (link.arbiter)
        end->channels()->arbitrate_by(link.arbiter({end->owner(), 0, {1, "link", "arbitration"}}));
    }
    a_to_b.connect(b_to_a);
    b_to_a.connect(a_to_b);
    a.attach(a_to_b);
    b.attach(b_to_a);
  }

  LinkEnd a_to_b;
  LinkEnd b_to_a;
};

/// a -> b with an end that computes departures.
class FifoLink {
 public:
  FifoLink(Kernel& kernel, Component& a, Component& b, const LinkOf& link)
      : end(kernel, path_of(link, a, b)) {
    a.attach(end);
  }

  LinkEnd end;
};

}  // namespace cxloom::test
