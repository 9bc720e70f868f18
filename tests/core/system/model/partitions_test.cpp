#include "system/model/partitions.hpp"

#include <gtest/gtest.h>

#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using Nodes = std::vector<std::uint32_t>;

TEST(Partitions, NodesWithoutLinksAreOneEach) {
  const Partitions two = divide(2, {});
  EXPECT_EQ(two.of_node, (Nodes{0, 1}));
  EXPECT_EQ(two.count, 2U);
  EXPECT_EQ(two.lookahead, std::nullopt);
  EXPECT_EQ(divide(0, {}).count, 0U);
}

TEST(Partitions, LinksOfNoLatencyJoinAndTheOthersGiveTheLookahead) {
  // 0 = 3 = 1 are one, 2 and 4 are alone; a link of 7 ns lies inside the first and does not count.
  const std::vector<Partitions::Joint> joints{{0, 3, 0_ns}, {3, 1, 0_ns}, {0, 1, 7_ns},
                                              {1, 2, 9_ns}, {4, 2, 8_ns}, {2, 0, 12_ns}};
  const Partitions partitions = divide(5, joints);
  EXPECT_EQ(partitions.of_node, (Nodes{0, 0, 1, 0, 2}));
  EXPECT_EQ(partitions.count, 3U);
  EXPECT_EQ(partitions.lookahead, 8_ns);
}

Partitions partitions_in(test::SpecBuilder& system) {
  return partitions_of(test::Running(system).simulation().system());
}

test::SpecBuilder two_links(const Value::Map& first, const Value::Map& second) {
  test::SpecBuilder system;
  system.device("host", "host")
      .device("bus", "bus")
      .device("mem", "memory")
      .link("host", "bus", first)
      .link("bus", "mem", second)
      .region({"mem"})
      .replay("host", {{}});
  return system;
}

TEST(Partitions, PortsAndFlightOfTheShorterDirectionAreTheLookahead) {
  // Port delays count at both ends; credits fly the other way, so that the shorter way is the lookahead.
  test::SpecBuilder system =
      two_links({{"delay", "30ns"}, {"reverse", Value::Map{{"delay", "5ns"}}}, {"port_delay", "10ns"}},
                {{"delay", "26ns"}, {"port_delay", "0ns"}});
  const Partitions partitions = partitions_in(system);
  EXPECT_EQ(partitions.count, 3U);
  EXPECT_EQ(partitions.lookahead, 25_ns);
}

TEST(Partitions, AWayOfNoLatencyInOneDirectionJoins) {
  test::SpecBuilder system =
      two_links({{"delay", "30ns"}, {"reverse", Value::Map{{"delay", "0ns"}}}, {"port_delay", "0ns"}},
                {{"delay", "26ns"}, {"port_delay", "0ns"}});
  const Partitions partitions = partitions_in(system);
  EXPECT_EQ(partitions.of_node, (Nodes{0, 0, 1}));
  EXPECT_EQ(partitions.lookahead, 26_ns);
}

TEST(Partitions, ASharedWireJoins) {
  test::SpecBuilder system = two_links({{"bandwidth", "1GB/s"}, {"duplex", "half"}, {"port_delay", "25ns"}},
                                       {{"bandwidth", "1GB/s"}, {"duplex", "half"}, {"port_delay", "25ns"}});
  const Partitions partitions = partitions_in(system);
  EXPECT_EQ(partitions.count, 1U);
  EXPECT_EQ(partitions.lookahead, std::nullopt);
}

TEST(Partitions, AnIoEngineReachesItsTargetByMessagesAlone) {
  test::SpecBuilder system = two_links({{"bandwidth", "64GB/s"}, {"delay", "30ns"}}, {{"delay", "26ns"}});
  system.device("nic", "io-engine", {{"target", "mem"}, {"traffic", "dma-write"}, {"rate", "1GB/s"}})
      .link("nic", "bus", {{"bandwidth", "64GB/s"}, {"delay", "5ns"}});
  const Partitions partitions = partitions_in(system);
  EXPECT_EQ(partitions.of_node, (Nodes{0, 1, 2, 3}));
  EXPECT_EQ(partitions.lookahead, 5_ns);
}

}  // namespace
}  // namespace cxloom
