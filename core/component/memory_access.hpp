// Turns what a requester wants of memory into a message to the device that holds the address.
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "component/endpoint.hpp"
#include "protocol/address_map.hpp"
#include "protocol/request.hpp"

namespace cxloom {

/// Where an access of a requester goes. Throws InputError if no region holds its address.
AddressMap::Place place_of(const Agent& sender, std::uint64_t access, Address address);
/// Fills in a message of CXL.mem from the sender's device to whoever manages that place: its home.
void address_to(const AddressMap::Place& place, const Agent& sender, Message& message, Opcode opcode,
                Address address, std::uint16_t size);
/// Sends the message that a request waits for to its place, at its account's mark. `tag` is the sender's own name for what
/// it waits for.
void send_request(Agent& sender, Request& request, const AddressMap::Place& place, Opcode opcode,
                  Address address, std::uint16_t size, std::uint32_t tag);
/// Sends a message to memory that nobody keeps coherent: at the device's rate for it, if it is throttled.
void send_to_memory(Agent& sender, Message& message, Time ready);
/// The error for an access to an address that no region of `map` holds.
InputError no_region(const AddressMap& map, std::uint64_t access, Address address);

}  // namespace cxloom
