// Two probes joined by a link, and messages to put on it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/support/probe.hpp"
#include "interconnect/link_end.hpp"
#include "interconnect/message_link_end.hpp"
#include "protocol/message.hpp"
#include "protocol/request.hpp"

namespace cxloom::test {

inline constexpr std::uint64_t kAllEvents = ~std::uint64_t{0};

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
    account.mark = message.age = created;
    message.account = &account;
    return message;
  }
  static Time segment(const Message& message, Segment segment) { return message.account->of(segment); }

 private:
  std::deque<Message> messages_;
  std::deque<Account> accounts_;
};

/// What a link between `a` and `b` is like: the test says what differs from an ideal link.
struct LinkOf {
  Bandwidth bandwidth{};
  Time port_delays{};  ///< of both ends together
  Time delay{};
  Time turnaround{};
  MessageCost cost{};
  ClassCredits credits{};
  Arbitration arbitration = Arbitration::kRoundRobin;
  bool shared = false;  ///< half duplex
};

/// a <-> b with both ends queued (credits, arbitration, turns).
class QueuedLink {
 public:
  QueuedLink(Kernel& kernel, Probe& a, Probe& b, const LinkOf& link)
      : a_to_b(kernel, setup(link, a, b, 0, nullptr)),
        b_to_a(kernel, setup(link, b, a, 1, link.shared ? &a_to_b : nullptr)) {
    a_to_b.set_opposite(b_to_a);
    b_to_a.set_opposite(a_to_b);
    a.attach(a_to_b);
    b.attach(b_to_a);
  }

 private:
  static QueuedLinkEnd::Setup setup(const LinkOf& link, Probe& from, Probe& to, unsigned direction,
                                    LinkEnd* shares_wire) {
    const Wire wire(link.bandwidth.rate, link.turnaround);
    return {LinkEndSetup{from, to, 0, 0, wire, direction, link.port_delays, link.delay, link.cost,
                         Segment::kLinkQueue, shares_wire},
            link.credits, link.arbitration, link.port_delays + link.delay};
  }

 public:
  MessageLinkEnd a_to_b;
  MessageLinkEnd b_to_a;
};

/// a -> b with an end that computes departures.
class FifoLink {
 public:
  FifoLink(Kernel& kernel, Probe& a, Probe& b, const LinkOf& link)
      : end(kernel, LinkEndSetup{a, b, 0, 0, Wire(link.bandwidth.rate, link.turnaround), 0, link.port_delays,
                                 link.delay, link.cost, Segment::kLinkQueue}) {
    a.attach(end);
  }

  FifoLinkEnd end;
};

}  // namespace cxloom::test
