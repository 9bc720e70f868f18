// Generated systems: switches in a regular topology, requesters and memories at its edge.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/kind_registry.hpp"
#include "base/parameters.hpp"
#include "base/units.hpp"
#include "base/value.hpp"

namespace cxloom {

enum class DevicePlacement : std::uint8_t {
  kSplit,   ///< requesters on the first half of the edge switches, memories on the second
  kPaired,  ///< requesters and memories on every edge switch
};

/// The common part of all topologies: the devices in their places.
struct TopologyParams {
  DevicePlacement placement = DevicePlacement::kSplit;
  KindSpec requester{"host", Value(Value::Map{})};
  KindSpec memory{"memory", Value(Value::Map{})};
  KindSpec switches{"switch", Value(Value::Map{})};
  Value link{Value::Map{}};
  std::optional<Value> edge_link;

  /// Declares these in the schema of a topology that derives from them.
  static void describe_in(Schema<TopologyParams> schema);

  /// Declares what the devices are: a part of describe_in.
  static void describe_devices(Schema<TopologyParams> schema);
};

/// A regular arrangement of switches.
class GeneratedTopology {
 public:
  struct Plan {
    std::vector<std::string> switches;
    std::vector<std::pair<std::size_t, std::size_t>> links;  ///< between switches
    std::vector<std::size_t> edges;                          ///< switches that devices hang on, in order
    std::uint32_t devices_per_edge = 1;  ///< split: of one sort. paired: half requesters, half memories
  };

  GeneratedTopology(TopologyParams common, Plan plan);
  /// One switch with so many requesters and memories.
  GeneratedTopology(TopologyParams common, std::uint32_t requesters, std::uint32_t memories);

  /// The devices and the address map as a spec has them.
  Value devices() const;
  Value address_map() const;
  /// The links as a spec has them, one by one: of very many, nobody needs all at once.
  std::size_t link_count() const { return plan_.links.size() + attached_.size(); }
  Value link(std::size_t index) const;

 private:
  /// The devices on the edge.
  struct Attached {
    std::string name;
    bool requester;
    std::size_t to;  ///< a switch
  };

  TopologyParams common_;
  Plan plan_;
  std::vector<Attached> attached_;
};

struct TopologyContext {};
using TopologyRegistry = KindRegistry<GeneratedTopology, TopologyContext>;

/// switch, chain, ring, tree, spine-leaf, fully-connected, mesh, torus, hypercube, fat-tree, dragonfly.
void register_topologies(TopologyRegistry& registry);

}  // namespace cxloom
