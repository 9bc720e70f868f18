// Turns what a requester wants of memory into a message to the device that holds the address.
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "component/endpoint.hpp"
#include "protocol/request.hpp"

namespace cxloom {

/// Sends the message that a request waits for, at its account's mark.
void send_request(Agent& sender, Request& request, Opcode opcode, Address address, std::uint16_t size);
/// Sends the write of a line that nobody waits for, in `message`.
void send_write_back(Agent& sender, Message& message, LineAddress line, Time ready);
/// The error for an access to an address that no region of `map` holds.
InputError no_region(const AddressMap& map, std::uint64_t access, Address address);

}  // namespace cxloom
