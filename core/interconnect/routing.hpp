// The routes of a running system: the shortest ways, and the strategy that chooses among them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "component/fabric.hpp"
#include "component/virtual_channel_turns.hpp"
#include "interconnect/route_table.hpp"
#include "interconnect/routing_strategy.hpp"
#include "interconnect/topology.hpp"
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

  /// The ports by which messages with this source and destination may leave `node`, if these were the shortest ways; empty: none leads
  /// there. Detours aside.
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
    const std::size_t chosen = strategy_->choose(message, here);
    if (chosen >= here.ways()) [[unlikely]]
      refuse(chosen, here);
    return here.port(chosen);
  }
  [[noreturn]] static void refuse(std::size_t chosen, const Junction& here);
  std::uint32_t next_target(Message& message, std::uint32_t node);

  const Topology& topology_;
  const RouteTable& table_;
  std::unique_ptr<RoutingStrategy> strategy_;
  bool detours_;
  VirtualChannelPlan plan_;
  std::span<const std::unique_ptr<Component>> components_;
};

}  // namespace cxloom
