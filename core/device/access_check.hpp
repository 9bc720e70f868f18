// What an access must be for the system to serve it. `number` is the requester's own, for messages.
#pragma once

#include <cstdint>

#include "component/endpoint.hpp"
#include "workload/access_stream.hpp"

namespace cxloom {

/// Throws InputError unless some device holds each of its lines, in persistent memory if they are flushed.
void check_mapped(const Agent& requester, std::uint64_t number, const Access& access);
/// Throws InputError for a flush of volatile memory.
void check_durable(const Agent& requester, std::uint64_t number, Address address);

}  // namespace cxloom
