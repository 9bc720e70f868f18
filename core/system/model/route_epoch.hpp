// A stretch of a run in which the routes of a system do not change.
#pragma once

#include <string>
#include <vector>

#include "base/units.hpp"
#include "component/virtual_channel_turns.hpp"

namespace cxloom {

struct RouteEpoch {
  Time at;
  std::string cause;          ///< the event; empty at the beginning
  std::vector<bool> avoided;  ///< by link
  VirtualChannelPlan plan;
};

}  // namespace cxloom
