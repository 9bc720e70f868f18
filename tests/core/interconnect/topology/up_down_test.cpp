#include "interconnect/topology/up_down.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/routing_bench.hpp"
#include "interconnect/routing/route_table.hpp"
#include "interconnect/topology/topology.hpp"

namespace cxloom {
namespace {

using test::random_graph;

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
