// A condition that several media have for sizes: a power of two.
#pragma once

#include <bit>

#include "base/units.hpp"

namespace cxloom {

inline bool is_power_of_two(const Bytes& value) { return std::has_single_bit(value.count()); }

}  // namespace cxloom
