#include "system/deadlock_check.hpp"

#include <cstdint>

#include "system/channel_graph.hpp"
#include "system/message_flows.hpp"
#include "system/system.hpp"
#include "system/virtual_channel_plan.hpp"

namespace cxloom {

DeadlockCheck check_deadlock(const System& system) {
  const VirtualChannelPlan& plan = system.router().plan();
  const ChannelGraph channels(system, message_flows(system), plan);
  DeadlockCheck check{channels.channels(), channels.graph().edge_count(), {}, {}};
  for (const std::uint32_t channel : channels.graph().circle())
    check.circle.push_back(channels.name_of(channel));
  if (check.channels == 0) return check;
  const bool unplanned = check.possible() && plan.turns.empty();
  check.virtual_channels_needed = unplanned ? plan_virtual_channels(system, true).levels : plan.levels;
  return check;
}

}  // namespace cxloom
