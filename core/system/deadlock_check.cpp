#include "system/deadlock_check.hpp"

#include <cstdint>
#include <memory>
#include <span>

#include "system/channel_graph.hpp"
#include "system/message_flows.hpp"
#include "system/route_epochs.hpp"
#include "system/system.hpp"
#include "system/virtual_channel_plan.hpp"

namespace cxloom {

namespace {

/// The routes of all epochs, one after the other.
class Epochs {
 public:
  explicit Epochs(const System& system) : flows_(message_flows(system)), system_(system) {
    phases_.push_back({&system.routes(), &system.router().plan()});
    for (std::size_t i = 1; i < system.route_epochs().size(); ++i) {
      const RouteEpoch& epoch = system.route_epochs()[i];
      tables_.push_back(routes_in(system, epoch));
      phases_.push_back({tables_.back().get(), &epoch.plan});
    }
  }

  std::size_t size() const { return phases_.size(); }
  /// From one epoch up to another.
  ChannelGraph graph(std::size_t first, std::size_t last) const {
    const std::span<const ChannelGraph::Phase> taken = std::span(phases_).subspan(first, last - first + 1);
    return {system_, flows_, {taken.begin(), taken.end()}};
  }

 private:
  MessageFlows flows_;
  const System& system_;
  std::vector<std::unique_ptr<RouteTable>> tables_;
  std::vector<ChannelGraph::Phase> phases_;
};

// The first epoch in which a circle can close, if it is not the first of all, and whether its routes alone have one.
void find_epoch(const Epochs& epochs, const System& system, DeadlockCheck& check) {
  std::size_t last = 0;
  while (epochs.graph(0, last).graph().circle().empty()) ++last;
  const ChannelGraph found = epochs.graph(0, last);
  const ChannelGraph alone = epochs.graph(last, last);
  check.only_while_routes_change = last > 0 && alone.graph().circle().empty();
  const ChannelGraph& shown = check.only_while_routes_change ? found : alone;
  for (const std::uint32_t channel : shown.graph().circle()) check.circle.push_back(shown.name_of(channel));
  if (last == 0) return;
  const RouteEpoch& epoch = system.route_epochs()[last];
  check.from = DeadlockCheck::Epoch{epoch.at, epoch.cause};
}

}  // namespace

DeadlockCheck check_deadlock(const System& system) {
  const Epochs epochs(system);
  const VirtualChannelPlan& plan = system.router().plan();
  DeadlockCheck check;
  check.epochs = epochs.size();
  {
    const ChannelGraph all = epochs.graph(0, epochs.size() - 1);
    check.channels = all.channels();
    check.dependences = all.graph().edge_count();
    if (check.channels == 0) return check;
    if (!all.graph().circle().empty()) find_epoch(epochs, system, check);
  }
  const bool unplanned = check.possible() && plan.turns.empty();
  check.virtual_channels_needed = unplanned ? plan_virtual_channels(system, true).levels : plan.levels;
  return check;
}

}  // namespace cxloom
