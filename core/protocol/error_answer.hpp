// The answer to a request that cannot be served.
#pragma once

#include "base/error.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// It asks for something by CXL.mem: an answer to it is still to be made.
constexpr bool is_request(const Message& message) {
  return message.channel == Channel::kM2SReq || message.channel == Channel::kM2SRwD;
}

/// It answers a request by CXL.mem: an error may stand for it.
constexpr bool is_answer(const Message& message) {
  return (message.channel == Channel::kS2MNDR || message.channel == Channel::kS2MDRS) &&
         message.opcode != Opcode::kBIConflictAck;
}

/// The opcode of the error that answers a request, or stands for an answer to one: of CXL.mem MemData-NXM, or
/// Cmp to what asks for no data; of CXL.cache H2D Data or GO-I, as the errors of GO have no opcodes of their
/// own.
constexpr Opcode error_for(Opcode opcode) {
  switch (opcode) {
    case Opcode::kMemRd:
    case Opcode::kMemRdData:
    case Opcode::kMemAtomic:
    case Opcode::kMemData:
    case Opcode::kMemDataNxm: return Opcode::kMemDataNxm;
    case Opcode::kRdCurr:
    case Opcode::kRdShared:
    case Opcode::kRdAny:
    case Opcode::kRdOwn:
    case Opcode::kAtomic:
    case Opcode::kH2DData: return Opcode::kH2DData;
    default: break;
  }
  const Channel channel = channel_of(opcode);
  return channel == Channel::kD2HReq || channel == Channel::kH2DRsp ? Opcode::kGoI : Opcode::kCmp;
}

/// Makes a request to a memory or to a home, or an answer to one, into an error answer of the device at
/// `node`. It goes to the sender of the request.
inline void make_error_answer(Message& message, NodeId node) {
  const bool request = is_request(message) || message.channel == Channel::kD2HReq;
  ensure(request || message.channel == Channel::kS2MNDR || message.channel == Channel::kS2MDRS ||
             message.channel == Channel::kH2DRsp || message.channel == Channel::kH2DData,
         "errors answer requests alone");
  message.tail = Time{};
  // A grant that fails stays one: the cache waits for both parts of the answer.
  if (message.opcode != Opcode::kCmpS && message.opcode != Opcode::kCmpE)
    message.opcode = error_for(message.opcode);
  message.channel = channel_of(message.opcode);
  message.size = 0;    // nothing was moved
  message.pushes = 0;  // it is none of the numbered answers of a home
  message.completion = nullptr;
  message.failed = true;
  if (request) message.destination = message.source;
  message.source = node;
}

}  // namespace cxloom
