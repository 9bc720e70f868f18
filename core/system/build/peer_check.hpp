// What a device may access by itself, past the host: no memory whose writes a persist buffer keeps on the way
// of the hosts, and none that belongs to one host or another.
#pragma once

#include "component/component.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class System;

/// Throws InputError for the key `peer_to_peer` of the device if the requests that it sends to `memory`
/// itself would miss data that a persist buffer keeps, or pass around virtual switches or the owners of
/// logical devices.
void check_peer(const System& system, const Component& device, NodeId host, NodeId memory);

}  // namespace cxloom
