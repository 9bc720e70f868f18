// Whether messages of a system can wait for each other's buffers in a circle: the channel dependency graph of its routes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cxloom {

class System;

/// A channel is a direction of a link and a message class whose buffers at the receiver are limited. One depends on another if
/// what is in its buffers may have to wait for one of the other's: at a switch with queues at its inputs, by the routes in use;
/// at a home, which may keep requests until its own messages are answered. Without a circle no routes can deadlock (Dally and
/// Seitz, 1987).
struct DeadlockCheck {
  std::size_t channels = 0;  ///< with limited buffers
  std::size_t dependences = 0;
  /// Virtual channels that the routes need: with fewer their buffers close circles. None: no buffers are limited.
  std::optional<unsigned> virtual_channels_needed;
  std::vector<std::string>
      circle;  ///< channels, each waiting for the next, the last for the first; empty: there is none

  bool possible() const { return !circle.empty(); }
};

DeadlockCheck check_deadlock(const System& system);

}  // namespace cxloom
