// The other side of a protocol, played by the test: an agent that keeps what it gets and sends what it is
// told to.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "component/endpoint.hpp"
#include "protocol/message.hpp"

namespace cxloom::test {

class ScriptedPeer final : public Agent {
 public:
  /// Takes all messages of the device.
  explicit ScriptedPeer(Endpoint& device);

  void receive(Message& message) override { received_.push_back(&message); }
  /// What it got since it was asked last, in the order of its arrival.
  std::vector<Message*> take_received();

  /// A request of its own, with room for an answer of two parts. It lives as long as the peer.
  Message& request(Opcode opcode, LineAddress line, NodeId home);
  void send(Message& message);
  /// Sends a message that it got back to where it came from, as this.
  void answer(Message& message, Opcode opcode);
  /// The second part of the answer to a request, if the request has room for it.
  void complete(Message& request, Opcode opcode);

 private:
  struct Asked {
    Message request;
    Account account;
    Message completion;
    Account completion_account;
  };

  std::vector<Message*> received_;
  std::deque<Asked> asked_;
};

/// The opcodes that a text names, in their order: "MemWr, then BIRspI".
std::vector<Opcode> opcodes_in(const std::string& text);
std::string name_of(Opcode opcode);

}  // namespace cxloom::test
