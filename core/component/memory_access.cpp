#include "component/memory_access.hpp"

#include "component/request_throttle.hpp"

namespace cxloom {

AddressMap::Place place_of(const Agent& sender, std::uint64_t access, Address address) {
  const AddressMap& map = sender.endpoint().fabric().map;
  const auto* const region = map.region_of(address);
  if (!region) [[unlikely]]
    throw no_region(map, access, address);
  return AddressMap::place_in(*region, address);
}

void address_to(const AddressMap::Place& place, const Agent& sender, Message& message, Opcode opcode,
                Address address, std::uint16_t size) {
  message.opcode = opcode;
  message.channel = channel_of(opcode);
  message.address = address;
  message.size = size;
  message.requester = message.source = sender.endpoint().id();
  message.destination = place.home;
  message.set_ld(place.ld);
  message.persistent = place.persistent;
  if (message.persistent && sender.endpoint().fabric().versions) [[unlikely]]
    sender.endpoint().fabric().versions->leaves(message);
}

void send_request(Agent& sender, Request& request, const AddressMap::Place& place, Opcode opcode,
                  Address address, std::uint16_t size, std::uint32_t tag) {
  Message& message = request.message;
  address_to(place, sender, message, opcode, address, size);
  message.account = &request.account;
  message.tag = tag;
  if (place.coherent()) {
    sender.transmit(message, request.account.mark());
  } else {
    send_to_memory(sender, message, request.account.mark());
  }
}

void send_to_memory(Agent& sender, Message& message, Time ready) {
  RequestThrottle* const throttle = sender.endpoint().throttle();
  if (throttle && message.destination != sender.endpoint().id()) [[unlikely]] {
    throttle->send(message, ready);
  } else {
    sender.transmit(message, ready);
  }
}

InputError no_region(const AddressMap& map, std::uint64_t access, Address address) {
  return InputError({"access " + std::to_string(access) + " goes to an address that no region holds",
                     to_text(address),
                     map.described() + " (addresses: first-touch maps a program's pages there)",
                     {}});
}

}  // namespace cxloom
