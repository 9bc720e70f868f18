#include "interconnect/topology/topology.hpp"

#include <algorithm>
#include <utility>

namespace cxloom {

NodeId Topology::add_node(Node node) {
  nodes_.push_back(std::move(node));
  hops_.emplace_back();
  return NodeId{static_cast<std::uint32_t>(nodes_.size() - 1)};
}

std::uint32_t Topology::connect(NodeId a, NodeId b, const Crossing& a_to_b, const Crossing& b_to_a) {
  auto& from_a = hops_[a.index()];
  auto& from_b = hops_[b.index()];
  const auto port_a = static_cast<std::uint16_t>(from_a.size());
  const auto port_b = static_cast<std::uint16_t>(from_b.size());
  from_a.push_back({b.index(), port_a, port_b, links_, false, false, a_to_b});
  from_b.push_back({a.index(), port_b, port_a, links_, false, false, b_to_a});
  return links_++;
}

void Topology::set_bundled(std::uint32_t link) {
  for (auto& hops : hops_) {
    for (Hop& hop : hops) hop.bundled = hop.bundled || hop.link == link;
  }
}

void Topology::set_down(std::uint32_t link, bool down) {
  for (auto& hops : hops_) {
    for (Hop& hop : hops) {
      if (hop.link == link) hop.down = down;
    }
  }
}

bool Topology::any_down() const {
  return std::ranges::any_of(hops_, [](const auto& hops) { return std::ranges::any_of(hops, &Hop::down); });
}

std::vector<Topology::EdgePort> Topology::edge_ports() const {
  std::vector<EdgePort> ports;
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    if (!nodes_[node].is_switch) continue;
    for (const Hop& hop : hops_[node]) {
      if (!nodes_[hop.to].is_switch) ports.push_back({node, hop.port, hop.to});
    }
  }
  return ports;
}

}  // namespace cxloom
