// The time up to which a simulation goes: what is added to it on the way has room in 64 bits.
#pragma once

#include "base/units.hpp"

namespace cxloom {

/// 53 days.
inline constexpr Time kLatest{Time::max().ps() / 2};

}  // namespace cxloom
