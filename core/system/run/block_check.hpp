// Whether a device can move a block that the outside gives it.
#pragma once

#include <string>

#include "protocol/address_map.hpp"
#include "workload/stream/block_order.hpp"

namespace cxloom {

class Requester;
class TransferEngine;

/// Throws InputError for a block that this device does not move: of no bytes, larger than the memory of its
/// DMA engine, between other places than it can. `engine`: null if it has none.
void check_block(const BlockOrder& order, const std::string& device, const Requester& requester,
                 const TransferEngine* engine);
/// Throws InputError unless some memory holds each of its bytes at both ends.
void check_block_mapped(const BlockOrder& order, const AddressMap& map, const Requester& requester);

}  // namespace cxloom
