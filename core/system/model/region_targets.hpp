// Whom a region of addresses leads to: the memories that hold it, or their logical devices, and who keeps it coherent.
#pragma once

#include <vector>

#include "protocol/address_map.hpp"

namespace cxloom {

class Devices;
struct SystemContext;

/// Adds each region to the map of `context`. Throws InputError with the path of what is wrong.
void add_regions(const std::vector<RegionParams>& regions, const Devices& devices, SystemContext& context);

}  // namespace cxloom
