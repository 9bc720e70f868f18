// Traces in Python: parsers, formatter, footprint and the capture filter.
#pragma once

#include <nanobind/nanobind.h>

namespace cxloom {

void bind_trace(nanobind::module_& m);

}  // namespace cxloom
