#include "interconnect/topology/topology.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

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

}  // namespace
}  // namespace cxloom
