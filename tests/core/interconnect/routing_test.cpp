#include "interconnect/routing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "interconnect/topology.hpp"

namespace cxloom {
namespace {

constexpr std::int64_t kFar = 1'000'000'000'000;

/// A random connected graph of switches with devices on them; some devices have two links.
Topology random_graph(std::uint64_t seed, bool free_links) {
  RandomStream random(seed, "routing", "graph");
  Topology topology;
  const auto latency = [&] {
    return free_links && random.chance(0.5) ? Time{}
                                            : Time{static_cast<std::int64_t>(random.below(4)) * 10'000};
  };
  const std::uint64_t switches = 2 + random.below(10);
  const std::uint64_t devices = 2 + random.below(8);
  const auto connect = [&](std::uint64_t a, std::uint64_t b) {
    topology.connect(NodeId{static_cast<std::uint32_t>(a)}, NodeId{static_cast<std::uint32_t>(b)}, latency(),
                     latency());
  };
  for (std::uint64_t i = 0; i < switches; ++i) {
    topology.add_node({"sw" + std::to_string(i), true, true,
                       free_links ? Time{} : Time{static_cast<std::int64_t>(random.below(3)) * 5'000}});
    if (i > 0) connect(random.below(i), i);
  }
  for (std::uint64_t i = 0; i < random.below(12); ++i) {
    const std::uint64_t a = random.below(switches);
    const std::uint64_t b = random.below(switches);
    if (a != b) connect(a, b);  // parallel links come up, too
  }
  for (std::uint64_t i = 0; i < devices; ++i) {
    topology.add_node({"dev" + std::to_string(i), false, false, Time{}});
    connect(switches + i, random.below(switches));
    if (random.chance(0.25)) connect(switches + i, random.below(switches));
  }
  return topology;
}

/// Least costs of ways to `target` by Bellman and Ford: through forwarding nodes only; a step is paid by the node that
/// makes it, with the transit of the node that it enters unless the way ends there.
std::vector<std::int64_t> costs_to(const Topology& topology, std::uint32_t target, RouteMetric metric) {
  std::vector<std::int64_t> cost(topology.size(), kFar);
  cost[target] = 0;
  for (std::size_t round = 0; round < topology.size(); ++round) {
    for (std::uint32_t node = 0; node < topology.size(); ++node) {
      for (const Topology::Hop& hop : topology.hops(node)) {
        if (node == target || cost[hop.to] == kFar || (hop.to != target && !topology.node(hop.to).forwards))
          continue;
        const Time transit = hop.to == target ? Time{} : topology.node(hop.to).transit;
        const std::int64_t step = metric == RouteMetric::kHops ? 1 : (hop.latency + transit).ps();
        cost[node] = std::min(cost[node], cost[hop.to] + step);
      }
    }
  }
  return cost;
}

TEST(RouteTable, GivesAllNextHopsOfLeastCostAndNoOthers) {
  for (const RouteMetric metric : {RouteMetric::kHops, RouteMetric::kLatency}) {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
      const Topology topology = random_graph(seed, false);
      const RouteTable routes(topology, metric);
      for (std::uint32_t to = 0; to < topology.size(); ++to) {
        const auto cost = costs_to(topology, to, metric);
        for (std::uint32_t from = 0; from < topology.size(); ++from) {
          if (metric == RouteMetric::kHops) {
            ASSERT_EQ(routes.distance(from, to), cost[from] == kFar ? RouteTable::kUnreachable : cost[from]);
          }
          if (from == to || topology.is_leaf(from) || cost[from] == kFar) continue;
          std::vector<std::uint16_t> wanted;
          bool free_step = false;  // of those only some lead on; see the test below
          for (const Topology::Hop& hop : topology.hops(from)) {
            if (cost[hop.to] == kFar || (hop.to != to && !topology.node(hop.to).forwards)) continue;
            const Time transit = hop.to == to ? Time{} : topology.node(hop.to).transit;
            const std::int64_t step = metric == RouteMetric::kHops ? 1 : (hop.latency + transit).ps();
            if (cost[hop.to] + step != cost[from]) continue;
            wanted.push_back(hop.port);
            free_step = free_step || step == 0;
          }
          const auto got = routes.next_hops(from, to);
          if (!free_step) {
            ASSERT_EQ(std::vector<std::uint16_t>(got.begin(), got.end()), wanted)
                << "seed " << seed << " from " << topology.node(from).name << " to "
                << topology.node(to).name;
          } else {
            for (const std::uint16_t port : got)
              ASSERT_TRUE(std::find(wanted.begin(), wanted.end(), port) != wanted.end());
          }
        }
      }
    }
  }
}

TEST(RouteTable, EveryChoiceOfNextHopsArrives) {
  // Whatever the strategy picks at each node, the way ends, also where links and switches cost nothing at all: two
  // nodes never send a message back and forth.
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

TEST(Topology, LeavesAndEdgePorts) {
  Topology topology;
  const NodeId sw = topology.add_node({"sw", true, true, {}});
  const NodeId bus = topology.add_node({"bus", true, false, {}});
  const NodeId host = topology.add_node({"host", false, false, {}});
  const NodeId memory = topology.add_node({"mem", false, false, {}});
  EXPECT_EQ(topology.connect(host, sw, Time{1}, Time{2}), 0U);
  EXPECT_EQ(topology.connect(sw, bus, {}, {}), 1U);
  EXPECT_EQ(topology.connect(bus, memory, {}, {}), 2U);
  EXPECT_TRUE(topology.is_leaf(host.index()));
  EXPECT_TRUE(topology.is_leaf(memory.index()));
  EXPECT_FALSE(topology.is_leaf(sw.index()));
  EXPECT_FALSE(topology.is_leaf(bus.index()));
  EXPECT_EQ(topology.edge_port_count(), 2U);  // of the switch: to the host and to the bus
  EXPECT_EQ(topology.hops(host.index())[0].latency, Time{1});
  EXPECT_EQ(topology.hops(sw.index())[0].latency, Time{2});
  EXPECT_EQ(topology.hops(sw.index())[1].port, 1U);
  topology.connect(host, sw, {}, {});  // a second link: no leaf any more
  EXPECT_FALSE(topology.is_leaf(host.index()));
}

Message message_to(std::uint32_t source, std::uint32_t destination, std::uint64_t address = 0,
                   Opcode opcode = Opcode::kMemRd) {
  Message message;
  message.source = NodeId{source};
  message.destination = NodeId{destination};
  message.address = Address{address};
  message.opcode = opcode;
  message.channel = channel_of(opcode);
  return message;
}

TEST(Router, FixedPortsAreThoseOfEveryMessageToADestination) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Topology topology = random_graph(seed, false);
    std::vector<std::uint32_t> ranks(topology.size());
    for (std::uint32_t i = 0; i < ranks.size(); ++i) ranks[i] = i;
    for (const RoutingKind kind :
         {RoutingKind::kDeterministic, RoutingKind::kFlowHash, RoutingKind::kRandom}) {
      Router router(topology, RouteMetric::kHops, make_routing_strategy(kind, seed, ranks));
      for (std::uint32_t node = 0; node < topology.size(); ++node) {
        if (!topology.node(node).forwards) continue;
        const std::vector<std::uint16_t> ports = router.fixed_ports(NodeId{node});
        for (std::uint32_t to = 0; to < topology.size(); ++to) {
          if (to == node) continue;
          const bool tie = router.table().next_hops(node, to).size() > 1;
          EXPECT_EQ(ports[to] == Router::kVaries, tie && kind != RoutingKind::kDeterministic);
          if (ports[to] != Router::kVaries) {
            EXPECT_EQ(router.port(message_to(0, to, 64 * to), NodeId{node}), ports[to]);
          }
        }
      }
    }
  }
}

TEST(RoutingStrategy, DeterministicSpreadsDestinationsEvenly) {
  std::vector<std::uint32_t> ranks(16);
  for (std::uint32_t i = 0; i < 16; ++i) ranks[i] = i;
  const auto strategy = make_routing_strategy(RoutingKind::kDeterministic, 1, ranks);
  std::vector<int> counts(4, 0);
  for (std::uint32_t to = 0; to < 16; ++to) {
    const std::size_t choice = strategy->choose(message_to(99, to), 5, 4);
    ++counts[choice];
    EXPECT_EQ(strategy->choose(message_to(3, to, 4096, Opcode::kCmp), 7, 4),
              choice);  // of the destination alone
  }
  EXPECT_EQ(counts, (std::vector<int>{4, 4, 4, 4}));
}

TEST(RoutingStrategy, FlowHashKeepsAFlowOnOnePathAndSpreadsFlows) {
  const auto strategy = make_routing_strategy(RoutingKind::kFlowHash, 7, {});
  std::vector<int> counts(4, 0);
  for (std::uint32_t source = 0; source < 64; ++source) {
    for (std::uint32_t to = 0; to < 64; ++to) {
      const std::size_t choice = strategy->choose(message_to(source, to), 5, 4);
      ++counts[choice];
      EXPECT_EQ(strategy->choose(message_to(source, to, 64 * source, Opcode::kMemWr), 5, 4), choice);
    }
  }
  for (const int count : counts) EXPECT_NEAR(count, 1024, 140);  // five sigma
}

TEST(RoutingStrategy, RandomKeepsALineOfAClassOnOnePathAndSpreadsLines) {
  const auto strategy = make_routing_strategy(RoutingKind::kRandom, 7, {});
  std::vector<int> counts(4, 0);
  bool classes_differ = false;
  for (std::uint64_t line = 0; line < 4096; ++line) {
    const std::size_t choice = strategy->choose(message_to(1, 2, line * 64), 5, 4);
    ++counts[choice];
    EXPECT_EQ(strategy->choose(message_to(1, 3, line * 64 + 63), 5, 4),
              choice);  // the same line, class and source
    classes_differ =
        classes_differ || strategy->choose(message_to(1, 2, line * 64, Opcode::kMemWr), 5, 4) != choice;
  }
  EXPECT_TRUE(classes_differ);
  for (const int count : counts) EXPECT_NEAR(count, 1024, 140);
}

}  // namespace
}  // namespace cxloom
