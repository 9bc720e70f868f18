#include "interconnect/routing/datelines.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

namespace cxloom {

namespace {

std::vector<std::uint32_t> places(const std::vector<std::uint32_t>& sorted) {
  std::vector<std::uint32_t> place(sorted.size());
  for (std::uint32_t i = 0; i < sorted.size(); ++i) place[sorted[i]] = i;
  return place;
}

// First all links towards the root, the farthest first, then all links away from it, the nearest first: turns
// from away to towards are datelines.
std::vector<std::uint32_t> up_then_down(const LinkRanks& ranks) {
  std::vector<std::uint32_t> links(ranks.size());
  std::iota(links.begin(), links.end(), 0U);
  const auto key = [&](std::uint32_t link) {
    const auto [from, to] = ranks[link];
    const bool down = to > from;
    return std::tuple(down, down ? from : ~from, down ? to : ~to, link);
  };
  std::sort(links.begin(), links.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  return places(links);
}

// Depth first from one link, with a stack of its own, then from all that it does not reach: what comes back
// to a link that is being looked at goes back in the order.
std::vector<std::uint32_t> depth_first(const Digraph& graph, std::uint32_t start) {
  std::vector<std::uint32_t> finished;
  std::vector<bool> seen(graph.size(), false);
  std::vector<std::pair<std::uint32_t, std::size_t>> visits;
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const std::uint32_t root = (start + i) % graph.size();
    if (seen[root]) continue;
    seen[root] = true;
    visits.emplace_back(root, 0);
    while (!visits.empty()) {
      auto& [link, next] = visits.back();
      const auto after = graph.next(link);
      if (next == after.size()) {
        finished.push_back(link);
        visits.pop_back();
        continue;
      }
      const std::uint32_t to = after[next++];
      if (seen[to]) continue;
      seen[to] = true;
      visits.emplace_back(to, 0);
    }
  }
  std::reverse(finished.begin(), finished.end());
  return places(finished);
}

}  // namespace

std::vector<Datelines> candidate_datelines(const Digraph& dependences, const std::vector<LinkRanks>& ranks) {
  const std::vector<std::uint32_t> component = dependences.components();
  std::vector<Datelines> candidates;
  for (const LinkRanks& each : ranks) candidates.push_back({component, up_then_down(each)});
  const std::uint32_t links = dependences.size();
  for (std::uint32_t i = 0; i < std::min(links, kDepthFirst); ++i) {
    const auto start = static_cast<std::uint32_t>(std::uint64_t{i} * links / kDepthFirst);
    candidates.push_back({component, depth_first(dependences, start)});
  }
  return candidates;
}

}  // namespace cxloom
