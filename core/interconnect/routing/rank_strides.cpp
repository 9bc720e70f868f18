#include "interconnect/routing/rank_strides.hpp"

#include <algorithm>
#include <ranges>

namespace cxloom {
namespace {

constexpr std::uint32_t kNoLevel = ~std::uint32_t{0};

/// Nodes by their distance from the nearest device, the nearest first; nodes out of reach are missing.
struct Levels {
  std::vector<std::uint32_t> of;     ///< distance, by node
  std::vector<std::uint32_t> nodes;  ///< in order
};

Levels levels_of(const Topology& topology) {
  Levels levels{std::vector<std::uint32_t>(topology.size(), kNoLevel), {}};
  for (std::uint32_t node = 0; node < topology.size(); ++node) {
    if (topology.node(node).forwards) continue;
    levels.of[node] = 0;
    levels.nodes.push_back(node);
  }
  for (std::size_t next = 0; next < levels.nodes.size(); ++next) {
    const std::uint32_t node = levels.nodes[next];
    for (const Topology::Hop& hop : topology.hops(node)) {
      if (levels.of[hop.to] != kNoLevel) continue;
      levels.of[hop.to] = levels.of[node] + 1;
      levels.nodes.push_back(hop.to);
    }
  }
  return levels;
}

}  // namespace

std::vector<std::uint32_t> rank_strides(const Topology& topology, std::uint32_t most) {
  const Levels levels = levels_of(topology);
  std::vector<std::uint32_t> strides(topology.size(), 1);
  for (const std::uint32_t node : levels.nodes) {
    if (!topology.node(node).forwards) continue;
    // The links of a bundle are one way.
    const auto leads_up = [&](const Topology::Hop& hop) {
      const auto is_before = [&](const Topology::Hop& other) {
        return other.to == hop.to && other.link < hop.link;
      };
      if (hop.bundled && std::ranges::any_of(topology.hops(node), is_before)) return false;
      return levels.of[hop.to] > levels.of[node];
    };
    const std::uint64_t stride =
        std::uint64_t{strides[node]} *
        static_cast<std::uint64_t>(std::ranges::count_if(topology.hops(node), leads_up));
    if (stride >= most) continue;
    for (const Topology::Hop& hop : topology.hops(node) | std::views::filter(leads_up))
      strides[hop.to] = std::max(strides[hop.to], static_cast<std::uint32_t>(stride));
  }
  return strides;
}

}  // namespace cxloom
