// Turns what a requester wants of memory into a message to the device that holds the address.
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "component/endpoint.hpp"
#include "component/line_versions.hpp"
#include "protocol/address_map.hpp"
#include "protocol/request.hpp"

namespace cxloom {

/// Sends a message to memory that nobody keeps coherent: at the device's rate for it, if it is throttled.
void send_to_memory(Agent& sender, Message& message, Time ready);
/// The error for an access to an address that no region of `map` holds.
InputError no_region(const AddressMap& map, std::uint64_t access, Address address);

/// Where an access of a requester goes. Throws InputError if no region holds its address.
inline AddressMap::DecodedAddress place_of(const Agent& sender, std::uint64_t access, Address address) {
  const AddressMap& map = sender.endpoint().address_map();
  const auto* const region = map.region_of(address);
  if (!region) [[unlikely]]
    throw no_region(map, access, address);
  return AddressMap::decode_in(*region, address);
}

/// Whether a message of CXL.mem reads or writes a line: others say what becomes of copies.
constexpr bool moves_data(Opcode opcode) {
  return opcode == Opcode::kMemRd || opcode == Opcode::kMemRdData || opcode == Opcode::kMemWr ||
         opcode == Opcode::kMemAtomic;
}

/// Fills in a message of CXL.mem from the sender's device to whoever manages that place: its home.
inline void fill_in(const AddressMap::DecodedAddress& place, const Agent& sender, Message& message,
                    Opcode opcode, Address address, std::uint16_t size) {
  message.opcode = opcode;
  message.channel = channel_of(opcode);
  message.address = address;
  message.size = size;
  message.requester = message.source = sender.endpoint().id();
  message.destination = place.home;
  message.set_ld(place.ld);
  message.persistent = place.persistent && moves_data(opcode);
}

/// It does the same for a message of the sender's own, whose version others follow.
inline void address_to(const AddressMap::DecodedAddress& place, const Agent& sender, Message& message,
                       Opcode opcode, Address address, std::uint16_t size) {
  fill_in(place, sender, message, opcode, address, size);
  if (message.persistent && sender.endpoint().system_context().versions) [[unlikely]]
    sender.endpoint().system_context().versions->leaves(sender.endpoint().kernel(), message);
}

/// Sends the message that a request waits for to its place, at its account's mark. `tag` is the sender's own
/// name for what it waits for.
inline void send_request(Agent& sender, Request& request, const AddressMap::DecodedAddress& place,
                         Opcode opcode, Address address, std::uint16_t size, std::uint32_t tag) {
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

}  // namespace cxloom
