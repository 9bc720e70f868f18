#include "core/support/scripted_peer.hpp"

#include <algorithm>
#include <utility>

namespace cxloom::test {

ScriptedPeer::ScriptedPeer(Endpoint& device) : Agent(device) {
  for (std::size_t i = 0; i < kChannelCount; ++i) device.bind(static_cast<Channel>(i), *this);
}

std::vector<Message*> ScriptedPeer::take_received() { return std::exchange(received_, {}); }

Message& ScriptedPeer::request(Opcode opcode, LineAddress line, NodeId home) {
  Asked& asked = asked_.emplace_back();
  asked.completion.account = &asked.completion_account;
  Message& message = asked.request;
  message.account = &asked.account;
  message.completion = &asked.completion;
  message.opcode = opcode;
  message.address = line.address();
  message.size = kLineBytes;
  message.requester = message.source = endpoint().id();
  message.destination = home;
  return message;
}

void ScriptedPeer::send(Message& message) {
  message.channel = channel_of(message.opcode);
  transmit(message, Time{});
}

void ScriptedPeer::answer(Message& message, Opcode opcode) {
  message.opcode = opcode;
  std::swap(message.source, message.destination);
  send(message);
}

void ScriptedPeer::complete(Message& request, Opcode opcode) {
  Message& completion = *request.completion;
  completion.opcode = opcode;
  completion.address = request.address;
  completion.source = request.destination;
  completion.destination = request.source;
  send(completion);
}

std::string name_of(Opcode opcode) { return std::string(kOpcodeNames[static_cast<std::size_t>(opcode)]); }

std::vector<Opcode> opcodes_in(const std::string& text) {
  std::vector<Opcode> found;
  const auto in_word = [](char each) {
    return std::isalnum(static_cast<unsigned char>(each)) || each == '-' || each == '_';
  };
  for (auto begin = text.begin(); begin != text.end();) {
    begin = std::find_if(begin, text.end(), in_word);
    const auto end = std::find_if_not(begin, text.end(), in_word);
    const auto* const opcode = std::find(kOpcodeNames.begin(), kOpcodeNames.end(), std::string(begin, end));
    if (opcode != kOpcodeNames.end()) found.push_back(static_cast<Opcode>(opcode - kOpcodeNames.begin()));
    begin = end;
  }
  return found;
}

}  // namespace cxloom::test
