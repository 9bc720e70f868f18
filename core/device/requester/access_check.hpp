// The conditions under which the system serves an access. `number` is the requester's own, for messages.
#pragma once

#include <cstdint>

#include "component/endpoint.hpp"
#include "workload/work.hpp"

namespace cxloom {

/// Throws InputError unless some device holds each of its lines, in memory that they can be flushed to if
/// they are.
void check_mapped(const Agent& requester, const Work& work, std::uint64_t number, const Access& access);
/// Whether the flush of a line makes it durable. Throws InputError if not, but for a program, which may flush
/// lines of volatile memory that nobody keeps coherent: they are written back.
/// `brings`: it has data of its own.
bool check_durable(const Agent& requester, const Work& work, std::uint64_t number, Address address,
                   bool brings);

}  // namespace cxloom
