// The parts of a run, as the tables of what happened in it count them.
#pragma once

#include <cstdint>

namespace cxloom {

enum class RunPart : std::uint8_t { kWarmup, kWindow, kDrain };

}  // namespace cxloom
