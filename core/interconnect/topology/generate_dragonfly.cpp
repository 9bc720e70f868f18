// Dragonflies: groups of switches that are all linked to each other, and groups that are all linked to each
// other. Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "interconnect/topology/generator_parts.hpp"

namespace cxloom {

namespace {

struct DragonflyParams : TopologyParams {
  std::uint32_t switches_per_group = 4;
  std::uint32_t global_links = 2;
  std::uint32_t devices_per_switch = 2;
  std::optional<std::uint32_t> groups;

  std::uint64_t global_ports() const {
    return std::uint64_t{switches_per_group} * global_links;
  }  // of a group
  std::uint64_t group_count() const { return groups ? *groups : global_ports() + 1; }
  std::uint64_t switch_count() const { return group_count() * switches_per_group; }

  static void describe(Schema<DragonflyParams>& schema) {
    schema.doc(
        "Groups of switches. The switches of a group are all linked to each other, and so are the groups, "
        "through links that are spread over their switches.");
    schema.field("switches_per_group", &DragonflyParams::switches_per_group)
        .required()
        .min(1)
        .max(4096)
        .doc("Switches of a group.");
    schema.field("global_links", &DragonflyParams::global_links)
        .required()
        .min(1)
        .max(4096)
        .doc("Links of each switch to other groups, at most.");
    schema.field("devices_per_switch", &DragonflyParams::devices_per_switch)
        .required()
        .min(1)
        .max(4096)
        .doc("Devices on each switch: of one sort (split), or half requesters and half memories (paired).")
        .source(
            "Kim et al., ISCA 2008: as many as global_links, and half as many as switches_per_group, for "
            "balance");
    schema.field("groups", &DragonflyParams::groups)
        .min(2)
        .default_text("as many as there can be: switches_per_group x global_links + 1")
        .doc(
            "Groups. Fewer than there can be have several links between each two: as many as all pairs can "
            "have.");
    schema.rule(
        "too many groups: at most switches_per_group x global_links + 1",
        [](const DragonflyParams& params) { return params.group_count() <= params.global_ports() + 1; });
    schema.rule("placement: split needs an even number of switches; paired takes any",
                [](const DragonflyParams& params) {
                  return params.placement == DevicePlacement::kPaired || params.switch_count() % 2 == 0;
                });
    schema.rule(
        "placement: paired needs an even number of devices on each switch; split takes any",
        [](const DragonflyParams& params) {
          return params.placement == DevicePlacement::kSplit || params.devices_per_switch % 2 == 0;
        },
        "devices_per_switch");
    schema.rule("too many switches: at most 65535",
                [](const DragonflyParams& params) { return params.switch_count() <= kMaxSwitches; });
    schema.rule(kTooManyLinks, [](const DragonflyParams& params) {
      return params.switch_count() * (params.switches_per_group - 1 + params.global_links) / 2 <= kMaxLinks;
    });
    schema.rule("too many devices: at most 200000", [](const DragonflyParams& params) {
      return params.switch_count() * params.devices_per_switch <= kMaxDevices;
    });
    TopologyParams::describe_in(schema);
  }
};

// The global ports of a group lead to the groups one, two, ... further on, round after round; a switch has
// the next few of them.
std::unique_ptr<GeneratedTopology> make_dragonfly(const DragonflyParams& params, TopologyContext&) {
  const std::size_t in_group = params.switches_per_group;
  const auto groups = static_cast<std::size_t>(params.group_count());
  const std::size_t others = groups - 1;
  const std::size_t rounds = static_cast<std::size_t>(params.global_ports()) / others;
  GeneratedTopology::Plan plan;
  plan.switches = numbered("sw", groups * in_group);
  plan.edges = all_of(plan.switches.size());
  plan.devices_per_edge = params.devices_per_switch;
  for (std::size_t group = 0; group < groups; ++group) {
    for (std::size_t a = 0; a < in_group; ++a) {
      for (std::size_t b = a + 1; b < in_group; ++b)
        plan.links.emplace_back(group * in_group + a, group * in_group + b);
    }
  }
  const auto owner = [&](std::size_t group, std::size_t round, std::size_t further) {
    return group * in_group + (round * others + further - 1) / params.global_links;
  };
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t group = 0; group < groups; ++group) {
      for (std::size_t other = group + 1; other < groups; ++other) {
        const std::size_t further = other - group;
        plan.links.emplace_back(owner(group, round, further), owner(other, round, groups - further));
      }
    }
  }
  return std::make_unique<GeneratedTopology>(params, std::move(plan));
}

}  // namespace

void register_dragonfly(TopologyRegistry& registry) {
  registry.add_factory<DragonflyParams>("dragonfly", make_dragonfly);
}

}  // namespace cxloom
