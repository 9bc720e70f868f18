#include "system/virtual_channel_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/digraph.hpp"
#include "interconnect/datelines.hpp"
#include "interconnect/route_turns.hpp"
#include "system/link_buffers.hpp"
#include "system/message_flows.hpp"
#include "system/system.hpp"

namespace cxloom {

namespace {

constexpr std::uint8_t kTried = 15;  // virtual channels that datelines may need while they are compared

class Planner {
 public:
  explicit Planner(const System& system)
      : system_(system),
        topology_(system.topology()),
        buffers_(system),
        flows_(message_flows(system, true)) {}

  bool needed() const {
    for (std::uint32_t link = 0; link < buffers_.links().size(); ++link) {
      if (buffers_.last_virtual_channel(link) > 0) return true;
    }
    return false;
  }

  std::vector<std::unique_ptr<VirtualChannelTurns>> plan() const {
    const Datelines datelines =
        find_datelines(dependences(), ranks(), fewest(), [this](const Datelines& tried) {
          return walked([&](std::uint32_t link, std::uint16_t out, std::uint8_t from) {
                   return after(tried, link, out, from);
                 }).last_virtual_channel() +
                 1U;
        });
    std::vector<std::unique_ptr<VirtualChannelTurns>> turns(topology_.size());
    for (std::uint32_t node = 0; node < topology_.size(); ++node) {
      if (topology_.node(node).forwards && buffers_.keeps(node)) turns[node] = turns_of(node, datelines);
    }
    return turns;
  }

 private:
  RouteTurns walked(const RouteTurns::Plan& plan) const {
    RouteTurns turns(topology_, buffers_.links(), system_.router(), kTried + 1U, plan);
    flows_.add_to(turns, system_);
    return turns;
  }

  // That a link has on which it matters.
  unsigned fewest() const {
    unsigned fewest = kTried;
    for (std::uint32_t link = 0; link < buffers_.links().size(); ++link) {
      if (topology_.node(buffers_.links().from(link)).is_switch && buffers_.held_behind(link))
        fewest = std::min(fewest, buffers_.last_virtual_channel(link) + 1U);
    }
    return fewest;
  }

  // Of links, whatever the class.
  Digraph dependences() const {
    const DirectedLinks& links = buffers_.links();
    RouteTurns turns(topology_, links, system_.router(), 1, {});
    flows_.add_to(turns, system_);
    std::vector<Digraph::Edge> edges;
    for (std::uint32_t link = 0; link < links.size(); ++link) {
      if (!buffers_.held_behind(link)) continue;
      for (const Topology::Hop& out : topology_.hops(links.to(link))) {
        const std::uint32_t next = links.leaving(links.to(link), out.port);
        if ((turns.classes(link, 0, out.port) & buffers_.limited(link) & buffers_.limited(next)) != 0)
          edges.emplace_back(link, next);
      }
    }
    return {links.size(), std::move(edges)};
  }

  // The nodes in the order of a search, breadth first, from some of the switches.
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> ranks() const {
    constexpr std::size_t kRoots = 4;
    std::vector<std::uint32_t> roots;
    for (std::uint32_t node = 0; node < topology_.size(); ++node) {
      if (topology_.node(node).is_switch) roots.push_back(node);
    }
    const std::size_t count = std::min(kRoots, roots.size());
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> all;
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

  // As the switches do, with as many virtual channels as it takes.
  std::uint8_t after(const Datelines& datelines, std::uint32_t link, std::uint16_t out,
                     std::uint8_t from) const {
    const std::uint32_t next = buffers_.links().leaving(buffers_.links().to(link), out);
    if (!buffers_.held_behind(link) || !buffers_.held_behind(next) || datelines.restarts(link, next))
      return 0;
    return std::min<std::uint8_t>(kTried,
                                  static_cast<std::uint8_t>(from + (datelines.crossed(link, next) ? 1 : 0)));
  }

  std::unique_ptr<VirtualChannelTurns> turns_of(std::uint32_t node, const Datelines& datelines) const {
    const DirectedLinks& links = buffers_.links();
    const auto hops = topology_.hops(node);
    std::vector<std::uint8_t> last;
    for (const Topology::Hop& out : hops)
      last.push_back(buffers_.last_virtual_channel(links.leaving(node, out.port)));
    auto turns = std::make_unique<VirtualChannelTurns>(std::move(last));
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

std::vector<std::unique_ptr<VirtualChannelTurns>> plan_virtual_channels(const System& system) {
  const Planner planner(system);
  if (!planner.needed()) return {};
  return planner.plan();
}

}  // namespace cxloom
