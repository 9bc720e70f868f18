#include "core/support/coherence_faults.hpp"

#include <utility>

#include "core/support/scripted_peer.hpp"

namespace cxloom::test {

namespace {

using Fate = MessageBench::Fate;

void become(Message& message, Opcode opcode) {
  message.opcode = opcode;
  message.channel = channel_of(opcode);
}

}  // namespace

Fault loses(Opcode opcode) {
  return {name_of(opcode) + " is lost",
          [=](Message& message) { return message.opcode == opcode ? Fate::kLost : Fate::kQueued; }};
}

Fault hurries(Opcode opcode) {
  return {name_of(opcode) + " overtakes its class",
          [=](Message& message) { return message.opcode == opcode ? Fate::kQueuedFirst : Fate::kQueued; }};
}

Fault overtakes_answers(Opcode opcode) {
  return {name_of(opcode) + " does not wait for answers", [=](Message& message) {
            if (message.opcode == opcode) message.pushes = 0;
            return Fate::kQueued;
          }};
}

Fault turns(Opcode opcode, Opcode into) {
  return {name_of(opcode) + " comes as " + name_of(into), [=](Message& message) {
            if (message.opcode == opcode) become(message, into);
            return Fate::kQueued;
          }};
}

Fault keeps_snooped_lines() {
  return {"BISnpInv is answered by BIRspI and the line kept", [](Message& message) {
            if (message.opcode == Opcode::kBISnpInv) become(message, Opcode::kBISnpCur);
            if (message.channel == Channel::kM2SBIRsp) become(message, Opcode::kBIRspI);
            return Fate::kQueued;
          }};
}

Fault answers_at_once(Opcode opcode, Opcode answer) {
  return {name_of(opcode) + " is answered by " + name_of(answer) + " and nothing done",
          [=](Message& message) {
            if (message.opcode == opcode) {
              become(message, answer);
              std::swap(message.source, message.destination);
            }
            return Fate::kQueued;
          }};
}

Fault asks_others(Opcode opcode, SnpType snp) {
  return {name_of(opcode) + " asks others for something else", [=](Message& message) {
            if (message.opcode == opcode) message.snp = snp;
            return Fate::kQueued;
          }};
}

Fault keeps(MetaValue meta, MetaValue claimed) {
  return {"MemWr claims that the cache keeps something else", [=](Message& message) {
            if (message.opcode == Opcode::kMemWr && message.snp == SnpType::kNoOp && message.meta == meta)
              message.meta = claimed;
            return Fate::kQueued;
          }};
}

}  // namespace cxloom::test
