// The answer to a request that cannot be served.
#pragma once

#include "base/error.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// Makes a request of CXL.mem, or an answer to one, into an error answer of the device at `node`:
/// MemData-NXM, or Cmp to a write. It goes to the sender of the request.
inline void make_error_answer(Message& message, NodeId node) {
  const bool request = message.opcode == Opcode::kMemRd || message.opcode == Opcode::kMemWr ||
                       message.opcode == Opcode::kMemAtomic;
  ensure(request || message.opcode == Opcode::kMemData || message.opcode == Opcode::kCmp ||
             message.opcode == Opcode::kMemDataNxm,
         "errors answer reads, writes and atomic operations alone");
  const bool write = message.opcode == Opcode::kMemWr || message.opcode == Opcode::kCmp;
  message.tail = Time{};
  message.opcode = write ? Opcode::kCmp : Opcode::kMemDataNxm;
  message.channel = channel_of(message.opcode);
  message.size = 0;  // nothing was moved
  message.failed = true;
  if (request) message.destination = message.source;
  message.source = node;
}

/// It asks for something: an answer to it is still to be made.
constexpr bool is_request(const Message& message) {
  return message.channel == Channel::kM2SReq || message.channel == Channel::kM2SRwD;
}

}  // namespace cxloom
