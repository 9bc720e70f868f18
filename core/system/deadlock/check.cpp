#include "system/deadlock/check.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "system/deadlock/channel_graph.hpp"
#include "system/deadlock/message_flows.hpp"
#include "system/deadlock/virtual_channel_plan.hpp"
#include "system/model/system.hpp"
#include "system/routes/route_epochs.hpp"

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
  std::unique_ptr<ChannelGraph> graph(std::size_t first, std::size_t last) const {
    const std::span<const ChannelGraph::Phase> taken = std::span(phases_).subspan(first, last - first + 1);
    return std::make_unique<ChannelGraph>(system_, flows_,
                                          std::vector<ChannelGraph::Phase>{taken.begin(), taken.end()});
  }

 private:
  MessageFlows flows_;
  const System& system_;
  std::vector<std::unique_ptr<RouteTable>> tables_;
  std::vector<ChannelGraph::Phase> phases_;
};

// The first epoch in which a circle can close, if it is not the first of all, and whether its routes alone
// have one. `all`: the graph of all epochs, which has one. To make one takes seconds in a large system.
void find_epoch(const Epochs& epochs, const System& system, std::unique_ptr<ChannelGraph> all,
                DeadlockCheck& check) {
  std::size_t last = 0;
  std::vector<std::uint32_t> circle;
  std::unique_ptr<ChannelGraph> shown;
  for (; circle.empty(); ++last) {
    shown = last + 1 < epochs.size() ? epochs.graph(0, last) : std::move(all);
    circle = shown->graph().circle();
  }
  --last;
  if (last > 0) {
    std::unique_ptr<ChannelGraph> alone = epochs.graph(last, last);
    const std::vector<std::uint32_t> own = alone->graph().circle();
    check.only_while_routes_change = own.empty();
    if (!own.empty()) {
      circle = own;
      shown = std::move(alone);
    }
    const RouteEpoch& epoch = system.route_epochs()[last];
    check.from = DeadlockCheck::Epoch{epoch.at, epoch.cause};
  }
  for (const std::uint32_t channel : circle) check.circle.push_back(shown->name_of(channel));
}

}  // namespace

DeadlockCheck check_deadlock(const System& system) {
  const Epochs epochs(system);
  const VirtualChannelPlan& plan = system.router().plan();
  DeadlockCheck check;
  check.epochs = epochs.size();
  std::unique_ptr<ChannelGraph> all = epochs.graph(0, epochs.size() - 1);
  check.channels = all->channels();
  check.dependences = all->graph().edge_count();
  if (check.channels == 0) return check;
  if (!all->graph().circle().empty()) find_epoch(epochs, system, std::move(all), check);
  const bool unplanned = check.possible() && plan.turns.empty();
  check.virtual_channels_needed = unplanned ? plan_virtual_channels(system, true).levels : plan.levels;
  return check;
}

}  // namespace cxloom
