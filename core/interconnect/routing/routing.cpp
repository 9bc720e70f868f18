#include "interconnect/routing/routing.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"

namespace cxloom {

Router::Router(const Topology& topology, const RouteTable& table, std::unique_ptr<RoutingStrategy> strategy)
    : topology_(topology),
      table_(table),
      strategy_(std::move(strategy)),
      detours_(strategy_->detours()),
      spreads_(strategy_->spreads_over_parallel_links()) {
  std::vector<bool> parallel(topology.size(), false);
  std::vector<std::uint32_t> seen_from(topology.size(), ~std::uint32_t{0});
  std::vector<bool> bundled(topology.size(), false);
  bool any = false;
  bool any_bundled = false;
  for (std::uint32_t node = 0; node < topology.size(); ++node) {
    for (const Topology::Hop& hop : topology.hops(node)) {
      if (seen_from[hop.to] == node && (spreads_ || hop.bundled)) any = parallel[node] = true;
      if (hop.bundled) any_bundled = bundled[node] = true;
      seen_from[hop.to] = node;
    }
  }
  if (any) parallel_ = std::move(parallel);
  if (any_bundled) bundled_ = std::move(bundled);
}

// The choice of a plug-in's strategy may be anything.
void Router::refuse(std::size_t chosen, const Junction& here) {
  throw InternalError("the routing strategy chose way " + std::to_string(chosen) + " of " +
                      std::to_string(here.ways()) + ", which begin at 0");
}

// A bundle is one way, the first of its links that works, whatever its ports are.
std::uint16_t Router::decide_among_bundles(const Message& message, const Junction& here) {
  const auto hops = topology_.hops(here.node());
  std::vector<std::uint16_t> ways;
  for (std::size_t i = 0; i < here.ways(); ++i) {
    const Topology::Hop& hop = hops[here.port(i)];
    const auto is_same = [&](std::uint16_t way) { return hops[way].to == hop.to; };
    if (!hop.bundled || std::ranges::none_of(ways, is_same)) ways.push_back(here.port(i));
  }
  return ways.size() == 1 ? ways.front() : decide_among_ports(message, here.among(ways));
}

// At both ends of parallel links their ports are in the order of the links,
// without the links that are down. So the same one is chosen there and back. CXL.io, whose order is that of
// all addresses, has the first of a bundle, and of other links the chosen one.
std::uint16_t Router::spread(const Message& message, const Junction& here, std::uint16_t port) const {
  std::uint64_t links = 0;
  for (std::size_t i = 0; i < here.ways(); ++i) links += parallel(here.node(), port, here.port(i)) ? 1 : 0;
  if (links <= 1) return port;
  const bool bundled = topology_.hops(here.node())[port].bundled;
  const bool io = message.channel == Channel::kIo;
  if (io && !bundled) return port;
  // A snoop of a block is about lines that have the same link of a bundle.
  constexpr unsigned kBlockBits = 2;  // four lines
  const std::uint64_t line = LineAddress::of(message.address).number();
  const std::uint64_t drawn = mix_bits(bundled ? line >> kBlockBits : line) >> 32U;
  std::uint64_t left = io ? 0 : drawn * links >> 32U;
  for (std::size_t i = 0;; ++i) {
    if (parallel(here.node(), port, here.port(i)) && left-- == 0) return here.port(i);
  }
}

std::vector<std::uint16_t> Router::bundle(std::uint32_t node, std::span<const std::uint16_t> ways,
                                          std::uint16_t port) const {
  std::vector<std::uint16_t> ports;
  for (const std::uint16_t way : ways) {
    if (way == port || parallel(node, port, way)) ports.push_back(way);
  }
  return ports;
}

// A message may be sent on a detour by the first switch that it meets, once. It gives the detour up where no
// way leads to its end: it has failed, or what leads there.
std::uint32_t Router::next_target(Message& message, std::uint32_t node) {
  const std::uint32_t destination = message.destination.index();
  if (message.via == kViaUndecided) {
    const auto ports = table_.next_hops(node, destination);
    if (!topology_.node(node).is_switch || ports.empty()) return destination;
    const std::uint32_t via = strategy_->detour(message, junction(table_, node, destination, ports));
    ensure(via == kNoDetour || (via < table_.size() && topology_.node(via).forwards),
           "the routing strategy sent a message by a node that passes nothing on");
    message.via = via == kNoDetour ? kViaNobody : NodeId{via};
  }
  if (message.via == kViaNobody) return destination;
  const std::uint32_t via = message.via.index();
  if (via != node && !table_.next_hops(node, via).empty()) return via;
  message.via = kViaNobody;
  return destination;
}

std::span<const std::uint16_t> Router::ways(const RouteTable& table, std::uint32_t node,
                                            const Message& message) {
  const std::uint32_t destination = message.destination.index();
  const auto hops = table.next_hops(node, destination);
  if (hops.size() <= 1 || strategy_->decided_by() == DecidedBy::kMessage) return hops;
  const std::uint16_t chosen = decide(message, junction(table, node, destination, hops));
  if (has_parallel_links(node)) return *bundles_.insert(bundle(node, hops, chosen)).first;
  return hops.subspan(static_cast<std::size_t>(std::find(hops.begin(), hops.end(), chosen) - hops.begin()),
                      1);
}

// A message on a detour leaves by another port than all others to its destination, unless that hangs on this
// node.
std::vector<std::uint16_t> Router::fixed_ports(NodeId node) {
  std::vector<std::uint16_t> ports(table_.size(), kVaries);
  Message probe;
  for (std::uint32_t destination = 0; destination < ports.size(); ++destination) {
    if (destination == node.index()) continue;
    const auto hops = table_.next_hops(node.index(), destination);
    if (hops.empty() || (detours_ && table_.distance(node.index(), destination) > 1)) continue;
    if (hops.size() > 1 && strategy_->decided_by() != DecidedBy::kDestination) continue;
    probe.destination = NodeId{destination};
    const std::uint16_t port =
        hops.size() == 1 ? hops[0] : decide(probe, junction(table_, node.index(), destination, hops));
    if (has_parallel_links(node.index()) && bundle(node.index(), hops, port).size() > 1) continue;
    ports[destination] = port;
  }
  return ports;
}

}  // namespace cxloom
