// Which virtual channels messages take at the switches of a system.
#pragma once

#include <memory>
#include <vector>

#include "component/virtual_channel_turns.hpp"

namespace cxloom {

class System;

/// By node; null where there is nothing to say. Empty: no link has several virtual channels that a switch tells apart. It depends on
/// links and routes, and on no workload.
std::vector<std::unique_ptr<VirtualChannelTurns>> plan_virtual_channels(const System& system);

}  // namespace cxloom
