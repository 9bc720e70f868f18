#include "interconnect/routing.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

Router::Router(const Topology& topology, const RouteTable& table, std::unique_ptr<RoutingStrategy> strategy)
    : topology_(topology), table_(table), strategy_(std::move(strategy)), detours_(strategy_->detours()) {}

// What a strategy of a plug-in chooses may be anything.
void Router::refuse(std::size_t chosen, const Junction& here) {
  throw InternalError("the routing strategy chose way " + std::to_string(chosen) + " of " +
                      std::to_string(here.ways()) + ", which begin at 0");
}

// A message may be sent on a detour by the first switch that it meets, once. It gives the detour up where no way leads to its end: it
// has failed, or what leads there.
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
  const std::uint16_t chosen = choose(message, junction(table, node, destination, hops));
  return hops.subspan(static_cast<std::size_t>(std::find(hops.begin(), hops.end(), chosen) - hops.begin()),
                      1);
}

// A message on a detour leaves by another port than all others to its destination, unless that hangs on this node.
std::vector<std::uint16_t> Router::fixed_ports(NodeId node) {
  std::vector<std::uint16_t> ports(table_.size(), kVaries);
  Message probe;
  for (std::uint32_t destination = 0; destination < ports.size(); ++destination) {
    if (destination == node.index()) continue;
    const auto hops = table_.next_hops(node.index(), destination);
    if (hops.empty() || (detours_ && table_.distance(node.index(), destination) > 1)) continue;
    if (hops.size() > 1 && strategy_->decided_by() != DecidedBy::kDestination) continue;
    probe.destination = NodeId{destination};
    ports[destination] =
        hops.size() == 1 ? hops[0] : choose(probe, junction(table_, node.index(), destination, hops));
  }
  return ports;
}

}  // namespace cxloom
