#include "system/model/partitions.hpp"

#include <algorithm>
#include <numeric>

#include "component/component.hpp"
#include "interconnect/link/end.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

/// Sets of nodes that belong together, each called by its first node.
class Sets {
 public:
  explicit Sets(std::size_t nodes) : parent_(nodes) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::uint32_t of(std::uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    const auto [first, second] = std::minmax({of(a), of(b)});
    parent_[second] = first;
  }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace

Partitions divide(std::size_t nodes, std::span<const Partitions::Joint> joints) {
  Sets sets(nodes);
  for (const Partitions::Joint& joint : joints) {
    if (joint.soonest == Time{}) sets.join(joint.a, joint.b);
  }
  Partitions partitions;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const std::uint32_t first = sets.of(node);
    partitions.of_node.push_back(first == node ? partitions.count++ : partitions.of_node[first]);
  }
  for (const Partitions::Joint& joint : joints) {
    if (partitions.of_node[joint.a] == partitions.of_node[joint.b]) continue;
    partitions.lookahead = std::min(partitions.lookahead.value_or(Time::max()), joint.soonest);
  }
  return partitions;
}

std::vector<Partitions::Joint> joints_of(const System& system) {
  std::vector<Partitions::Joint> joints;
  for (const System::LinkView& link : system.links()) {
    const std::uint32_t a = link.forward->owner().id().index();
    const std::uint32_t b = link.backward->owner().id().index();
    // Credits of one direction take the flight of the other. On a shared wire the directions take turns at
    // once.
    const Time flight = std::min(link.forward->flight(), link.backward->flight());
    joints.push_back({a, b, link.shared ? Time{} : flight});
  }
  return joints;
}

Partitions partitions_of(const System& system) {
  return divide(system.components().size(), joints_of(system));
}

}  // namespace cxloom
