#include "system/deadlock/virtual_channel_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/digraph.hpp"
#include "interconnect/routing/dateline_levels.hpp"
#include "interconnect/routing/datelines.hpp"
#include "interconnect/routing/route_turns.hpp"
#include "protocol/class_vc.hpp"
#include "system/deadlock/channel_graph.hpp"
#include "system/deadlock/link_buffers.hpp"
#include "system/deadlock/message_flows.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

bool has_several_virtual_channels(const System& system) {
  const LinkBuffers buffers(system);
  for (std::uint32_t link = 0; link < buffers.links().size(); ++link) {
    if (buffers.virtual_channels(link) > 1) return true;
  }
  return false;
}

// To be made where there is something to plan: it looks at all pairs of devices that talk to each other.
class Planner {
 public:
  explicit Planner(const System& system)
      : system_(system), topology_(system.topology()), buffers_(system), flows_(message_flows(system, true)) {
    flows_.homes.clear();  // virtual channels do not help against what they keep
  }

  // The fewest levels with which some candidate closes no circle. A message that would go higher than the
  // last level stays there, which may be enough.
  VirtualChannelPlan plan(const RouteTable& routes) const {
    const std::vector<Datelines> candidates = candidate_datelines(dependences({&routes}), ranks());
    DatelineLevels levels(topology_, buffers_.links(), system_.router(), routes, candidates,
                          [this](std::uint32_t link) { return buffers_.held_behind(link); });
    flows_.add_to(levels, system_);
    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(levels.highest(i), i); });
    if (flows_.to.size() * buffers_.links().size() < kLarge) {
      for (unsigned count = 1; count <= kMostVirtualChannels; ++count) {
        for (const std::size_t i : order) {
          const auto alone = [&] { return std::vector<ChannelGraph::Phase>{{&routes, nullptr}}; };
          if (levels.highest(i) < count || !has_circle(alone(), plan_of(candidates[i], count, count)))
            return plan_of(candidates[i], count);
        }
      }
    }
    return plan_of(candidates[order.front()], levels.highest(order.front()) + 1U);
  }

  // The last of these phases has no plan yet. The dependences of all phases count.
  VirtualChannelPlan plan_after(std::vector<ChannelGraph::Phase> phases) const {
    RouteTables tables;
    for (const ChannelGraph::Phase& phase : phases) tables.push_back(phase.routes);
    const std::vector<Datelines> candidates = candidate_datelines(dependences(tables), ranks());
    for (unsigned count = 1; count <= kMostVirtualChannels; ++count) {
      for (const Datelines& candidate : candidates) {
        VirtualChannelPlan plan = plan_of(candidate, count);
        if (!has_circle(phases, plan)) return plan;
      }
    }
    return plan(*phases.back().routes);
  }

 private:
  // Pairs of a destination and a link from which on each look at all routes takes seconds.
  static constexpr std::size_t kLarge = 2'000'000;

  bool has_circle(std::vector<ChannelGraph::Phase> phases, const VirtualChannelPlan& last) const {
    phases.back().plan = &last;
    return !ChannelGraph(system_, flows_, std::move(phases)).graph().circle().empty();
  }

  // `given`: virtual channels of all links; zero: their own.
  VirtualChannelPlan plan_of(const Datelines& datelines, unsigned levels, unsigned given = 0) const {
    VirtualChannelPlan plan{static_cast<std::uint8_t>(levels), {}};
    plan.turns.resize(topology_.size());
    for (std::uint32_t node = 0; node < topology_.size(); ++node) {
      if (topology_.node(node).forwards && buffers_.keeps(node))
        plan.turns[node] = turns_of(node, datelines, plan.levels, given);
    }
    return plan;
  }
  // The dependences between links, whatever the class.
  Digraph dependences(const RouteTables& tables) const {
    const DirectedLinks& links = buffers_.links();
    RouteTurns turns(topology_, links, system_.router(), tables);
    flows_.add_to(turns, system_);
    std::vector<Digraph::Edge> edges;
    for (std::uint32_t link = 0; link < links.size(); ++link) {
      if (!buffers_.held_behind(link)) continue;
      for (const Topology::Hop& out : topology_.hops(links.to(link))) {
        const std::uint32_t next = links.leaving(links.to(link), out.port);
        const ClassSet limited = buffers_.limited(link) & buffers_.limited(next);
        for (std::size_t table = 0; table < tables.size(); ++table) {
          if ((turns.classes(table, link, 0, out.port) & limited) != 0) edges.emplace_back(link, next);
        }
      }
    }
    return {links.size(), std::move(edges)};
  }

  // The nodes in the order of a search, breadth first, from some of the switches.
  std::vector<LinkRanks> ranks() const {
    constexpr std::size_t kRoots = 4;
    std::vector<std::uint32_t> roots;
    for (std::uint32_t node = 0; node < topology_.size(); ++node) {
      if (topology_.node(node).is_switch) roots.push_back(node);
    }
    const std::size_t count = std::min(kRoots, roots.size());
    std::vector<LinkRanks> all;
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<std::uint32_t> rank = distances_from(roots[i * roots.size() / count]);
      auto& each = all.emplace_back();
      for (std::uint32_t link = 0; link < buffers_.links().size(); ++link)
        each.emplace_back(rank[buffers_.links().from(link)], rank[buffers_.links().to(link)]);
    }
    return all;
  }

  std::vector<std::uint32_t> distances_from(std::uint32_t root) const {
    constexpr std::uint32_t kUnseen = ~std::uint32_t{0};
    std::vector<std::uint32_t> rank(topology_.size(), kUnseen);
    std::vector<std::uint32_t> reached{root};
    rank[root] = 0;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const Topology::Hop& hop : topology_.hops(reached[i])) {
        if (rank[hop.to] != kUnseen) continue;
        rank[hop.to] = static_cast<std::uint32_t>(reached.size());
        reached.push_back(hop.to);
      }
    }
    return rank;
  }

  std::unique_ptr<VirtualChannelTurns> turns_of(std::uint32_t node, const Datelines& datelines,
                                                std::uint8_t levels, unsigned given) const {
    const DirectedLinks& links = buffers_.links();
    const auto hops = topology_.hops(node);
    std::vector<std::uint8_t> channels;
    for (const Topology::Hop& out : hops) {
      const std::uint32_t link = links.leaving(node, out.port);
      const bool more = given > 0 && buffers_.held_behind(link);
      channels.push_back(more ? static_cast<std::uint8_t>(given) : buffers_.virtual_channels(link));
    }
    auto turns = std::make_unique<VirtualChannelTurns>(std::move(channels), levels);
    using Turn = VirtualChannelTurns::Turn;
    for (const Topology::Hop& in : hops) {
      const std::uint32_t link = links.entering(node, in.port);
      for (const Topology::Hop& out : hops) {
        const std::uint32_t next = links.leaving(node, out.port);
        const bool fresh = !buffers_.held_behind(link) || datelines.restarts(link, next);
        turns->set(in.port, out.port,
                   fresh                           ? Turn::kRestart
                   : datelines.crossed(link, next) ? Turn::kNext
                                                   : Turn::kStay);
      }
    }
    return turns;
  }

  const System& system_;
  const Topology& topology_;
  LinkBuffers buffers_;
  MessageFlows flows_;
};

}  // namespace

VirtualChannelPlan plan_virtual_channels(const System& system, bool always) {
  if (!always && !has_several_virtual_channels(system)) return {};
  return Planner(system).plan(system.routes());
}

void plan_virtual_channels(const System& system, std::vector<RouteEpoch>& epochs) {
  if (!has_several_virtual_channels(system)) return;
  const Planner planner(system);
  std::vector<std::unique_ptr<RouteTable>> tables;
  std::vector<ChannelGraph::Phase> phases{{&system.routes(), &system.router().plan()}};
  for (std::size_t i = 1; i < epochs.size(); ++i) {
    tables.push_back(routes_in(system, epochs[i]));
    phases.push_back({tables.back().get(), nullptr});
    epochs[i].plan = planner.plan_after(phases);
    phases.back().plan = &epochs[i].plan;
  }
}

}  // namespace cxloom
