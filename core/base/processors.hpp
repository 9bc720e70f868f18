// The processors of the machine.
#pragma once

#include <cstdint>

namespace cxloom {

/// On which this process may run; one at least.
std::uint32_t available_processors();

}  // namespace cxloom
