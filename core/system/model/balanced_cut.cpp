#include "system/model/balanced_cut.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

namespace cxloom {

namespace {

struct GroupEdge {
  std::uint32_t to;
  double weight;
};

using KindWeights = std::array<double, NodeLoad::kKinds>;

/// The graph of the groups.
struct GroupGraph {
  std::vector<KindWeights> weight;  // by group
  std::vector<std::vector<GroupEdge>> edges;
};

GroupGraph graph_of(const Partitions& groups, std::span<const Partitions::Joint> joints,
                    std::span<const NodeLoad> traffic, std::span<const double> across) {
  GroupGraph graph{std::vector<KindWeights>(groups.count), std::vector<std::vector<GroupEdge>>(groups.count)};
  for (std::size_t node = 0; node < traffic.size(); ++node)
    graph.weight[groups.of_node[node]][static_cast<std::size_t>(traffic[node].kind)] +=
        traffic[node].messages;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const std::uint32_t a = groups.of_node[joints[i].a];
    const std::uint32_t b = groups.of_node[joints[i].b];
    if (a == b) continue;
    // A link through which nothing is known to go joins its ends a little, too.
    const double weight = across[i] + 1e-3;
    graph.edges[a].push_back({b, weight});
    graph.edges[b].push_back({a, weight});
  }
  return graph;
}

/// Divides the groups of one side into two, of which the first has about a `share` of the weight of each
/// kind.
class Bisection {
 public:
  Bisection(const GroupGraph& graph, std::vector<std::uint32_t> groups, double share)
      : graph_(graph), groups_(std::move(groups)), side_(graph.weight.size(), kElsewhere) {
    for (const std::uint32_t group : groups_) {
      side_[group] = kSecond;
      for (std::size_t kind = 0; kind < total_.size(); ++kind) total_[kind] += graph_.weight[group][kind];
    }
    for (std::size_t kind = 0; kind < total_.size(); ++kind) {
      target_[kind] = total_[kind] * share;
      all_ += total_[kind];
      kinds_ += total_[kind] > 0.0 ? 1.0 : 0.0;
    }
    grow(farthest(farthest(groups_.front())));
    for (std::size_t moves = 4 * groups_.size(); moves > 0 && improve(); --moves) {
    }
  }

  std::vector<std::uint32_t> first() const { return of(kFirst); }
  std::vector<std::uint32_t> second() const { return of(kSecond); }

 private:
  enum Side : std::uint8_t { kFirst, kSecond, kElsewhere };
  // A message that goes across costs as much again as one at a node: it is another processor's. Each of two
  // parts has half of that.
  static constexpr double kCostAcross = 0.5;

  std::vector<std::uint32_t> of(Side side) const {
    std::vector<std::uint32_t> result;
    for (const std::uint32_t group : groups_) {
      if (side_[group] == side) result.push_back(group);
    }
    return result;
  }

  // As breadth-first search finds it.
  std::uint32_t farthest(std::uint32_t from) const {
    std::vector<bool> seen(side_.size(), false);
    std::vector<std::uint32_t> order{from};
    seen[from] = true;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const GroupEdge& edge : graph_.edges[order[i]]) {
        if (seen[edge.to] || side_[edge.to] == kElsewhere) continue;
        seen[edge.to] = true;
        order.push_back(edge.to);
      }
    }
    return order.back();
  }

  /// How much less goes across if the group changes sides.
  double gain(std::uint32_t group) const {
    double gain = 0.0;
    for (const GroupEdge& edge : graph_.edges[group]) {
      if (side_[edge.to] != kElsewhere) gain += side_[edge.to] == side_[group] ? -edge.weight : edge.weight;
    }
    return gain;
  }

  /// How far the first side is from its share, summed over kinds, if `moved` is added to it `times` (1, 0 or
  /// -1).
  double imbalance(const KindWeights& moved, double times) const {
    double sum = 0.0;
    for (std::size_t kind = 0; kind < total_.size(); ++kind) {
      if (total_[kind] > 0.0)
        sum += std::abs(first_[kind] + times * moved[kind] - target_[kind]) / total_[kind];
    }
    return sum;
  }

  void move(std::uint32_t group) {
    const double sign = side_[group] == kFirst ? -1.0 : 1.0;
    side_[group] = side_[group] == kFirst ? kSecond : kFirst;
    count_ = side_[group] == kFirst ? count_ + 1 : count_ - 1;
    for (std::size_t kind = 0; kind < first_.size(); ++kind)
      first_[kind] += sign * graph_.weight[group][kind];
  }

  // The first side grows from there by what is joined to it most, as long as that brings it nearer to its
  // share.
  void grow(std::uint32_t start) {
    move(start);
    while (count_ + 1 < groups_.size()) {
      std::optional<std::uint32_t> next;
      double most = 0.0;
      const double now = imbalance({}, 0.0);
      for (const std::uint32_t group : groups_) {
        if (side_[group] != kSecond || imbalance(graph_.weight[group], 1.0) >= now) continue;
        const double joined = gain(group);
        if (next && joined <= most) continue;
        most = joined;
        next = group;
      }
      if (!next) return;
      move(*next);
    }
  }

  // The single move that wins most: less that goes across, or less for which the other part has to wait, as
  // shares of all the work.
  bool improve() {
    std::optional<std::uint32_t> best;
    double most = 1e-9;
    const double now = imbalance({}, 0.0);
    for (const std::uint32_t group : groups_) {
      const bool leaves = side_[group] == kFirst;
      if (leaves ? count_ == 1 : count_ + 1 == groups_.size()) continue;
      const double after = imbalance(graph_.weight[group], leaves ? -1.0 : 1.0);
      const double won = kCostAcross * gain(group) / all_ - (after - now) / kinds_;
      if (won <= most) continue;
      most = won;
      best = group;
    }
    if (best) move(*best);
    return best.has_value();
  }

  const GroupGraph& graph_;
  std::vector<std::uint32_t> groups_;
  std::vector<Side> side_;
  KindWeights total_{};
  KindWeights target_{};
  double all_ = 1e-3;      // weights of all kinds
  double kinds_ = 1e-3;    // that there are
  KindWeights first_{};    // of the first side
  std::size_t count_ = 0;  // groups of it
};

void cut(const GroupGraph& graph, std::vector<std::uint32_t> groups, std::uint32_t parts, std::uint32_t& next,
         std::vector<std::uint32_t>& part_of) {
  if (parts == 1 || groups.size() == 1) {
    for (const std::uint32_t group : groups) part_of[group] = next;
    ++next;
    return;
  }
  parts = static_cast<std::uint32_t>(std::min<std::size_t>(parts, groups.size()));
  const std::uint32_t half = parts / 2;
  const Bisection halves(graph, std::move(groups), static_cast<double>(half) / parts);
  // A side of few groups leaves its parts to the other.
  const auto first = static_cast<std::uint32_t>(halves.first().size());
  const auto second = static_cast<std::uint32_t>(halves.second().size());
  const std::uint32_t of_second = std::min(parts - std::min(half, first), second);
  cut(graph, halves.first(), parts - of_second, next, part_of);
  cut(graph, halves.second(), of_second, next, part_of);
}

}  // namespace

std::vector<std::uint32_t> balanced_cut(const Partitions& groups, std::span<const Partitions::Joint> joints,
                                        std::span<const NodeLoad> traffic, std::span<const double> across,
                                        std::uint32_t parts) {
  const GroupGraph graph = graph_of(groups, joints, traffic, across);
  std::vector<std::uint32_t> all(groups.count);
  std::iota(all.begin(), all.end(), 0U);
  std::vector<std::uint32_t> part_of(groups.count, 0);
  std::uint32_t next = 0;
  cut(graph, std::move(all), std::max(parts, 1U), next, part_of);
  return part_of;
}

}  // namespace cxloom
