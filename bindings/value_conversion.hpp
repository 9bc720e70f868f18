// Plain Python data (dict, list, str, int, float, bool, None) as Value, and back.
#pragma once

#include <nanobind/nanobind.h>

#include "base/value.hpp"

namespace cxloom {

/// Throws InputError for anything else, and for whole numbers beyond 64 bits.
Value to_value(nanobind::handle object);
nanobind::object to_python(const Value& value);

}  // namespace cxloom
