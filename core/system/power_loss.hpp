// The loss of power at an instant of a run: what of persistent memory survives, and what recovery makes of it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

class System;

/// Rules of recovery. No user can change them; tests do, to show what they are for.
struct RecoveryRules {
  bool skip_empty =
      true;  ///< an entry that is Empty is not drained: its data are in memory, perhaps with newer ones over them
  bool from_memory = true;   ///< of a chain of buffers the one next to memory is drained first
  bool oldest_first = true;  ///< of two entries of a line the one in Drain is drained before the Dirty one
};

/// A line of which what is there after recovery is older than what somebody was told is durable.
struct LostLine {
  LineAddress line;
  std::uint32_t recovered = 0;  ///< the version that memory has after recovery
};

/// What would be lost if the power failed now, with all messages under way and all contents of caches: memory has what it has
/// answered for, and persist buffers have their entries. Recovery drains them; if it is cut short it begins again with the entries that are
/// left, so that every cut is looked at. `system` keeps versions of lines (outputs.versions).
std::vector<LostLine> lost_at_power_loss(const System& system, const RecoveryRules& rules = {});

/// The same if the power holds, and one switch is lost with its entries.
std::vector<LostLine> lost_with_switch(const System& system, NodeId lost);

}  // namespace cxloom
