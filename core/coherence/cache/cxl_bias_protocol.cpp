#include "coherence/cache/cxl_bias_protocol.hpp"

namespace cxloom {

void CxlBiasProtocol::receive(Message& message) {
  if (message.channel == Channel::kD2HReq) {
    if (order_.in_order(message)) asked(message);
    return;
  }
  const NodeId home = message.source;
  const std::uint32_t number = message.pushes;
  // An error that the home has not sent has no number.
  const bool pushes = message.channel == Channel::kS2MNDR && (number != 0 || !message.failed);
  CxlMemProtocol::receive(message);
  if (pushes) came(home, number);
}

void CxlBiasProtocol::came(NodeId home, std::uint32_t number) {
  const Time now = cache().now();
  order_.answered(home, number, [&](Message& early) {
    early.charge(Segment::kSnoop, now);
    asked(early);
  });
}

void CxlBiasProtocol::asked(Message& message) {
  switch (message.opcode) {
    case Opcode::kRdCurr: return cache().snooped(message, SnoopFor::kCurrent, *this);
    case Opcode::kRdShared: return cache().snooped(message, SnoopFor::kShare, *this);
    default: return cache().snooped(message, SnoopFor::kInvalidate, *this);
  }
}

// The device asks while it serves nobody else's request to the line, and what it answered before has come: a
// request without an answer is behind.
bool CxlBiasProtocol::defers(CacheTransaction& transaction, const CacheSnoop& /*snoop*/) {
  return transaction.doing == Doing::kWriteBack || transaction.granted != LineState::kInvalid;
}

void CxlBiasProtocol::respond(const CacheSnoop& snoop, Time ready) {
  Message& message = *snoop.message;
  const NodeId device = message.source;
  message.opcode = Opcode::kMemRdFwd;
  message.channel = Channel::kM2SReq;
  message.meta = meta_of(snoop.left);
  message.source = message.destination;
  message.destination = device;
  agent().transmit(message, ready);
}

}  // namespace cxloom
