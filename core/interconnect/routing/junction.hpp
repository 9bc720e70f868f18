// The node where a message is, as a routing strategy sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "component/component.hpp"
#include "interconnect/routing/route_table.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

class Junction {
 public:
  /// `ports` lead on ways from the node to the target, and `component`
  /// is the node's; null where there is none, and no load.
  Junction(const RouteTable& table, std::uint32_t node, std::uint32_t target,
           std::span<const std::uint16_t> ports, Component* component)
      : table_(table), node_(node), target_(target), ports_(ports), component_(component) {}

  std::uint32_t node() const { return node_; }
  /// How many ways lead to the target: ports of the node.
  std::size_t ways() const { return ports_.size(); }
  std::uint16_t port(std::size_t way) const { return ports_[way]; }
  /// Links from here to the target.
  std::uint32_t links() const { return table_.distance(node_, target_); }
  /// Links from another node to the target.
  std::uint32_t links_between(std::uint32_t node) const { return table_.distance(node, target_); }
  /// The load of a way, in messages: waiting for its link's wire, on the wire, or without their
  /// credit of the class back from the far end. Zero on an idle way. Links further on do not count.
  std::uint32_t load(std::size_t way, Channel which) const {
    return component_ ? component_->port(ports_[way]).load(which) : 0;
  }
  /// This place, with some of its ways alone.
  Junction among(std::span<const std::uint16_t> ports) const {
    return {table_, node_, target_, ports, component_};
  }
  /// This place on the way to another node.
  Junction toward(std::uint32_t target) const {
    return {table_, node_, target, table_.next_hops(node_, target), component_};
  }

 private:
  const RouteTable& table_;
  std::uint32_t node_;
  std::uint32_t target_;
  std::span<const std::uint16_t> ports_;
  Component* component_;
};

}  // namespace cxloom
