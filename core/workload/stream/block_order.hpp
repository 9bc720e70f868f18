// A block of bytes that somebody outside wants moved.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.hpp"

namespace cxloom {

/// By one device, between system memory and itself, or within system memory.
struct BlockOrder {
  std::optional<Address> from;  ///< none: from the device itself
  std::optional<Address> to;    ///< none: to the device itself
  std::uint64_t bytes = 0;
};

}  // namespace cxloom
