// The parts of the extension module.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "base/error.hpp"
#include "system/kinds/registry.hpp"

namespace cxloom {

/// The kinds that specs may name in this process: the kinds of cxloom, and of loaded plug-ins.
Registry& registry();

void bind_declarations(nanobind::module_& m);
void bind_simulation(nanobind::module_& m);
void bind_epochs(nanobind::module_& m);

/// The core's exceptions become exceptions of cxloom.base.errors.
void translate_errors();

/// Errors of the core as InputErrors of cxloom.base.errors.
nanobind::list to_python_errors(const std::vector<InputError>& errors);

}  // namespace cxloom
