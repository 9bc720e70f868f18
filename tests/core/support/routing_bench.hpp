// Graphs, messages and strategies for tests of routing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "interconnect/routing/routing.hpp"
#include "interconnect/topology/topology.hpp"

namespace cxloom::test {

inline std::unique_ptr<RoutingStrategy> strategy_of(const char* kind, std::uint64_t seed,
                                                    std::vector<std::uint32_t> ranks) {
  RoutingRegistry registry("routing");
  register_routing(registry);
  std::vector<std::uint32_t> strides(ranks.size(), 1);
  RoutingContext context{seed, std::move(ranks), {}, std::move(strides)};
  return registry.make({kind, Value(Value::Map{})}, context);
}

/// A random connected graph of switches with devices on them; some devices have two links. Wires and switches
/// of every kind, buses among them.
inline Topology random_graph(std::uint64_t seed, bool free_links, std::uint64_t most_switches = 12) {
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

inline Message message_to(std::uint32_t source, std::uint32_t destination, std::uint64_t address = 0,
                          Opcode opcode = Opcode::kMemRd) {
  Message message;
  message.source = NodeId{source};
  message.destination = NodeId{destination};
  message.address = Address{address};
  message.opcode = opcode;
  message.channel = channel_of(opcode);
  return message;
}

}  // namespace cxloom::test
