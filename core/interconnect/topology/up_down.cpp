#include "interconnect/topology/up_down.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace cxloom {
namespace {

constexpr std::uint32_t kUnplaced = 0xffffffffU;

/// The nodes that pass messages on and that `start` reaches through such nodes, nearest first, with their
/// links from it.
std::vector<std::pair<std::uint32_t, std::uint32_t>> reached_from(const Topology& topology,
                                                                  std::uint32_t start) {
  std::vector<bool> seen(topology.size(), false);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> reached{{start, 0}};
  seen[start] = true;
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const auto [node, links] = reached[next];
    for (const Topology::Hop& hop : topology.hops(node)) {
      if (hop.down || seen[hop.to] || !topology.node(hop.to).forwards) continue;
      seen[hop.to] = true;
      reached.emplace_back(hop.to, links + 1);
    }
  }
  return reached;
}

/// The root of the part of the system that `start` is in.
std::uint32_t root_of_part(const Topology& topology, std::uint32_t start) {
  const auto rating = [&](std::uint32_t node) {
    return std::tuple(reached_from(topology, node).back().second,
                      -static_cast<std::int64_t>(topology.hops(node).size()), node);
  };
  auto best = rating(start);
  for (const auto& [node, links] : reached_from(topology, start)) best = std::min(best, rating(node));
  return std::get<2>(best);
}

}  // namespace

std::vector<std::uint32_t> up_down_order(const Topology& topology) {
  std::vector<std::uint32_t> order(topology.size(), kUnplaced);
  std::uint32_t place = 0;
  for (std::uint32_t node = 0; node < topology.size(); ++node) {
    if (!topology.node(node).forwards || order[node] != kUnplaced) continue;
    auto part = reached_from(topology, root_of_part(topology, node));
    std::sort(part.begin(), part.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second, a.first) < std::pair(b.second, b.first);
    });
    for (const auto& [member, links] : part) order[member] = place++;
  }
  for (std::uint32_t& of_node : order) {
    if (of_node == kUnplaced) of_node = place++;
  }
  return order;
}

}  // namespace cxloom
