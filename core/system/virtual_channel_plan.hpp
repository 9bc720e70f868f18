// Which virtual channels messages take at the switches of a system.
#pragma once

#include "component/virtual_channel_turns.hpp"

namespace cxloom {

class System;

/// It depends on links and routes, and on no workload. Where no link has several virtual channels it is empty, unless `always`.
VirtualChannelPlan plan_virtual_channels(const System& system, bool always = false);

}  // namespace cxloom
