// The data of a write of CXL.cache: the home pulls them when it is ready for them.
#pragma once

#include "component/endpoint.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// The request of a write that leaves no copy in a cache: of a whole line, or of less.
constexpr Opcode write_past_caches(std::uint16_t size) {
  return size == kLineBytes ? Opcode::kItoMWr : Opcode::kWrInv;
}

/// Sends the data that an answer asks for. WritePull is a message of the home, and goes back to it as the
/// data; GO_WritePull brings such a message along, beside being the answer to the request.
inline void send_pulled_data(Agent& sender, Message& answer, Time ready) {
  Message& data = answer.opcode == Opcode::kWritePull ? answer : *answer.completion;
  const NodeId home = answer.source;
  data.opcode = Opcode::kD2HData;
  data.channel = Channel::kD2HData;
  data.source = sender.endpoint().id();
  data.destination = home;
  sender.transmit(data, ready);
}

}  // namespace cxloom
