// The end of simulated time.
#pragma once

#include "base/units.hpp"

namespace cxloom {

/// 53 days: what a parameter adds to it still fits into 64 bits of picoseconds.
inline constexpr Time kLatest{Time::max().ps() / 2};

}  // namespace cxloom
