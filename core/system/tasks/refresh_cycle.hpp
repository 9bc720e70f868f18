// After how long the refreshes of a system's memories come again as they did.
#pragma once

#include "base/units.hpp"

namespace cxloom {

class System;

/// Time that is passed over in whole cycles leaves refreshes where they would have been.
struct RefreshCycle {
  Time length;   ///< zero: no memory is refreshed
  Time longest;  ///< refresh of a memory
  /// What a refresh of each memory takes whose refreshes do not repeat with the cycle, together.
  Time out_of_step;

  /// The most whole cycles within a time; all of it where nothing is refreshed.
  Time whole_of(Time time) const {
    return length > Time{} ? Time{time.ps() / length.ps() * length.ps()} : time;
  }
};

/// The cycle of all its memories together.
RefreshCycle refresh_cycle_of(const System& system);

}  // namespace cxloom
