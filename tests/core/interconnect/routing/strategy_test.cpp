#include "interconnect/routing/strategy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "component/delivery_order.hpp"
#include "core/support/routing_bench.hpp"
#include "interconnect/routing/draw.hpp"
#include "interconnect/routing/rank_strides.hpp"
#include "interconnect/routing/routing.hpp"
#include "interconnect/topology/topology.hpp"

namespace cxloom {
namespace {

using test::message_to;
using test::strategy_of;

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

/// A tree of `levels` of switches, each with `width` links up and down, as a k-ary n-tree; `width` devices
/// below each lowest switch.
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

}  // namespace
}  // namespace cxloom
