// The parts of the extension module.
#pragma once

#include <nanobind/nanobind.h>

#include "system/registry.hpp"

namespace cxloom {

/// The kinds that specs may name in this process: those of cxloom, and of the plug-ins that were loaded.
Registry& registry();

void bind_declarations(nanobind::module_& m);
void bind_simulation(nanobind::module_& m);

}  // namespace cxloom
