#include "interconnect/routing.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"

namespace cxloom {

namespace {

class DeterministicRouting final : public RoutingStrategy {
 public:
  explicit DeterministicRouting(std::vector<std::uint32_t> ranks) : ranks_(std::move(ranks)) {}
  std::size_t choose(const Message& message, std::uint32_t /*node*/, std::size_t choices) override {
    return ranks_[message.destination.index()] % choices;
  }
  bool goes_by_destination() const override { return true; }

 private:
  std::vector<std::uint32_t> ranks_;
};

class FlowHashRouting final : public RoutingStrategy {
 public:
  explicit FlowHashRouting(std::uint64_t seed) : key_(mix_bits(seed)) {}
  std::size_t choose(const Message& message, std::uint32_t node, std::size_t choices) override {
    const std::uint64_t flow = (std::uint64_t{message.source.index()} << 32U) | message.destination.index();
    return mix_bits(mix_bits(key_ ^ flow) + node) % choices;
  }

 private:
  std::uint64_t key_;
};

class RandomRouting final : public RoutingStrategy {
 public:
  explicit RandomRouting(std::uint64_t seed) : key_(mix_bits(seed ^ 0x726f757465ULL)) {}
  std::size_t choose(const Message& message, std::uint32_t node, std::size_t choices) override {
    // All messages of one class to one line take one way, which keeps their order.
    const std::uint64_t line = LineAddress::of(message.address).number();
    const std::uint64_t flow =
        (std::uint64_t{message.source.index()} << 8U) | static_cast<std::uint64_t>(message.channel);
    return mix_bits(mix_bits(key_ ^ line) ^ mix_bits(flow) ^ node) % choices;
  }

 private:
  std::uint64_t key_;
};

}  // namespace

std::unique_ptr<RoutingStrategy> make_routing_strategy(RoutingKind kind, std::uint64_t seed,
                                                       std::vector<std::uint32_t> ranks) {
  switch (kind) {
    case RoutingKind::kDeterministic: return std::make_unique<DeterministicRouting>(std::move(ranks));
    case RoutingKind::kFlowHash: return std::make_unique<FlowHashRouting>(seed);
    case RoutingKind::kRandom: return std::make_unique<RandomRouting>(seed);
  }
  throw InternalError("an unknown routing strategy");
}

/// What is found on the way from one target outwards. Leaves are left out: their way is that of what they hang on.
struct RouteTable::Search {
  static constexpr std::uint32_t kUnseen = 0xffffffffU;

  explicit Search(const Topology& topology)
      : leaf(topology.size()), forwards(topology.size()), links(topology.size()), ways(topology.size()) {
    for (std::uint32_t node = 0; node < topology.size(); ++node) {
      leaf[node] = topology.is_leaf(node) ? 1 : 0;
      forwards[node] = topology.node(node).forwards ? 1 : 0;
      if (leaf[node] == 0) ++nodes;
    }
  }
  void clear() {
    reached.clear();
    std::fill(links.begin(), links.end(), kUnseen);
  }
  void reach(std::uint32_t node, std::uint32_t after) {
    links[node] = after;
    ways[node].clear();
    reached.push_back(node);
  }
  bool complete() const { return reached.size() == nodes; }

  std::vector<std::uint8_t> leaf;
  std::vector<std::uint8_t> forwards;
  std::vector<std::uint32_t> links;              ///< to the target, or kUnseen
  std::vector<std::vector<std::uint16_t>> ways;  ///< of the nodes reached: ports of shortest ways
  std::vector<std::uint32_t> reached;            ///< the target first
  std::size_t nodes = 0;                         ///< that are no leaves
  std::map<std::vector<std::uint16_t>, std::uint32_t> lists;  ///< several ways: where they are in the pool
};

RouteTable::RouteTable(const Topology& topology, RouteMetric metric) {
  const std::size_t nodes = topology.size();
  targets_.resize(nodes);
  std::vector<std::uint32_t> group_of(nodes, kNone);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    Target& target = targets_[node];
    std::uint32_t routed_to = node;
    if (topology.is_leaf(node)) {
      const Topology::Hop& up = topology.hops(node)[0];
      routed_to = target.attachment = up.to;
      target.attachment_port = up.far_port;
    }
    if (group_of[routed_to] == kNone) {
      group_of[routed_to] = static_cast<std::uint32_t>(group_nodes_.size());
      group_nodes_.push_back(routed_to);
    }
    target.group = group_of[routed_to];
  }
  row_.assign(nodes, 0);
  std::size_t rows = 1;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    if (!topology.is_leaf(node)) row_[node] = rows++ * group_nodes_.size();
  }
  entries_.resize(rows * group_nodes_.size());
  distances_.assign(rows * group_nodes_.size(), kFarAway);
  Search search(topology);
  for (std::uint32_t group = 0; group < group_nodes_.size(); ++group) {
    if (metric == RouteMetric::kHops) search_hops(topology, group_nodes_[group], search);
    else search_latency(topology, group_nodes_[group], search);
    add_group(group, search);
  }
}

// Breadth first. A node knows all of its ways once all nodes that are one link nearer have been looked at, so that the
// search ends as soon as the nearer ones have reached everybody: at once where all are neighbours.
void RouteTable::search_hops(const Topology& topology, std::uint32_t target, Search& search) const {
  search.clear();
  search.reach(target, 0);
  std::size_t next = 0;
  for (std::uint32_t distance = 1; next < search.reached.size() && !search.complete(); ++distance) {
    for (const std::size_t end = search.reached.size(); next < end; ++next) {
      const std::uint32_t node = search.reached[next];
      if (node != target && search.forwards[node] == 0) continue;
      for (const Topology::Hop& hop : topology.hops(node)) {
        if (search.leaf[hop.to] != 0) continue;
        if (search.links[hop.to] == Search::kUnseen) search.reach(hop.to, distance);
        if (search.links[hop.to] == distance) search.ways[hop.to].push_back(hop.far_port);
      }
    }
  }
}

// Dijkstra from the target outwards. Only forwarding nodes pass the search on; what a message spends inside one is paid
// when it goes through, not where it ends.
void RouteTable::search_latency(const Topology& topology, std::uint32_t target, Search& search) const {
  using Cost = std::int64_t;
  constexpr Cost kFar = std::numeric_limits<Cost>::max();
  search.clear();
  search.reach(target, 0);
  std::vector<Cost> cost(topology.size(), kFar);
  using Item = std::pair<Cost, std::uint32_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> frontier;
  cost[target] = 0;
  frontier.emplace(0, target);
  const auto step_cost = [&](const Topology::Hop& hop) {
    const Time transit = hop.to == target ? Time{} : topology.node(hop.to).transit;
    return (hop.latency + transit).ps();
  };
  // The hop from `hop.to` back to the node it came from.
  const auto reversed = [&](const Topology::Hop& hop) -> const Topology::Hop& {
    return topology.hops(hop.to)[hop.far_port];
  };
  while (!frontier.empty()) {
    const auto [reached, node] = frontier.top();
    frontier.pop();
    if (reached > cost[node]) continue;
    if (node != target && search.forwards[node] == 0) continue;
    for (const Topology::Hop& hop : topology.hops(node)) {
      if (search.leaf[hop.to] != 0) continue;
      const Cost total = reached + step_cost(reversed(hop));
      if (total < cost[hop.to]) {
        if (cost[hop.to] == kFar) search.reach(hop.to, 0);
        cost[hop.to] = total;
        search.links[hop.to] = search.links[node] + 1;
        frontier.emplace(total, hop.to);
      }
    }
  }
  for (const std::uint32_t node : search.reached) {
    if (node == target) continue;
    for (const Topology::Hop& hop : topology.hops(node)) {
      if (hop.to != target && search.forwards[hop.to] == 0) continue;
      if (cost[hop.to] == kFar || cost[hop.to] + step_cost(hop) != cost[node]) continue;
      // Where a step costs nothing, only links tell which way leads on and which way back.
      if (cost[hop.to] == cost[node] && search.links[hop.to] >= search.links[node]) continue;
      search.ways[node].push_back(hop.port);
    }
  }
}

void RouteTable::add_group(std::uint32_t group, Search& search) {
  for (const std::uint32_t node : search.reached) {
    const std::size_t cell = row_[node] + group;
    distances_[cell] = static_cast<std::uint16_t>(search.links[node]);
    if (node == group_nodes_[group]) continue;
    std::vector<std::uint16_t>& ports = search.ways[node];
    std::sort(ports.begin(), ports.end());
    Entry& entry = entries_[cell];
    entry.count = static_cast<std::uint16_t>(ports.size());
    entry.port = ports[0];
    if (ports.size() > 1) {
      const auto [list, fresh] = search.lists.try_emplace(ports, static_cast<std::uint32_t>(pool_.size()));
      if (fresh) pool_.insert(pool_.end(), ports.begin(), ports.end());
      entry.first = list->second;
    }
  }
}

std::uint64_t RouteTable::bytes(const Topology& topology) {
  constexpr std::uint64_t kCell = sizeof(Entry) + sizeof(std::uint16_t);
  constexpr std::uint64_t kInSwitch = sizeof(void*) + sizeof(std::uint16_t);
  std::uint64_t routed = 0;  // nodes with routes of their own, and as many groups at most
  std::uint64_t switches = 0;
  for (std::uint32_t node = 0; node < topology.size(); ++node) {
    routed += topology.is_leaf(node) ? 0U : 1U;
    switches += topology.node(node).is_switch ? 1U : 0U;
  }
  return routed * routed * kCell + switches * topology.size() * kInSwitch;
}

std::uint32_t RouteTable::distance(std::uint32_t from, std::uint32_t to) const {
  if (from == to) return 0;
  // A leaf has one link, to the node it hangs on.
  if (targets_[from].attachment != kNone) {
    const std::uint32_t rest = targets_[from].attachment == to ? 0 : distance(targets_[from].attachment, to);
    return rest == kUnreachable ? rest : rest + 1;
  }
  if (targets_[to].attachment == from) return 1;
  const std::uint16_t links = distances_[row_[from] + targets_[to].group];
  if (links == kFarAway) return kUnreachable;
  return links + (targets_[to].attachment == kNone ? 0U : 1U);
}

std::vector<std::uint16_t> Router::fixed_ports(NodeId node) {
  std::vector<std::uint16_t> ports(table_.size(), kVaries);
  Message probe;
  for (std::uint32_t destination = 0; destination < ports.size(); ++destination) {
    if (destination == node.index()) continue;
    const auto hops = table_.next_hops(node.index(), destination);
    probe.destination = NodeId{destination};
    if (hops.size() == 1 || (hops.size() > 1 && strategy_->goes_by_destination())) {
      ports[destination] = port(probe, node);
    }
  }
  return ports;
}

}  // namespace cxloom
