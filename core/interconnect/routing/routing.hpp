// The routes of a running system: the shortest ways, and the strategy that chooses among them.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "component/system_context.hpp"
#include "component/virtual_channel_turns.hpp"
#include "interconnect/routing/route_table.hpp"
#include "interconnect/routing/strategy.hpp"
#include "interconnect/topology/topology.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class Router final : public Routes {
 public:
  /// Both must outlive it.
  Router(const Topology& topology, const RouteTable& table, std::unique_ptr<RoutingStrategy> strategy);

  /// Strategies that ask for the load of a port look at these, by node: to be given before the run.
  void see(std::span<const std::unique_ptr<Component>> components) { components_ = components; }

  std::uint16_t port(Message& message, NodeId node) override {
    std::uint32_t target = message.destination.index();
    if (detours_) [[unlikely]]
      target = next_target(message, node.index());
    const auto hops = table_.next_hops(node.index(), target);
    if (hops.size() == 1) [[likely]]
      return hops[0];
    return choose(message, junction(table_, node.index(), target, hops));
  }
  std::vector<std::uint16_t> fixed_ports(NodeId node) override;
  bool keeps_order() const override { return strategy_->keeps_order(); }
  bool detours() const override { return detours_; }
  const VirtualChannelTurns* turns(NodeId node) const override { return plan_.of(node); }
  void plan(VirtualChannelPlan plan) { plan_ = std::move(plan); }
  const VirtualChannelPlan& plan() const { return plan_; }

  /// The ports by which messages with this source and destination may leave `node`, if these were the
  /// shortest ways; empty: none leads there. Detours aside. They last as long as the router.
  std::span<const std::uint16_t> ways(const RouteTable& table, std::uint32_t node, const Message& message);
  /// These may differ for different sources.
  bool goes_by_source() const { return strategy_->decided_by() == DecidedBy::kPair; }

 private:
  Junction junction(const RouteTable& table, std::uint32_t node, std::uint32_t target,
                    std::span<const std::uint16_t> ports) const {
    return {table, node, target, ports, node < components_.size() ? components_[node].get() : nullptr};
  }
  std::uint16_t choose(const Message& message, const Junction& here) {
    if (here.ways() == 0) return kNowhere;
    const std::uint16_t port = decide(message, here);
    if (!has_parallel_links(here.node())) return port;
    return spread(message, here, port);
  }
  /// Parallel links aside.
  std::uint16_t decide(const Message& message, const Junction& here) {
    if (has_bundles(here.node())) [[unlikely]]
      return decide_among_bundles(message, here);
    return decide_among_ports(message, here);
  }
  std::uint16_t decide_among_ports(const Message& message, const Junction& here) {
    const std::size_t chosen = strategy_->choose(message, here);
    if (chosen >= here.ways()) [[unlikely]]
      refuse(chosen, here);
    return here.port(chosen);
  }
  std::uint16_t decide_among_bundles(const Message& message, const Junction& here);
  bool has_bundles(std::uint32_t node) const { return !bundled_.empty() && bundled_[node]; }
  /// Over which messages are spread.
  bool has_parallel_links(std::uint32_t node) const { return !parallel_.empty() && parallel_[node]; }
  bool parallel(std::uint32_t node, std::uint16_t port, std::uint16_t other) const {
    const auto hops = topology_.hops(node);
    return hops[port].to == hops[other].to && (spreads_ || hops[port].bundled);
  }
  std::uint16_t spread(const Message& message, const Junction& here, std::uint16_t port) const;
  std::vector<std::uint16_t> bundle(std::uint32_t node, std::span<const std::uint16_t> ways,
                                    std::uint16_t port) const;
  [[noreturn]] static void refuse(std::size_t chosen, const Junction& here);
  std::uint32_t next_target(Message& message, std::uint32_t node);

  const Topology& topology_;
  const RouteTable& table_;
  std::unique_ptr<RoutingStrategy> strategy_;
  bool detours_;
  bool spreads_;                // over parallel links; over those of a bundle in any case
  std::vector<bool> parallel_;  // by node: several links lead to one other; empty: nothing is spread
  std::vector<bool> bundled_;   // by node: some of these are a bundle; empty: none is
  std::set<std::vector<std::uint16_t>> bundles_;  // ports of parallel links, of which somebody was told
  VirtualChannelPlan plan_;
  std::span<const std::unique_ptr<Component>> components_;
};

}  // namespace cxloom
