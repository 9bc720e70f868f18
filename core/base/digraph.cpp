#include "base/digraph.hpp"

#include <algorithm>
#include <deque>
#include <limits>

namespace cxloom {

Digraph::Digraph(std::uint32_t vertices, std::vector<Edge> edges) : first_(std::size_t{vertices} + 1) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  to_.reserve(edges.size());
  for (const auto& [from, to] : edges) {
    ++first_[std::size_t{from} + 1];
    to_.push_back(to);
  }
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
}

// Tarjan (1972), with a stack of its own: a way through thousands of links is as deep.
std::vector<std::uint32_t> Digraph::components() const {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Visit {
    std::uint32_t vertex;
    std::size_t edge;
  };
  std::vector<std::uint32_t> component(size(), kNone);
  std::vector<std::uint32_t> index(size(), kNone);
  std::vector<std::uint32_t> low(size());
  std::vector<std::uint32_t> open;  // visited, and without a component yet
  std::vector<Visit> visits;
  std::uint32_t seen = 0;
  std::uint32_t count = 0;
  for (std::uint32_t root = 0; root < size(); ++root) {
    if (index[root] != kNone) continue;
    visits.push_back({root, first_[root]});
    while (!visits.empty()) {
      const std::uint32_t vertex = visits.back().vertex;
      if (index[vertex] == kNone) {
        index[vertex] = low[vertex] = seen++;
        open.push_back(vertex);
      }
      if (visits.back().edge < first_[vertex + 1]) {
        const std::uint32_t to = to_[visits.back().edge++];
        if (index[to] == kNone) {
          visits.push_back({to, first_[to]});
        } else if (component[to] == kNone) {
          low[vertex] = std::min(low[vertex], index[to]);
        }
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) low[visits.back().vertex] = std::min(low[visits.back().vertex], low[vertex]);
      if (low[vertex] != index[vertex]) continue;
      while (component[vertex] == kNone) {
        component[open.back()] = count;
        open.pop_back();
      }
      ++count;
    }
  }
  return component;
}

// Breadth first, within the component.
std::vector<std::uint32_t> Digraph::circle_through(std::uint32_t vertex,
                                                   const std::vector<std::uint32_t>& component,
                                                   std::size_t shorter_than) const {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> before(size(), kNone);
  std::vector<std::uint32_t> layer{vertex};
  for (std::size_t length = 1; length < shorter_than && !layer.empty(); ++length) {
    std::vector<std::uint32_t> further;
    for (const std::uint32_t at : layer) {
      for (const std::uint32_t to : next(at)) {
        if (to == vertex) {
          std::vector<std::uint32_t> circle;
          for (std::uint32_t back = at; back != vertex; back = before[back]) circle.push_back(back);
          circle.push_back(vertex);
          std::reverse(circle.begin(), circle.end());
          return circle;
        }
        if (component[to] != component[vertex] || before[to] != kNone) continue;
        before[to] = at;
        further.push_back(to);
      }
    }
    layer = std::move(further);
  }
  return {};
}

std::vector<std::uint32_t> Digraph::circle() const {
  constexpr std::size_t kMostTried = 16;
  const std::vector<std::uint32_t> component = components();
  std::vector<std::uint32_t> members(size());
  for (const std::uint32_t each : component) ++members[each];
  std::vector<std::uint32_t> shortest;
  std::size_t tried = 0;
  for (std::uint32_t vertex = 0; vertex < size() && tried < kMostTried; ++vertex) {
    const auto after = next(vertex);
    const bool circular =
        members[component[vertex]] > 1 || std::find(after.begin(), after.end(), vertex) != after.end();
    if (!circular) continue;
    ++tried;
    const std::size_t limit = shortest.empty() ? std::numeric_limits<std::size_t>::max() : shortest.size();
    std::vector<std::uint32_t> found = circle_through(vertex, component, limit);
    if (!found.empty()) shortest = std::move(found);
  }
  return shortest;
}

}  // namespace cxloom
