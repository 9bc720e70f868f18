// Every kind of thing that a system can be made of. A new component is a line in `builtin_registry`, or in the
// `CXLOOM_PLUGIN` of a plug-in.
#pragma once

#include <vector>

#include "device/device_context.hpp"
#include "interconnect/generators.hpp"
#include "memory/media.hpp"
#include "workload/pattern.hpp"

namespace cxloom {

struct Registry {
  DeviceRegistry devices{"device"};
  MediaRegistry media{"media"};
  PatternRegistry patterns{"pattern"};
  ShapeRegistry shapes{"topology"};
  std::vector<const void*> plugins;  ///< the libraries that it points into
};

/// What comes with cxloom.
Registry builtin_registry();

}  // namespace cxloom
