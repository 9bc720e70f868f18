// The parts of the extension module.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "base/error.hpp"
#include "system/kinds/registry.hpp"

namespace cxloom {

/// The kinds that specs may name in this process: those of cxloom, and of the plug-ins that were loaded.
Registry& registry();

void bind_declarations(nanobind::module_& m);
void bind_simulation(nanobind::module_& m);

/// From now on the core's exceptions are those of cxloom.base.errors.
void translate_errors();

/// Errors of the core as InputErrors of cxloom.base.errors.
nanobind::list to_python_errors(const std::vector<InputError>& errors);

}  // namespace cxloom
