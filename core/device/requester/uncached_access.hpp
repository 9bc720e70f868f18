// The request of a requester without a cache.
#pragma once

#include "component/endpoint.hpp"
#include "protocol/request.hpp"

namespace cxloom {

/// Sends it to the memory of its address. The requester keeps no copy: of coherent memory a read wants the
/// current value, and others that nobody keeps another. Throws InputError if no region holds the address.
void send_uncached(Agent& requester, Request& request);

}  // namespace cxloom
