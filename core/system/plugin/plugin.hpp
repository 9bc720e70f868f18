// Libraries that register more kinds of components.
#pragma once

#include <string>

#include "system/kinds/registry.hpp"

namespace cxloom {

/// Adds what the shared library at `path` registers. Throws InputError, with `registry` as it was, for one
/// that does not fit this program, cannot be loaded, or fails while it registers.
void load_plugin(const std::string& path, Registry& registry);

/// Throws InputError unless the library at `path` is whole, for this machine, and was built for this cxloom.
/// Runs nothing of it.
void check_plugin_file(const std::string& path);

}  // namespace cxloom
