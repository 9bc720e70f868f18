// Every kind of thing that a system can be made of. A new component is a line in `builtin_registry`, or in the function
// `cxloom_register` of a plug-in.
#pragma once

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
};

/// What comes with cxloom.
Registry builtin_registry();

/// Adds what the shared library at `path` registers. Throws InputError if it cannot be loaded or is no plug-in.
void load_plugin(const std::string& path, Registry& registry);

}  // namespace cxloom
