// Whether messages of a system can wait for each other's buffers in a circle: the channel dependency graph of
// its routes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

class System;

/// A channel is a direction of a link and a message class whose buffers at the receiver are limited. One
/// depends on another if what is in its buffers may have to wait for one of the other's: at a switch with
/// queues at its inputs, by the routes in use; at a home, which may keep requests until its own messages are
/// answered. Without a circle no routes can deadlock (Dally and Seitz, 1987).
///
/// Where parts of the system fail and are repaired, the routes of all epochs follow each other: what has come
/// by the routes of one goes on by those of the next.
struct DeadlockCheck {
  /// Since when the routes are what they are.
  struct Epoch {
    Time at;
    std::string cause;  ///< the event
  };

  std::size_t channels = 0;  ///< with limited buffers
  std::size_t dependences = 0;
  /// Virtual channels that the routes need: with fewer their buffers close circles. None: no buffers are
  /// limited.
  std::optional<unsigned> virtual_channels_needed;
  std::vector<std::string>
      circle;  ///< channels, each waiting for the next, the last for the first; empty: there is none
  std::size_t epochs = 1;     ///< times at which routes change, and the beginning
  std::optional<Epoch> from;  ///< no circle can close before this one; none: from the beginning
  /// Messages that were under way when the routes changed are part of the circle; the new routes alone have
  /// none.
  bool only_while_routes_change = false;

  bool possible() const { return !circle.empty(); }
};

DeadlockCheck check_deadlock(const System& system);

}  // namespace cxloom
