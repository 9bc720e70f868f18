// The answer to a request that cannot be served.
#pragma once

#include "base/error.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// It asks for something: an answer to it is still to be made.
constexpr bool is_request(const Message& message) {
  return message.channel == Channel::kM2SReq || message.channel == Channel::kM2SRwD;
}

/// Makes a request of CXL.mem, or an answer to one, into an error answer of the device at `node`:
/// MemData-NXM, or Cmp to what asks for no data. It goes to the sender of the request.
inline void make_error_answer(Message& message, NodeId node) {
  const bool request = is_request(message);
  ensure(request || message.channel == Channel::kS2MNDR || message.channel == Channel::kS2MDRS,
         "errors answer requests of CXL.mem alone");
  message.tail = Time{};
  switch (message.opcode) {
    case Opcode::kMemRd:
    case Opcode::kMemRdData:
    case Opcode::kMemAtomic:
    case Opcode::kMemData:
    case Opcode::kMemDataNxm: message.opcode = Opcode::kMemDataNxm; break;
    default: message.opcode = Opcode::kCmp; break;
  }
  message.channel = channel_of(message.opcode);
  message.size = 0;  // nothing was moved
  message.failed = true;
  if (request) message.destination = message.source;
  message.source = node;
}

}  // namespace cxloom
