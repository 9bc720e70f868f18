// The common parts of the generators of topologies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "base/schema.hpp"
#include "interconnect/topology/generators.hpp"

namespace cxloom {

inline constexpr std::uint32_t kMaxSwitches = 65535;
inline constexpr std::uint64_t kMaxLinks = 1'000'000;  // between switches
inline constexpr std::uint64_t kMaxDevices = 200'000;  // at their edge
inline constexpr const char* kTooManyLinks = "too many links between the switches: at most 1000000";

inline std::vector<std::string> numbered(const std::string& stem, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(stem + std::to_string(i));
  return names;
}

inline std::vector<std::size_t> all_of(std::size_t count) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

inline std::uint32_t one_or_pair(const TopologyParams& params) {
  return params.placement == DevicePlacement::kPaired ? 2 : 1;
}

/// Topologies that are given by a number of switches, with a device or a pair on each.
struct SwitchesParams : TopologyParams {
  std::uint32_t switches_count = 4;

  template <class Params>
  static void describe_row(Schema<Params>& schema, std::uint32_t minimum) {
    schema.field("switches", &Params::switches_count)
        .required()
        .min(minimum)
        .max(kMaxSwitches)
        .doc("Number of switches. Each has one device (split) or a requester and a memory (paired).");
    schema.rule(
        "placement: split needs an even number of switches; paired takes any",
        [](const auto& params) {
          return params.placement == DevicePlacement::kPaired || params.switches_count % 2 == 0;
        },
        "switches");
    TopologyParams::describe_in(schema);
  }
  GeneratedTopology::Plan plan() const {
    GeneratedTopology::Plan plan;
    plan.switches = numbered("sw", switches_count);
    plan.edges = all_of(switches_count);
    plan.devices_per_edge = one_or_pair(*this);
    return plan;
  }
};

// Generators with a file of their own.
void register_hypercube(TopologyRegistry& registry);
void register_fat_tree(TopologyRegistry& registry);
void register_dragonfly(TopologyRegistry& registry);

}  // namespace cxloom
