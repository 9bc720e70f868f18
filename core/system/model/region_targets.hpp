// The targets of a region of addresses: its memories or their logical devices, and its coherent home.
#pragma once

#include <vector>

#include "protocol/address_map.hpp"

namespace cxloom {

class Devices;
struct SystemContext;

/// Adds each region to the map of `context`. Throws InputError with the path of the error.
void add_regions(const std::vector<RegionParams>& regions, const Devices& devices, SystemContext& context);

}  // namespace cxloom
