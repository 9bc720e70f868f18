#include "interconnect/routing/route_table.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "base/digraph.hpp"
#include "base/error.hpp"
#include "interconnect/topology/up_down.hpp"

namespace cxloom {

/// The search from one target outwards. Leaves are left out: their way is their neighbour's.
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
  void keep_what_leads_on(const Topology& topology);

  std::vector<std::uint8_t> leaf;
  std::vector<std::uint8_t> forwards;
  std::vector<std::uint32_t> links;              ///< to the target, or kUnseen
  std::vector<std::vector<std::uint16_t>> ways;  ///< of the nodes reached: ports of shortest ways
  std::vector<std::uint32_t> reached;            ///< the target first
  std::size_t nodes = 0;                         ///< that are no leaves
  std::map<std::vector<std::uint16_t>, std::uint32_t> lists;  ///< several ways: where they are in the pool
};

namespace {

/// The rest of the way of a line of data, at the worst of equally good ways: until its head is at the end,
/// and until its last byte is. The last byte is never more than the slowest wire's serialisation behind.
struct Rest {
  Time head;
  Time whole;
};

/// The rest of the way from before a link.
Rest before(const Topology::Crossing& crossing, const Rest& rest) {
  const Time head = (crossing.whole ? rest.whole : rest.head) + crossing.latency;
  const Time whole = std::max(rest.whole + crossing.latency, head + crossing.serialization);
  return {crossing.whole ? whole : head, whole};
}

/// The rest of the way from before a node that passes the message on.
Rest before(const Topology::Node& node, const Rest& rest) {
  const Time whole = std::max(rest.whole, rest.head + node.serialization) + node.transit;
  return {node.cut_through ? rest.head + node.transit : whole, whole};
}

}  // namespace

/// Destinations that hang on the same node share its routes; by latency only if their own links make the same
/// difference to the ways there, which they do by their serialisation.
std::vector<RouteTable::Group> RouteTable::group_by_routes(const Topology& topology, RouteMetric metric,
                                                           std::span<const GivenRoute> given,
                                                           std::vector<Target>& targets) {
  std::vector<Group> groups;
  std::map<Group, std::uint32_t> known;
  std::vector<bool> alone(topology.size(), false);
  for (const GivenRoute& route : given) alone[route.destination] = true;
  targets.resize(topology.size());
  for (std::uint32_t node = 0; node < topology.size(); ++node) {
    Target& target = targets[node];
    Group group{node, {}, alone[node] ? node : kNone};
    if (topology.is_leaf(node)) {
      const Topology::Hop& up = topology.hops(node)[0];
      group.node = target.attachment = up.to;
      target.attachment_port = up.far_port;
      if (metric == RouteMetric::kLatency) {
        const Topology::Crossing& last = topology.hops(up.to)[up.far_port].crossing;
        const Rest rest = before(topology.node(up.to), before(last, Rest{}));
        group.tail = rest.whole - rest.head;
      }
    }
    const auto [place, fresh] = known.try_emplace(group, static_cast<std::uint32_t>(groups.size()));
    if (fresh) groups.push_back(group);
    target.group = place->second;
  }
  return groups;
}

RouteTable::RouteTable(const Topology& topology, RouteMetric metric, std::span<const GivenRoute> given)
    : groups_(group_by_routes(topology, metric, given, targets_)) {
  const std::size_t nodes = topology.size();
  row_.assign(nodes, 0);
  std::size_t rows = 1;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    if (!topology.is_leaf(node)) row_[node] = rows++ * groups_.size();
  }
  entries_.resize(rows * groups_.size());
  distances_.assign(rows * groups_.size(), kFarAway);
  Search search(topology);
  const std::vector<std::uint32_t> order =
      metric == RouteMetric::kUpDown ? up_down_order(topology) : std::vector<std::uint32_t>{};
  for (std::uint32_t group = 0; group < groups_.size(); ++group) {
    switch (metric) {
      case RouteMetric::kHops: search_hops(topology, groups_[group].node, search); break;
      case RouteMetric::kLatency: search_latency(topology, groups_[group], search); break;
      case RouteMetric::kUpDown: search_up_down(topology, groups_[group].node, order, search); break;
    }
    if (groups_[group].only != kNone) take_given(topology, groups_[group], given, search);
    add_group(group, search);
  }
}

// Breadth first. A node knows all of its ways once all nodes that are one link nearer have been looked at, so
// that the search ends as soon as the nearer ones have reached everybody: at once where all are neighbours.
void RouteTable::search_hops(const Topology& topology, std::uint32_t target, Search& search) const {
  search.clear();
  search.reach(target, 0);
  std::size_t next = 0;
  for (std::uint32_t distance = 1; next < search.reached.size() && !search.complete(); ++distance) {
    for (const std::size_t end = search.reached.size(); next < end; ++next) {
      const std::uint32_t node = search.reached[next];
      if (node != target && search.forwards[node] == 0) continue;
      for (const Topology::Hop& hop : topology.hops(node)) {
        if (search.leaf[hop.to] != 0 || hop.down) continue;
        if (search.links[hop.to] == Search::kUnseen) search.reach(hop.to, distance);
        if (search.links[hop.to] == distance) search.ways[hop.to].push_back(hop.far_port);
      }
    }
  }
}

// Dijkstra from the target outwards, by the time until the last byte is there and, as a step may cost
// nothing, then by links. Only forwarding nodes pass the search on; what a message spends inside one is paid
// when it goes through, not where it ends. A way never gets shorter by a step, so that all the ways that
// count for a node are known when its turn comes, and with them what it adds to those of its neighbours.
void RouteTable::search_latency(const Topology& topology, const Group& group, Search& search) const {
  using Item = std::tuple<Time, std::uint32_t, std::uint32_t>;  // time, links, node
  std::priority_queue<Item, std::vector<Item>, std::greater<>> frontier;
  std::vector<Time> cost(topology.size(), Time::max());
  std::vector<std::optional<Rest>> entered(
      topology.size());  // from a link's end at the node on; none before its turn
  const std::uint32_t target = group.node;
  const auto passes = [&](std::uint32_t node) { return node == target || search.forwards[node] != 0; };
  search.clear();
  search.reach(target, 0);
  cost[target] = group.tail;
  frontier.emplace(group.tail, 0, target);
  while (!frontier.empty()) {
    const auto [reached, links, node] = frontier.top();
    frontier.pop();
    if (entered[node]) continue;
    Rest rest{{}, reached};
    for (const Topology::Hop& hop : topology.hops(node)) {
      if (node == target || hop.down || !entered[hop.to] || !passes(hop.to)) continue;
      const Rest way = before(hop.crossing, *entered[hop.to]);
      if (way.whole != reached) continue;
      // Where a step costs nothing, only links say which way leads on and which way back.
      if (cost[hop.to] == reached && search.links[hop.to] >= links) continue;
      search.ways[node].push_back(hop.port);
      rest.head = std::max(rest.head, way.head);
    }
    entered[node] = node == target ? rest : before(topology.node(node), rest);
    if (!passes(node)) continue;
    for (const Topology::Hop& hop : topology.hops(node)) {
      if (search.leaf[hop.to] != 0 || hop.down || entered[hop.to]) continue;
      const Topology::Hop& back = topology.hops(hop.to)[hop.far_port];
      const Time total = before(back.crossing, *entered[node]).whole;
      if (std::pair(total, links + 1) >= std::pair(cost[hop.to], search.links[hop.to])) continue;
      if (cost[hop.to] == Time::max()) search.reach(hop.to, links + 1);
      cost[hop.to] = total;
      search.links[hop.to] = links + 1;
      frontier.emplace(total, links + 1, hop.to);
    }
  }
}

// A message that has gone down has a way down before it at every node, and keeps to such ways. So none ever
// turns from down to up, and no links can wait for each other in a circle.
void RouteTable::search_up_down(const Topology& topology, std::uint32_t target,
                                const std::vector<std::uint32_t>& order, Search& search) const {
  const auto passes = [&](std::uint32_t node) { return node == target || search.forwards[node] != 0; };
  search.clear();
  search.reach(target, 0);
  for (std::size_t next = 0; next < search.reached.size(); ++next) {
    const std::uint32_t node = search.reached[next];
    if (!passes(node)) continue;
    const std::uint32_t links = search.links[node] + 1;
    for (const Topology::Hop& hop : topology.hops(node)) {
      if (search.leaf[hop.to] != 0 || hop.down || order[hop.to] > order[node]) continue;
      if (search.links[hop.to] == Search::kUnseen) search.reach(hop.to, links);
      if (search.links[hop.to] == links) search.ways[hop.to].push_back(hop.far_port);
    }
  }
  std::vector<std::uint32_t> from_root(topology.size());
  for (std::uint32_t node = 0; node < topology.size(); ++node) from_root[order[node]] = node;
  for (const std::uint32_t node : from_root) {  // nodes above a node come before it
    if (search.leaf[node] != 0 || search.links[node] != Search::kUnseen) continue;
    const auto leads_up = [&](const Topology::Hop& hop) {
      return !hop.down && order[hop.to] < order[node] && passes(hop.to) &&
             search.links[hop.to] != Search::kUnseen;
    };
    std::uint32_t fewest = Search::kUnseen;
    for (const Topology::Hop& hop : topology.hops(node)) {
      if (leads_up(hop)) fewest = std::min(fewest, search.links[hop.to] + 1);
    }
    if (fewest == Search::kUnseen) continue;
    search.reach(node, fewest);
    for (const Topology::Hop& hop : topology.hops(node)) {
      if (leads_up(hop) && search.links[hop.to] + 1 == fewest) search.ways[node].push_back(hop.port);
    }
  }
}

// The ways left depend on the ways alone, not on the order of the search. A way within a strongly connected
// component is part of some circle. Ways nearer to the target close none, and every node has one.
void RouteTable::Search::keep_what_leads_on(const Topology& topology) {
  const std::uint32_t target = reached[0];
  std::vector<std::vector<std::uint32_t>> before(topology.size());
  for (const std::uint32_t node : reached)
    for (const std::uint16_t port : ways[node]) before[topology.hops(node)[port].to].push_back(node);
  std::vector<std::uint32_t> far(topology.size(), kUnseen);
  far[target] = 0;
  reached = {target};
  for (std::size_t next = 0; next < reached.size(); ++next) {
    for (const std::uint32_t node : before[reached[next]]) {
      if (far[node] != kUnseen) continue;
      far[node] = far[reached[next]] + 1;
      reached.push_back(node);
    }
  }
  std::vector<Digraph::Edge> edges;
  for (const std::uint32_t node : reached) {
    const auto hops = topology.hops(node);
    std::erase_if(ways[node], [&](std::uint16_t port) { return far[hops[port].to] == kUnseen; });
    for (const std::uint16_t port : ways[node]) edges.emplace_back(node, hops[port].to);
  }
  const std::vector<std::uint32_t> component =
      Digraph(static_cast<std::uint32_t>(topology.size()), std::move(edges)).components();
  for (const std::uint32_t node : reached) {
    std::erase_if(ways[node], [&](std::uint16_t port) {
      const std::uint32_t to = topology.hops(node)[port].to;
      return component[to] == component[node] && far[to] >= far[node];
    });
  }
}

// From the destination outwards: a node's turn comes when all of its ways are known. Where none comes any
// more, those that are left lead in a circle.
void RouteTable::take_given(const Topology& topology, const Group& group, std::span<const GivenRoute> given,
                            Search& search) const {
  const auto reached = [&](std::uint32_t node) { return search.links[node] != Search::kUnseen; };
  for (const GivenRoute& route : given) {
    if (route.destination == group.only && reached(route.node)) search.ways[route.node] = route.ports;
  }
  for (const std::uint32_t node : search.reached) {
    const auto hops = topology.hops(node);
    std::erase_if(search.ways[node],
                  [&](std::uint16_t port) { return hops[port].down || !reached(hops[port].to); });
  }
  if (topology.any_down()) search.keep_what_leads_on(topology);
  std::vector<std::uint32_t> left(search.reached.begin() + 1, search.reached.end());
  std::fill(search.links.begin(), search.links.end(), Search::kUnseen);
  search.reached = {group.node};
  search.links[group.node] = 0;
  const auto unknown = [&](std::uint32_t node) {
    return [&, hops = topology.hops(node)](std::uint16_t port) { return !reached(hops[port].to); };
  };
  const auto decide = [&](std::uint32_t node) {
    for (const std::uint16_t port : search.ways[node])
      search.links[node] = std::min(search.links[node], search.links[topology.hops(node)[port].to] + 1);
    search.reached.push_back(node);
  };
  while (!left.empty()) {
    const std::size_t before = left.size();
    std::erase_if(left, [&](std::uint32_t node) {
      const std::vector<std::uint16_t>& ways = search.ways[node];
      if (ways.empty() || std::ranges::any_of(ways, unknown(node))) return false;
      decide(node);
      return true;
    });
    if (left.size() == before) refuse_circle(topology, group, left[0], search);
  }
}

void RouteTable::refuse_circle(const Topology& topology, const Group& group, std::uint32_t start,
                               const Search& search) {
  std::vector<std::uint32_t> path;
  std::uint32_t next = start;
  while (std::ranges::find(path, next) == path.end()) {
    path.push_back(next);
    const auto hops = topology.hops(next);
    const std::vector<std::uint16_t>& ways = search.ways[next];
    const auto way = std::ranges::find_if(
        ways, [&](std::uint16_t port) { return search.links[hops[port].to] == Search::kUnseen; });
    ensure(way != ways.end(), "a node without a way in a system in which nothing has failed");
    next = hops[*way].to;
  }
  std::string circle;
  for (auto node = std::ranges::find(path, next); node != path.end(); ++node)
    circle += topology.node(*node).name + " -> ";
  throw InputError({"routes to '" + topology.node(group.only).name + "' that lead in a circle",
                    circle + topology.node(next).name,
                    "routes that end at their destination",
                    {}});
}

void RouteTable::add_group(std::uint32_t group, Search& search) {
  for (const std::uint32_t node : search.reached) {
    const std::size_t cell = row_[node] + group;
    distances_[cell] = static_cast<std::uint16_t>(search.links[node]);
    if (node == groups_[group].node) continue;
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

std::uint64_t RouteTable::bytes(const Topology& topology, RouteMetric metric,
                                std::span<const GivenRoute> given) {
  constexpr std::uint64_t kCell = sizeof(Entry) + sizeof(std::uint16_t);
  constexpr std::uint64_t kInSwitch = sizeof(void*) + sizeof(std::uint16_t);
  std::vector<Target> targets;
  const std::uint64_t groups = group_by_routes(topology, metric, given, targets).size();
  std::uint64_t routed = 0;  // nodes with routes of their own
  std::uint64_t switches = 0;
  for (std::uint32_t node = 0; node < topology.size(); ++node) {
    routed += topology.is_leaf(node) ? 0U : 1U;
    switches += topology.node(node).is_switch ? 1U : 0U;
  }
  return routed * groups * kCell + switches * topology.size() * kInSwitch;
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

}  // namespace cxloom
