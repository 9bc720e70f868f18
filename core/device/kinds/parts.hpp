// Where the parameters of a device's parts stand among its own: those of a host's requests at the top, those
// of its memory below `memory`. A device that declares all parameters of a part has that part, whatever its
// kind, so that tools know devices of plug-ins as they know ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/schema_info.hpp"

namespace cxloom {

struct DevicePart {
  std::string_view part;  ///< requester, memory, switch, bus, cache, core or directory
  std::string place;      ///< path within the parameters of the device; empty: they are among its own
};

/// The parts of a device that declares these parameters, the upper ones first.
std::vector<DevicePart> parts_of(const SchemaInfo& device);

}  // namespace cxloom
