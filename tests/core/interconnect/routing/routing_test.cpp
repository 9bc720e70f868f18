#include "interconnect/routing/routing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "component/delivery_order.hpp"
#include "interconnect/routing/draw.hpp"
#include "interconnect/routing/rank_strides.hpp"
#include "interconnect/topology/topology.hpp"
#include "interconnect/topology/up_down.hpp"

namespace cxloom {
namespace {

std::unique_ptr<RoutingStrategy> strategy_of(const char* kind, std::uint64_t seed,
                                             std::vector<std::uint32_t> ranks) {
  RoutingRegistry registry("routing");
  register_routing(registry);
  std::vector<std::uint32_t> strides(ranks.size(), 1);
  RoutingContext context{seed, std::move(ranks), {}, std::move(strides)};
  return registry.make({kind, Value(Value::Map{})}, context);
}

using namespace literals;

/// A random connected graph of switches with devices on them; some devices have two links. Wires and switches
/// of every kind, buses among them.
Topology random_graph(std::uint64_t seed, bool free_links, std::uint64_t most_switches = 12) {
  RandomStream random(seed, "routing", "graph");
  Topology topology;
  const auto serialization = [&] { return Time{static_cast<std::int64_t>(random.below(4)) * 7'000}; };
  const auto latency = [&] {
    return free_links && random.chance(0.5) ? Time{}
                                            : Time{static_cast<std::int64_t>(random.below(4)) * 10'000};
  };
  const auto crossing = [&]() -> Topology::Crossing {
    const Time time = latency();
    return {time, serialization(), random.chance(0.2)};
  };
  const std::uint64_t switches = 2 + random.below(most_switches - 2);
  const std::uint64_t devices = 2 + random.below(8);
  const auto connect = [&](std::uint64_t a, std::uint64_t b) {
    topology.connect(NodeId{static_cast<std::uint32_t>(a)}, NodeId{static_cast<std::uint32_t>(b)}, crossing(),
                     crossing());
  };
  for (std::uint64_t i = 0; i < switches; ++i) {
    topology.add_node({"sw" + std::to_string(i), true, true,
                       free_links ? Time{} : Time{static_cast<std::int64_t>(random.below(3)) * 5'000},
                       random.chance(0.6), random.chance(0.2) ? serialization() : Time{}});
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

/// A line of data under way, as the simulator moves it: when its head has come in, and how far its last byte is behind.
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
          // A step that costs nothing may lead sideways: it is given if it leads on, which the next test looks at.
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
  // With store-and-forward everywhere what comes before a node never matters, so that the best of all paths is found.
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

/// Two ways from sw0 to a memory on sw3: by sw1 and by sw2. Returns the node by which it goes, or -1 for both.
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
  // Flits of 4 ns on both links of the one way, a wire of 7 ns per line on both of the other: 8 against 7 in cut-through.
  const auto way = [](Time flight) {
    return Diamond{.by_1 = {1_ns, 4_ns, true}, .by_2 = {flight, 7_ns, false}}.way();
  };
  EXPECT_EQ(way(1_ns), 2);
  EXPECT_EQ(way(1500_ps), -1);
  EXPECT_EQ(way(2_ns), 1);
}

TEST(RouteTable, ByLatencyTheLastLinkOfALeafCounts) {
  // Behind a wire of 20 ns per line it no longer matters which of the ways has the faster wires, only flight does.
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

TEST(Topology, LeavesAndEdgePorts) {
  Topology topology;
  const NodeId sw = topology.add_node({"sw", true, true, {}});
  const NodeId bus = topology.add_node({"bus", true, false, {}});
  const NodeId host = topology.add_node({"host", false, false, {}});
  const NodeId memory = topology.add_node({"mem", false, false, {}});
  EXPECT_EQ(topology.connect(host, sw, {Time{1}, {}}, {Time{2}, {}}), 0U);
  EXPECT_EQ(topology.connect(sw, bus, {}, {}), 1U);
  EXPECT_EQ(topology.connect(bus, memory, {}, {}), 2U);
  EXPECT_TRUE(topology.is_leaf(host.index()));
  EXPECT_TRUE(topology.is_leaf(memory.index()));
  EXPECT_FALSE(topology.is_leaf(sw.index()));
  EXPECT_FALSE(topology.is_leaf(bus.index()));
  const auto edges = topology.edge_ports();  // of the switch: to the host and to the bus
  ASSERT_EQ(edges.size(), 2U);
  EXPECT_EQ(edges[0].device, host.index());
  EXPECT_EQ(edges[1].device, bus.index());
  EXPECT_EQ(edges[1].port, 1U);
  EXPECT_EQ(topology.hops(host.index())[0].crossing.latency, Time{1});
  EXPECT_EQ(topology.hops(sw.index())[0].crossing.latency, Time{2});
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
    for (const char* kind : {"deterministic", "flow-hash", "random"}) {
      const RouteTable table(topology, RouteMetric::kHops);
      Router router(topology, table, strategy_of(kind, seed, ranks));
      for (std::uint32_t node = 0; node < topology.size(); ++node) {
        if (!topology.node(node).forwards) continue;
        const std::vector<std::uint16_t> ports = router.fixed_ports(NodeId{node});
        for (std::uint32_t to = 0; to < topology.size(); ++to) {
          if (to == node) continue;
          const auto hops = table.next_hops(node, to);
          const bool tie = hops.size() > 1;
          Message any = message_to(0, to);
          const std::uint32_t next = topology.hops(node)[router.port(any, NodeId{node})].to;
          const auto parallel = std::ranges::count_if(
              hops, [&](std::uint16_t port) { return topology.hops(node)[port].to == next; });
          EXPECT_EQ(ports[to] == Router::kVaries,
                    tie && (std::string(kind) != "deterministic" || parallel > 1));
          if (ports[to] != Router::kVaries) {
            Message message = message_to(0, to, 64 * to);
            EXPECT_EQ(router.port(message, NodeId{node}), ports[to]);
          }
        }
      }
    }
  }
}

// Two switches with three links between them, and a device on each.
TEST(Router, ParallelLinksShareLinesThereAndBack) {
  Topology topology;
  for (std::uint32_t i = 0; i < 2; ++i) topology.add_node({"sw" + std::to_string(i), true, true, {}});
  for (std::uint32_t i = 0; i < 2; ++i) topology.add_node({"dev" + std::to_string(i), false, false, {}});
  for (std::uint32_t i = 0; i < 3; ++i) topology.connect(NodeId{0}, NodeId{1}, {}, {});
  topology.connect(NodeId{2}, NodeId{0}, {}, {});
  topology.connect(NodeId{3}, NodeId{1}, {}, {});
  for (const bool one_is_down : {false, true}) {
    topology.set_down(1, one_is_down);
    const RouteTable table(topology, RouteMetric::kHops);
    Router router(topology, table, strategy_of("deterministic", 1, {0, 1, 0, 1}));
    std::map<std::uint32_t, std::uint32_t> lines;  // by link
    for (std::uint64_t line = 0; line < 3000; ++line) {
      Message request = message_to(2, 3, 64 * line);
      Message answer = message_to(3, 2, 64 * line + 8, Opcode::kMemData);
      const std::uint32_t link = topology.hops(0)[router.port(request, NodeId{0})].link;
      EXPECT_EQ(topology.hops(1)[router.port(answer, NodeId{1})].link, link);
      ++lines[link];
    }
    EXPECT_EQ(lines.size(), one_is_down ? 2U : 3U);
    EXPECT_EQ(lines.count(1), one_is_down ? 0U : 1U);
    for (const auto& [link, count] : lines)
      EXPECT_NEAR(count, 3000.0 / static_cast<double>(lines.size()), 150.0);
    // CXL.io keeps the order of all its addresses.
    Message first = message_to(2, 3, 0, Opcode::kMWr);
    for (std::uint64_t line = 1; line < 50; ++line) {
      Message packet = message_to(2, 3, 64 * line, Opcode::kMWr);
      EXPECT_EQ(router.port(packet, NodeId{0}), router.port(first, NodeId{0}));
    }
    // A walk of all routes sees every one that a message may take.
    const auto ways = router.ways(table, 0, message_to(2, 3));
    EXPECT_EQ(ways.size(), lines.size());
  }
}

/// The first switch on the way to the end of a message's detour; none of it, if it goes straight.
std::uint32_t next_node(Router& router, const Topology& topology, Message& message, std::uint32_t node) {
  return topology.hops(node)[router.port(message, NodeId{node})].to;
}

// Four switches in a ring, a device on each. What is on a detour from 0 by 1 to 2 goes straight on from where 1 can no longer be reached.
TEST(Router, GivesADetourUpWhereNoWayLeadsToItsEnd) {
  Topology topology;
  for (std::uint32_t i = 0; i < 4; ++i) topology.add_node({"sw" + std::to_string(i), true, true, {}});
  for (std::uint32_t i = 0; i < 4; ++i) topology.add_node({"dev" + std::to_string(i), false, false, {}});
  for (std::uint32_t i = 0; i < 4; ++i)
    topology.connect(NodeId{i}, NodeId{(i + 1) % 4}, {}, {});  // links 0 to 3
  for (std::uint32_t i = 0; i < 4; ++i) topology.connect(NodeId{i}, NodeId{i + 4}, {}, {});
  for (const char* kind : {"valiant", "ugal"}) {
    RouteTable table(topology, RouteMetric::kHops);
    Router router(topology, table, strategy_of(kind, 1, std::vector<std::uint32_t>(8)));
    Message message = message_to(4, 6);
    message.via = NodeId{1};
    EXPECT_EQ(next_node(router, topology, message, 0), 1U);
    EXPECT_EQ(message.via, NodeId{1});
    Topology failed = topology;
    failed.set_down(0, true);
    table = RouteTable(failed, RouteMetric::kHops);
    EXPECT_EQ(next_node(router, topology, message, 0), 3U) << "still to 1, the other way round";
    EXPECT_EQ(message.via, NodeId{1});
    failed.set_down(1, true);
    table = RouteTable(failed, RouteMetric::kHops);
    EXPECT_EQ(next_node(router, topology, message, 3), 2U) << "straight to 2";
    EXPECT_EQ(message.via, kViaNobody);
    message.destination = NodeId{5};
    message.via = kViaUndecided;
    EXPECT_EQ(router.port(message, NodeId{3}), Routes::kNowhere) << "what has failed is reached by no detour";
    message.via = NodeId{1};
    EXPECT_EQ(router.port(message, NodeId{3}), Routes::kNowhere);
  }
}

/// A place with so many ways: node 0, with the target behind them all.
class Place {
 public:
  explicit Place(std::uint32_t ways) {
    for (std::uint32_t i = 0; i < ways + 2; ++i)
      topology_.add_node({"sw" + std::to_string(i), true, true, Time{}});
    for (std::uint32_t i = 0; i < ways; ++i) {
      topology_.connect(NodeId{0}, NodeId{i + 2}, {}, {});
      topology_.connect(NodeId{i + 2}, NodeId{1}, {}, {});
    }
    table_ = std::make_unique<RouteTable>(topology_, RouteMetric::kHops);
  }
  Junction here() const { return {*table_, 0, 1, table_->next_hops(0, 1), nullptr}; }

 private:
  Topology topology_;
  std::unique_ptr<RouteTable> table_;
};

TEST(RoutingStrategy, DeterministicSpreadsDestinationsEvenly) {
  const Place place(4);
  std::vector<std::uint32_t> ranks(16);
  for (std::uint32_t i = 0; i < 16; ++i) ranks[i] = i;
  const auto strategy = strategy_of("deterministic", 1, ranks);
  std::vector<int> counts(4, 0);
  for (std::uint32_t to = 0; to < 16; ++to) {
    const std::size_t choice = strategy->choose(message_to(99, to), place.here());
    ++counts[choice];
    EXPECT_EQ(strategy->choose(message_to(3, to, 4096, Opcode::kCmp), place.here()),
              choice);  // of the destination alone
  }
  EXPECT_EQ(counts, (std::vector<int>{4, 4, 4, 4}));
}

/// A tree of `levels` of switches, each with `width` links up and down, as a k-ary n-tree; `width` devices below each lowest switch.
Topology tree_of(std::uint32_t width, std::uint32_t levels) {
  std::uint32_t across = 1;
  for (std::uint32_t level = 1; level < levels; ++level) across *= width;
  Topology tree;
  const auto add = [&](bool passes) { return tree.add_node({"", passes, passes, {}, false, {}}); };
  for (std::uint32_t i = 0; i < across * levels; ++i) add(true);
  for (std::uint32_t at = 0; at < across; ++at) {
    for (std::uint32_t i = 0; i < width; ++i) tree.connect(NodeId{at}, add(false), {}, {});
  }
  std::uint32_t weight = 1;
  for (std::uint32_t level = 0; level + 1 < levels; ++level, weight *= width) {
    for (std::uint32_t at = 0; at < across; ++at) {
      for (std::uint32_t up = 0; up < width; ++up) {
        const std::uint32_t over = at - at / weight % width * weight + up * weight;
        tree.connect(NodeId{level * across + at}, NodeId{(level + 1) * across + over}, {}, {});
      }
    }
  }
  return tree;
}

TEST(RankStrides, EachLevelOfATreeHasItsDigit) {
  const auto strides = rank_strides(tree_of(3, 4), 81);
  for (std::uint32_t sw = 0; sw < 4 * 27; ++sw)
    EXPECT_EQ(strides[sw], (std::array{1U, 3U, 9U, 27U})[sw / 27]);
}

// Every way up of a switch is left by as many destinations, and all messages to one turn at one switch of the
// top: d-mod-k has no two flows of a shift permutation on one link.
TEST(RankStrides, EveryShiftCrossesATreeWithoutALinkUsedTwice) {
  constexpr std::uint32_t kWidth = 3;
  constexpr std::uint32_t kDevices = 27;
  const Topology tree = tree_of(kWidth, 3);
  const RouteTable table(tree, RouteMetric::kHops);
  std::vector<std::uint32_t> ranks(tree.size());
  const std::uint32_t first = 27;  // after 3 x 9 switches
  for (std::uint32_t i = 0; i < kDevices; ++i) ranks[first + i] = i;
  RoutingRegistry registry("routing");
  register_routing(registry);
  RoutingContext context{1, ranks, {}, rank_strides(tree, kDevices)};
  Router router(tree, table, registry.make({"deterministic", Value(Value::Map{})}, context));
  for (std::uint32_t shift = 1; shift < kDevices; ++shift) {
    std::map<std::pair<std::uint32_t, std::uint16_t>, int> uses;
    for (std::uint32_t source = 0; source < kDevices; ++source) {
      const std::uint32_t destination = first + (source + shift) % kDevices;
      Message message = message_to(first + source, destination);
      for (std::uint32_t node = source / kWidth; node != destination;) {
        const std::uint16_t port = router.port(message, NodeId{node});
        EXPECT_EQ((++uses[{node, port}]), 1) << "shift " << shift << ", node " << node;
        node = tree.hops(node)[port].to;
      }
    }
  }
}

// Where the levels have more ways than there are destinations, a digit would leave no choice.
TEST(RankStrides, CountAnewBeforeTheRankIsUsedUp) {
  const auto strides = rank_strides(tree_of(3, 4), 9);
  for (std::uint32_t sw = 0; sw < 4 * 27; ++sw) EXPECT_EQ(strides[sw], (std::array{1U, 3U, 1U, 3U})[sw / 27]);
}

TEST(RoutingStrategy, FlowHashKeepsAFlowOnOnePathAndSpreadsFlows) {
  const Place place(4);
  const auto strategy = strategy_of("flow-hash", 7, {});
  std::vector<int> counts(4, 0);
  for (std::uint32_t source = 0; source < 64; ++source) {
    for (std::uint32_t to = 0; to < 64; ++to) {
      const std::size_t choice = strategy->choose(message_to(source, to), place.here());
      ++counts[choice];
      EXPECT_EQ(strategy->choose(message_to(source, to, 64 * source, Opcode::kMemWr), place.here()), choice);
    }
  }
  for (const int count : counts) EXPECT_NEAR(count, 1024, 140);  // five sigma
}

TEST(RoutingStrategy, RandomKeepsALineOfAClassOnOnePathAndSpreadsLines) {
  const Place place(4);
  const auto strategy = strategy_of("random", 7, {});
  std::vector<int> counts(4, 0);
  bool classes_differ = false;
  for (std::uint64_t line = 0; line < 4096; ++line) {
    const std::size_t choice = strategy->choose(message_to(1, 2, line * 64), place.here());
    ++counts[choice];
    EXPECT_EQ(strategy->choose(message_to(1, 3, line * 64 + 63), place.here()),
              choice);  // the same line, class and source
    classes_differ = classes_differ ||
                     strategy->choose(message_to(1, 2, line * 64, Opcode::kMemWr), place.here()) != choice;
  }
  EXPECT_TRUE(classes_differ);
  for (const int count : counts) EXPECT_NEAR(count, 1024, 140);
}

/// Chooses the same index whatever there is.
class Fixed final : public RoutingStrategy {
 public:
  explicit Fixed(std::size_t index) : index_(index) {}
  std::size_t choose(const Message& /*message*/, const Junction& /*here*/) override { return index_; }

 private:
  std::size_t index_;
};

// Numbers of messages are hashes of their streams. Draws by them are even, and those at one place say nothing
// of those at another: each pair of ways is drawn as often as any other, within five standard deviations.
TEST(RoutingDraw, OfNumbersIsEvenAndAnotherOneAtEachPlace) {
  constexpr std::uint64_t kLines = 64'000;
  for (const std::uint64_t stride : {1U, 4U, 64U}) {
    for (const std::size_t ways : {2U, 3U, 8U}) {
      const RoutingDraw draw(stride);
      DeliveryOrder order;
      std::vector<double> counts(ways * ways);
      for (std::uint64_t line = 0; line < kLines; ++line) {
        Message message;
        message.source = NodeId{static_cast<std::uint32_t>(line % 8)};
        message.destination = NodeId{9};
        message.address = Address{64 * stride * line};
        order.number(message);
        ++counts[draw.among(ways, message, 20) * ways + draw.among(ways, message, 21)];
        EXPECT_EQ(draw.among(ways, message, 20), RoutingDraw(stride).among(ways, message, 20));
        ASSERT_TRUE(order.in_turn(message, DeliveryOrder::stream_of(message)));
      }
      const double expected = static_cast<double>(kLines) / static_cast<double>(ways * ways);
      for (const double count : counts) EXPECT_NEAR(count, expected, 5 * std::sqrt(expected)) << stride;
    }
  }
}

TEST(Router, AWayThatThereIsNotIsAnError) {
  // 0 and 3 over 1 or over 2; 4 is on its own.
  Topology topology;
  for (const bool forwards : {true, true, true, true, false})
    topology.add_node({"node", forwards, forwards, Time{}});
  for (const auto& [a, b] : {std::pair{0U, 1U}, {0U, 2U}, {1U, 3U}, {2U, 3U}})
    topology.connect(NodeId{a}, NodeId{b}, {}, {});
  Message message;
  message.destination = NodeId{3};
  const RouteTable table(topology, RouteMetric::kHops);
  for (const std::size_t index : {0U, 1U}) {
    EXPECT_EQ(Router(topology, table, std::make_unique<Fixed>(index)).port(message, NodeId{0}), index);
  }
  Router astray(topology, table, std::make_unique<Fixed>(2));
  try {
    astray.port(message, NodeId{0});
    FAIL() << "taken";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(), "the routing strategy chose way 2 of 2, which begin at 0");
  }
  message.destination = NodeId{4};
  EXPECT_EQ(astray.port(message, NodeId{0}), Routes::kNowhere);
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

/// Walks at random until the destination; whether a step went up, towards the root, after one that went down.
void expect_up_then_down(const Topology& topology, const RouteTable& routes, std::uint32_t from,
                         std::uint32_t to, RandomStream& random) {
  const std::vector<std::uint32_t> order = up_down_order(topology);
  const std::uint32_t links = routes.distance(from, to);
  bool went_down = false;
  std::uint32_t at = from;
  for (std::uint32_t step = 0; step < links; ++step) {
    ASSERT_NE(at, to) << "there after fewer links than said";
    const auto hops = routes.next_hops(at, to);
    ASSERT_FALSE(hops.empty());
    const Topology::Hop& hop = topology.hops(at)[hops[random.below(hops.size())]];
    const bool up = order[hop.to] < order[at];
    ASSERT_FALSE(up && went_down) << "from " << from << " to " << to;
    ASSERT_FALSE(hop.down);
    ASSERT_TRUE(hop.to == to || topology.node(hop.to).forwards);
    went_down = !up;
    at = hop.to;
  }
  ASSERT_EQ(at, to) << "every choice takes as many links";
}

TEST(RouteTable, UpDownReachesAllThatCanBeReachedAndNeverTurnsUpAgain) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Topology topology = random_graph(seed, false);
    RandomStream random(seed, "routing", "up-down");
    for (std::uint32_t link = 0; link < topology.link_count(); ++link)
      topology.set_down(link, random.chance(seed % 2 == 0 ? 0.0 : 0.2));
    const RouteTable routes(topology, RouteMetric::kUpDown);
    const RouteTable shortest(topology, RouteMetric::kHops);
    for (std::uint32_t from = 0; from < topology.size(); ++from) {
      for (std::uint32_t to = 0; to < topology.size(); ++to) {
        const bool reachable = shortest.distance(from, to) != RouteTable::kUnreachable;
        ASSERT_EQ(routes.distance(from, to) != RouteTable::kUnreachable, reachable) << seed;
        if (from == to || !reachable) continue;
        ASSERT_GE(routes.distance(from, to), shortest.distance(from, to));
        if (topology.is_leaf(from)) continue;
        for (int walk = 0; walk < 3; ++walk) expect_up_then_down(topology, routes, from, to, random);
      }
    }
  }
}

/// A ring of switches.
Topology ring(std::uint32_t switches) {
  Topology topology;
  for (std::uint32_t i = 0; i < switches; ++i) topology.add_node({"sw" + std::to_string(i), true, true, {}});
  for (std::uint32_t i = 0; i < switches; ++i)
    topology.connect(NodeId{i}, NodeId{(i + 1) % switches}, {}, {});
  return topology;
}

TEST(UpDown, TheRootIsWhereTheFarthestIsNearestAndOfThoseTheOneWithMostLinks) {
  Topology chain;
  for (std::uint32_t i = 0; i < 6; ++i) chain.add_node({"sw" + std::to_string(i), true, true, {}});
  for (std::uint32_t i = 0; i < 5; ++i) chain.connect(NodeId{i}, NodeId{i + 1}, {}, {});
  EXPECT_EQ(up_down_order(chain)[2], 0U) << "2 and 3 are in the middle";
  chain.add_node({"dev", false, false, {}});
  chain.connect(NodeId{3}, NodeId{6}, {}, {});
  EXPECT_EQ(up_down_order(chain)[3], 0U) << "3 has one link more";
  EXPECT_EQ(up_down_order(chain)[6], 6U) << "devices come last";
}

TEST(UpDown, OnARingNothingPassesTheSwitchOppositeTheRoot) {
  const Topology topology = ring(8);
  const RouteTable routes(topology, RouteMetric::kUpDown);
  // The root is switch 0. Between 3 and 5 the way by 4, two links, would go down and up again.
  EXPECT_EQ(routes.distance(3, 5), 6U);
  EXPECT_EQ(routes.distance(3, 4), 1U);
  EXPECT_EQ(routes.distance(5, 1), 4U);
  EXPECT_EQ(routes.next_hops(0, 4).size(), 2U);
}

}  // namespace
}  // namespace cxloom
