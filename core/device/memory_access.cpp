#include "device/memory_access.hpp"

namespace cxloom {

namespace {

void fill_in(Message& message, const Endpoint& endpoint, Opcode opcode, Address address, std::uint16_t size,
             NodeId target) {
  message.opcode = opcode;
  message.channel = channel_of(opcode);
  message.address = address;
  message.size = size;
  message.requester = message.source = endpoint.id();
  message.destination = target;
}

}  // namespace

void send_request(Agent& sender, Request& request, Opcode opcode, Address address, std::uint16_t size) {
  Endpoint& endpoint = sender.endpoint();
  const auto place = endpoint.fabric().map.find(address);
  if (!place) [[unlikely]]
    throw no_region(endpoint.fabric().map, request.id, address);
  Message& message = request.message;
  fill_in(message, endpoint, opcode, address, size, place->target);
  message.account = &request.account;
  message.tag = request.index;
  message.age = request.created;
  sender.transmit(message, request.account.mark);
}

void send_write_back(Agent& sender, Message& message, LineAddress line, Time ready) {
  Endpoint& endpoint = sender.endpoint();
  const auto place = endpoint.fabric().map.find(line.address());
  ensure(place.has_value(), "a cached line that no region holds");
  fill_in(message, endpoint, Opcode::kMemWr, line.address(), kLineBytes, place->target);
  sender.transmit(message, ready);
}

InputError no_region(const AddressMap& map, std::uint64_t access, Address address) {
  return InputError({"access " + std::to_string(access) + " goes to an address that no region holds",
                     to_text(address),
                     map.described() + " (addresses: first-touch maps a program's pages there)",
                     {}});
}

}  // namespace cxloom
