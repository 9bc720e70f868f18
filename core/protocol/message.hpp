// A message: what is routed through the interconnect, one cache line of state.
#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "protocol/opcode.hpp"
#include "protocol/segment.hpp"

namespace cxloom {

struct Request;

struct alignas(64) Message {
  Message* next = nullptr;  ///< link of the queue it waits in
  Request* parent =
      nullptr;  ///< the request that waits for it, whose message it is; none for write-backs and snoops
  Address address;
  Time tail;     ///< after its head, its last byte arrives this much later
  Time since;    ///< when it joined the queue it waits in
  Time blocked;  ///< the queue's clock of credit-blocked time when it joined; the device's own once received
  NodeId source;
  NodeId destination;
  std::uint16_t size = 0;  ///< payload bytes of the access; zero once it has failed
  std::uint16_t port = 0;  ///< the receiver's port at which it came in; the receiver's own once released
  Opcode opcode = Opcode::kMemRd;
  Channel channel = Channel::kM2SReq;
  std::uint16_t hops = 0;  ///< links crossed so far, there and back

  /// Charges the waiting request, if there is one. (Defined beside Request.)
  void charge(Segment segment, Time until);
  /// Payload bytes that travel in this message.
  std::uint64_t payload() const { return carries_data(opcode) ? size : 0; }
};

static_assert(sizeof(Message) <= 64, "a message is one cache line");

}  // namespace cxloom
