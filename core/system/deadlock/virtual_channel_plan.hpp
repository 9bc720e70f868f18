// Which virtual channels messages take at the switches of a system.
#pragma once

#include <vector>

#include "component/virtual_channel_turns.hpp"
#include "system/routes/route_epochs.hpp"

namespace cxloom {

class System;

/// It depends on links and routes, and on no workload. Where no link has several virtual channels it is
/// empty, unless `always`.
VirtualChannelPlan plan_virtual_channels(const System& system, bool always = false);

/// The plans of all epochs but the first, each for routes that follow those before it while messages are
/// under way. If there are virtual channels enough, they do not close circles with the messages that have
/// come by those either; or else none on the routes of the epoch alone. None where no link has several
/// virtual channels.
void plan_virtual_channels(const System& system, std::vector<RouteEpoch>& epochs);

}  // namespace cxloom
