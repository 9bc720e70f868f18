#include "interconnect/routing/routing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/support/routing_bench.hpp"
#include "interconnect/routing/route_table.hpp"
#include "interconnect/topology/topology.hpp"

namespace cxloom {
namespace {

using test::message_to;
using test::random_graph;
using test::strategy_of;

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

// Four switches in a ring, a device on each. What is on a detour from 0 by 1 to 2 goes straight on from where
// 1 can no longer be reached.
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

/// Chooses the same index whatever there is.
class Fixed final : public RoutingStrategy {
 public:
  explicit Fixed(std::size_t index) : index_(index) {}
  std::size_t choose(const Message& /*message*/, const Junction& /*here*/) override { return index_; }

 private:
  std::size_t index_;
};

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

}  // namespace
}  // namespace cxloom
