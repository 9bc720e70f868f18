#include "interconnect/routing/route_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/routing_bench.hpp"
#include "interconnect/topology/topology.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::random_graph;

std::vector<std::uint16_t> ports(std::span<const std::uint16_t> hops) { return {hops.begin(), hops.end()}; }

/// Links of shortest ways to `target`, through forwarding nodes only, by Bellman and Ford.
std::vector<std::uint32_t> links_to(const Topology& topology, std::uint32_t target) {
  std::vector<std::uint32_t> links(topology.size(), RouteTable::kUnreachable);
  links[target] = 0;
  for (std::size_t round = 0; round < topology.size(); ++round) {
    for (std::uint32_t node = 0; node < topology.size(); ++node) {
      for (const Topology::Hop& hop : topology.hops(node)) {
        const bool leads_on = hop.to == target || topology.node(hop.to).forwards;
        if (node != target && leads_on && links[hop.to] != RouteTable::kUnreachable)
          links[node] = std::min(links[node], links[hop.to] + 1);
      }
    }
  }
  return links;
}

/// A line of data under way, as the simulator moves it: when its head has come in, and how far its last byte
/// is behind.
struct LineOfData {
  Time head;
  Time tail;

  /// Over one link, and through the node behind it unless it ends there.
  LineOfData over(const Topology::Hop& hop, const Topology& topology, std::uint32_t to) const {
    LineOfData line = *this;
    if (hop.crossing.whole) line = {line.head + line.tail + hop.crossing.serialization, Time{}};
    else line.tail = std::max(line.tail, hop.crossing.serialization);
    line.head += hop.crossing.latency;
    const Topology::Node& node = topology.node(hop.to);
    if (hop.to == to || !node.cut_through) line = {line.head + line.tail, Time{}};
    if (hop.to == to) return line;
    return {line.head + node.transit, std::max(line.tail, node.serialization)};
  }
};

/// The longest that any walk which the tables leave open takes from `at` on.
Time worst_walk(const RouteTable& routes, const Topology& topology, const LineOfData& line, std::uint32_t at,
                std::uint32_t to) {
  if (at == to) return line.head;
  Time worst;
  for (const std::uint16_t port : routes.next_hops(at, to)) {
    const Topology::Hop& hop = topology.hops(at)[port];
    worst = std::max(worst, worst_walk(routes, topology, line.over(hop, topology, to), hop.to, to));
  }
  return worst;
}

/// The shortest of all paths that visit no node twice.
Time best_simple_path(const Topology& topology, const LineOfData& line, std::uint32_t at, std::uint32_t to,
                      std::vector<bool>& seen) {
  if (at == to) return line.head;
  Time best = Time::max();
  seen[at] = true;
  for (const Topology::Hop& hop : topology.hops(at)) {
    if (seen[hop.to] || (hop.to != to && !topology.node(hop.to).forwards)) continue;
    best = std::min(best, best_simple_path(topology, line.over(hop, topology, to), hop.to, to, seen));
  }
  seen[at] = false;
  return best;
}

TEST(RouteTable, ByHopsGivesAllShortestWaysAndNoOthers) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Topology topology = random_graph(seed, false);
    const RouteTable routes(topology, RouteMetric::kHops);
    for (std::uint32_t to = 0; to < topology.size(); ++to) {
      const auto far = links_to(topology, to);
      for (std::uint32_t from = 0; from < topology.size(); ++from) {
        ASSERT_EQ(routes.distance(from, to), far[from]);
        if (from == to || far[from] == RouteTable::kUnreachable) continue;
        std::vector<std::uint16_t> wanted;
        for (const Topology::Hop& hop : topology.hops(from)) {
          const bool leads_on = hop.to == to || topology.node(hop.to).forwards;
          if (leads_on && far[hop.to] + 1 == far[from]) wanted.push_back(hop.port);
        }
        if (!topology.is_leaf(from)) {
          ASSERT_EQ(ports(routes.next_hops(from, to)), wanted);
        }
      }
    }
  }
}

TEST(RouteTable, ByLatencyTheWorstWayByAPortThatIsGivenBeatsThatByEveryOther) {
  // By exhaustion: after each port, every way that the tables then leave open is walked with a line of data.
  // The ports given are those whose worst walk is the shortest; ways back through the same node never are.
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Topology topology = random_graph(seed, false, 7);
    const RouteTable routes(topology, RouteMetric::kLatency);
    for (std::uint32_t to = 0; to < topology.size(); ++to) {
      for (std::uint32_t from = 0; from < topology.size(); ++from) {
        if (from == to || topology.is_leaf(from) || routes.next_hops(from, to).empty()) continue;
        std::map<std::uint16_t, Time> worst;
        Time least = Time::max();
        for (const Topology::Hop& hop : topology.hops(from)) {
          if (hop.to != to && (!topology.node(hop.to).forwards || routes.next_hops(hop.to, to).empty()))
            continue;
          const Time walked = worst_walk(routes, topology, LineOfData{}.over(hop, topology, to), hop.to, to);
          worst.emplace(hop.port, walked);
          least = std::min(least, walked);
        }
        for (const std::uint16_t port : routes.next_hops(from, to)) {
          ASSERT_EQ(worst.at(port), least) << "seed " << seed << " from " << from << " to " << to;
          worst.erase(port);
        }
        for (const auto& [port, walked] : worst) {
          // A step that costs nothing may lead sideways: it is given if it leads on, which the next test
          // looks at.
          const Topology::Hop& hop = topology.hops(from)[port];
          if (walked == least) {
            ASSERT_EQ(worst_walk(routes, topology, LineOfData{}, hop.to, to), least)
                << "seed " << seed << " from " << from << " to " << to;
          }
        }
      }
    }
  }
}

TEST(RouteTable, ByLatencyNoSimplePathBeatsThoseGivenWhereSwitchesTakeMessagesWhole) {
  // With store-and-forward everywhere what comes before a node never matters, so that the best of all paths
  // is found.
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Topology drawn = random_graph(seed, false, 7);
    Topology topology;
    for (std::uint32_t node = 0; node < drawn.size(); ++node) {
      Topology::Node whole = drawn.node(node);
      whole.cut_through = false;
      whole.serialization = Time{};  // a bus passes heads on, and its medium comes before its choice
      topology.add_node(whole);
    }
    for (std::uint32_t node = 0; node < drawn.size(); ++node) {
      for (const Topology::Hop& hop : drawn.hops(node)) {
        if (hop.to > node)
          topology.connect(NodeId{node}, NodeId{hop.to}, hop.crossing,
                           drawn.hops(hop.to)[hop.far_port].crossing);
      }
    }
    const RouteTable routes(topology, RouteMetric::kLatency);
    for (std::uint32_t to = 0; to < topology.size(); ++to) {
      for (std::uint32_t from = 0; from < topology.size(); ++from) {
        if (from == to || routes.next_hops(from, to).empty()) continue;
        std::vector<bool> seen(topology.size(), false);
        const Time best = best_simple_path(topology, LineOfData{}, from, to, seen);
        ASSERT_EQ(worst_walk(routes, topology, LineOfData{}, from, to), best) << "seed " << seed;
      }
    }
  }
}

/// Two ways from sw0 to a memory on sw3: by sw1 and by sw2. Returns the node by which it goes, or -1 for
/// both.
struct Diamond {
  bool cut_through = true;
  Topology::Crossing by_1{};  ///< each of its two links
  Topology::Crossing by_2{};
  Topology::Crossing last{};  ///< to the memory

  int way() const {
    Topology topology;
    for (int i = 0; i < 4; ++i)
      topology.add_node({"sw" + std::to_string(i), true, true, {}, cut_through, {}});
    topology.add_node({"mem", false, false, {}, false, {}});
    const auto connect = [&](std::uint32_t a, std::uint32_t b, const Topology::Crossing& crossing) {
      topology.connect(NodeId{a}, NodeId{b}, crossing, crossing);
    };
    connect(0, 1, by_1);
    connect(0, 2, by_2);
    connect(1, 3, by_1);
    connect(2, 3, by_2);
    connect(3, 4, last);
    const RouteTable routes(topology, RouteMetric::kLatency);
    const auto hops = routes.next_hops(0, 4);
    return hops.size() == 1 ? static_cast<int>(topology.hops(0)[hops[0]].to) : -1;
  }
};

TEST(RouteTable, ByLatencyCountsTheSlowestWireOnceOrEachWhereSwitchesTakeMessagesWhole) {
  // A slow wire, 10 ns per line and 2 x 1 ns, against a fast one, 1 ns per line and 2 x `flight`.
  const auto way = [](bool cut_through, Time flight) {
    return Diamond{.cut_through = cut_through, .by_1 = {1_ns, 10_ns}, .by_2 = {flight, 1_ns}}.way();
  };
  // Cut-through: 12 against 2 flights + 1. Whole: 22 against 2 flights + 2.
  EXPECT_EQ(way(true, 5_ns), 2);
  EXPECT_EQ(way(true, 5500_ps), -1);
  EXPECT_EQ(way(true, 6_ns), 1);
  EXPECT_EQ(way(false, 9_ns), 2);
  EXPECT_EQ(way(false, 10_ns), -1);
  EXPECT_EQ(way(false, 11_ns), 1);
}

TEST(RouteTable, ByLatencyALinkThatTakesMessagesWholePaysItsOwnInFull) {
  // Flits of 4 ns on both links of the one way, a wire of 7 ns per line on both of the other: 8 against 7 in
  // cut-through.
  const auto way = [](Time flight) {
    return Diamond{.by_1 = {1_ns, 4_ns, true}, .by_2 = {flight, 7_ns, false}}.way();
  };
  EXPECT_EQ(way(1_ns), 2);
  EXPECT_EQ(way(1500_ps), -1);
  EXPECT_EQ(way(2_ns), 1);
}

TEST(RouteTable, ByLatencyTheLastLinkOfALeafCounts) {
  // Behind a wire of 20 ns per line it no longer matters which of the ways has the faster wires, only flight
  // does.
  Diamond diamond{.by_1 = {1_ns, 10_ns}, .by_2 = {3_ns, 1_ns}};
  EXPECT_EQ(diamond.way(), 2);
  diamond.last.serialization = 20_ns;
  EXPECT_EQ(diamond.way(), 1);
}

TEST(RouteTable, EveryChoiceOfNextHopsArrives) {
  // Whatever the strategy picks at each node, the way ends, also where links and switches cost nothing at
  // all: two nodes never send a message back and forth.
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Topology topology = random_graph(seed, true);
    const RouteTable routes(topology, RouteMetric::kLatency);
    RandomStream random(seed, "routing", "walk");
    for (std::uint32_t to = 0; to < topology.size(); ++to) {
      for (std::uint32_t from = 0; from < topology.size(); ++from) {
        if (from == to || topology.is_leaf(from) || routes.distance(from, to) == RouteTable::kUnreachable)
          continue;
        for (int walk = 0; walk < 5; ++walk) {
          std::uint32_t at = from;
          std::size_t steps = 0;
          while (at != to) {
            ASSERT_LE(++steps, topology.size())
                << "a circle on the way from " << from << " to " << to << ", seed " << seed;
            const auto hops = routes.next_hops(at, to);
            ASSERT_FALSE(hops.empty());
            at = topology.hops(at)[hops[random.below(hops.size())]].to;
            ASSERT_TRUE(at == to || topology.node(at).forwards);
          }
        }
      }
    }
  }
}

TEST(RouteTable, NeverLeadsThroughADevice) {
  // sw0 - dev - sw1 is short; the way round by sw2 and sw3 is the only one that counts.
  Topology topology;
  for (int i = 0; i < 4; ++i) topology.add_node({"sw" + std::to_string(i), true, true, {}});
  topology.add_node({"dev", false, false, {}});
  const auto connect = [&](std::uint32_t a, std::uint32_t b) {
    topology.connect(NodeId{a}, NodeId{b}, {}, {});
  };
  connect(0, 4);
  connect(4, 1);
  connect(0, 2);
  connect(2, 3);
  connect(3, 1);
  const RouteTable routes(topology, RouteMetric::kHops);
  EXPECT_EQ(routes.distance(0, 1), 3U);
  EXPECT_EQ(routes.distance(4, 1), 1U);
  const auto hops = routes.next_hops(0, 1);
  ASSERT_EQ(hops.size(), 1U);
  EXPECT_EQ(topology.hops(0)[hops[0]].to, 2U);
}

/// Fewest links by a plain search, through nodes that pass messages on and links that work.
std::vector<std::uint32_t> links_from(const Topology& topology, std::uint32_t from) {
  std::vector<std::uint32_t> links(topology.size(), RouteTable::kUnreachable);
  std::vector<std::uint32_t> frontier{from};
  links[from] = 0;
  for (std::size_t next = 0; next < frontier.size(); ++next) {
    const std::uint32_t node = frontier[next];
    if (node != from && !topology.node(node).forwards) continue;
    for (const Topology::Hop& hop : topology.hops(node)) {
      if (hop.down || links[hop.to] != RouteTable::kUnreachable) continue;
      links[hop.to] = links[node] + 1;
      frontier.push_back(hop.to);
    }
  }
  return links;
}

TEST(RouteTable, LeadsAroundLinksThatAreDown) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Topology topology = random_graph(seed, false);
    RandomStream random(seed, "routing", "down");
    for (std::uint32_t link = 0; link < topology.link_count(); ++link)
      topology.set_down(link, random.chance(0.2));
    for (const RouteMetric metric : {RouteMetric::kHops, RouteMetric::kLatency, RouteMetric::kUpDown}) {
      const RouteTable table(topology, metric);
      for (std::uint32_t from = 0; from < topology.size(); ++from) {
        const std::vector<std::uint32_t> links = links_from(topology, from);
        for (std::uint32_t to = 0; to < topology.size(); ++to) {
          if (from == to) continue;
          if (metric == RouteMetric::kHops) {
            EXPECT_EQ(table.distance(from, to), links[to]);
          }
          if (topology.is_leaf(from)) continue;  // it has but one port, and asks nobody
          const auto hops = table.next_hops(from, to);
          EXPECT_EQ(hops.empty(), links[to] == RouteTable::kUnreachable);
          for (const std::uint16_t port : hops) EXPECT_FALSE(topology.hops(from)[port].down);
        }
      }
    }
  }
}

}  // namespace
}  // namespace cxloom
