// Whether the memory that a pattern goes to is there, where its addresses are those of memory.
#pragma once

#include <string>

#include "protocol/address_map.hpp"
#include "workload/stream/access_stream.hpp"

namespace cxloom {

/// Throws InputError, with the path `base` or `footprint`, for a range that leaves the address map, or
/// reaches memory that belongs to another device.
void check_footprint(const AddressRange& range, const AddressMap& map, const std::string& device);

}  // namespace cxloom
