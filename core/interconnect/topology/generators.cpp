#include "interconnect/topology/generators.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/schema.hpp"
#include "interconnect/topology/generator_parts.hpp"

namespace cxloom {

void TopologyParams::describe_in(Schema<TopologyParams> schema) {
  schema
      .choice("placement", &TopologyParams::placement,
              {{"split", DevicePlacement::kSplit}, {"paired", DevicePlacement::kPaired}})
      .doc(
          "split: requesters on the first half of the edge switches, memories on the second. paired: both "
          "on every edge switch.");
  describe_devices(schema);
  schema.field("link", &TopologyParams::link)
      .category("link")
      .default_text("")
      .doc("Parameters of the links between switches.");
  schema.field("edge_link", &TopologyParams::edge_link)
      .category("link")
      .default_text("those of link")
      .doc("Parameters of the links to devices; {} for the declared defaults.");
}

void TopologyParams::describe_devices(Schema<TopologyParams> schema) {
  schema.field("requester", &TopologyParams::requester)
      .category("devices")
      .doc("What makes requests: host0, host1, ...");
  schema.field("memory", &TopologyParams::memory)
      .category("devices")
      .doc("What serves them: mem0, mem1, ...");
  schema.field("switch", &TopologyParams::switches).category("devices").doc("What joins them: sw0, sw1, ...");
}

namespace {

Value device(const KindSpec& kinded) {
  Value::Map map{{"kind", kinded.kind}};
  for (const auto& [key, value] : *kinded.params.as_map()) map.emplace_back(key, value);
  return map;
}

Value joined(const std::string& a, const std::string& b, const Value& params) {
  Value::Map map{{"between", Value::List{a, b}}};
  if (const Value::Map* given = params.as_map()) map.insert(map.end(), given->begin(), given->end());
  return map;
}

constexpr std::uint32_t kMaxEdgePorts = 4096;  // as many as there are identities of PBR

struct OneSwitchParams : TopologyParams {
  std::uint32_t requesters_count = 1;
  std::uint32_t memories_count = 1;

  static void describe(Schema<OneSwitchParams>& schema) {
    schema.doc("One switch with requesters and memories.");
    schema.field("requesters", &OneSwitchParams::requesters_count)
        .min(1)
        .max(kMaxEdgePorts)
        .doc("Number of requesters.");
    schema.field("memories", &OneSwitchParams::memories_count)
        .min(1)
        .max(kMaxEdgePorts)
        .doc("Number of memories.");
    TopologyParams::describe_devices(schema);
    schema.field("link", &OneSwitchParams::link)
        .category("link")
        .default_text("")
        .doc("Parameters of the links of the switch.");
  }
};

struct ChainParams : SwitchesParams {
  static void describe(Schema<ChainParams>& schema) {
    schema.doc("Switches in a row.");
    describe_row(schema, 1);
  }
};

struct RingParams : SwitchesParams {
  static void describe(Schema<RingParams>& schema) {
    schema.doc("Switches in a circle.");
    describe_row(schema, 3);
  }
};

struct FullyConnectedParams : SwitchesParams {
  static void describe(Schema<FullyConnectedParams>& schema) {
    schema.doc("Every switch linked to every other.");
    describe_row(schema, 1);
    schema.rule(kTooManyLinks, [](const FullyConnectedParams& params) {
      return std::uint64_t{params.switches_count} * (params.switches_count - 1) / 2 <= kMaxLinks;
    });
  }
};

std::unique_ptr<GeneratedTopology> make_one_switch(const OneSwitchParams& params, TopologyContext&) {
  return std::make_unique<GeneratedTopology>(params, params.requesters_count, params.memories_count);
}

std::unique_ptr<GeneratedTopology> make_chain(const ChainParams& params, TopologyContext&) {
  GeneratedTopology::Plan plan = params.plan();
  for (std::size_t i = 1; i < plan.switches.size(); ++i) plan.links.emplace_back(i - 1, i);
  return std::make_unique<GeneratedTopology>(params, std::move(plan));
}

std::unique_ptr<GeneratedTopology> make_ring(const RingParams& params, TopologyContext&) {
  GeneratedTopology::Plan plan = params.plan();
  for (std::size_t i = 0; i < plan.switches.size(); ++i)
    plan.links.emplace_back(i, (i + 1) % plan.switches.size());
  return std::make_unique<GeneratedTopology>(params, std::move(plan));
}

std::unique_ptr<GeneratedTopology> make_fully_connected(const FullyConnectedParams& params,
                                                        TopologyContext&) {
  GeneratedTopology::Plan plan = params.plan();
  for (std::size_t i = 0; i < plan.switches.size(); ++i) {
    for (std::size_t j = i + 1; j < plan.switches.size(); ++j) plan.links.emplace_back(i, j);
  }
  return std::make_unique<GeneratedTopology>(params, std::move(plan));
}

struct TreeParams : TopologyParams {
  std::uint32_t leaves = 4;
  std::uint32_t fan_out = 2;
  std::uint32_t root_degree = 2;

  static void describe(Schema<TreeParams>& schema) {
    schema.doc("A tree of switches: devices on its leaves, the root on top.");
    schema.field("leaves", &TreeParams::leaves)
        .required()
        .min(1)
        .max(kMaxSwitches)
        .doc(
            "Leaf switches. Each has one device (with `placement`: split, an even number of leaves) or a "
            "requester and a memory (paired).");
    schema.field("fan_out", &TreeParams::fan_out)
        .min(2)
        .max(1024)
        .doc("Children of a switch below the root, at most.");
    schema.field("root_degree", &TreeParams::root_degree)
        .min(2)
        .max(1024)
        .doc("Children of the root, at most.");
    schema.rule(
        "placement: split needs an even number of leaves; paired takes any",
        [](const TreeParams& params) {
          return params.placement == DevicePlacement::kPaired || params.leaves % 2 == 0;
        },
        "leaves");
    TopologyParams::describe_in(schema);
  }
};

// Level by level from the leaves up, in groups as even as can be, so that each half of the leaves has half of
// the root's children.
std::unique_ptr<GeneratedTopology> make_tree(const TreeParams& params, TopologyContext&) {
  GeneratedTopology::Plan plan;
  plan.switches = numbered("sw", params.leaves);
  plan.edges = all_of(params.leaves);
  plan.devices_per_edge = one_or_pair(params);
  std::vector<std::size_t> level = plan.edges;
  while (level.size() > 1) {
    const bool root = level.size() <= params.root_degree;
    std::size_t parents = root ? 1 : (level.size() + params.fan_out - 1) / params.fan_out;
    if (!root && parents < params.root_degree)
      parents = std::min<std::size_t>(params.root_degree, level.size() - 1);
    std::vector<std::size_t> above;
    for (std::size_t p = 0; p < parents; ++p) {
      above.push_back(plan.switches.size());
      plan.switches.push_back("sw" + std::to_string(plan.switches.size()));
      for (std::size_t child = p * level.size() / parents; child < (p + 1) * level.size() / parents;
           ++child) {
        plan.links.emplace_back(above.back(), level[child]);
      }
    }
    level = std::move(above);
  }
  return std::make_unique<GeneratedTopology>(params, std::move(plan));
}

struct SpineLeafParams : TopologyParams {
  std::uint32_t leaves = 2;
  std::uint32_t spines = 1;
  std::uint32_t devices_per_leaf = 1;

  static void describe(Schema<SpineLeafParams>& schema) {
    schema.doc("Two levels: every leaf switch linked to every spine switch, devices on the leaves.");
    schema.field("leaves", &SpineLeafParams::leaves)
        .required()
        .min(1)
        .max(kMaxSwitches)
        .doc("Leaf switches; with `placement`: split an even number.");
    schema.field("spines", &SpineLeafParams::spines)
        .required()
        .min(1)
        .max(kMaxSwitches)
        .doc("Spine switches.");
    schema.field("devices_per_leaf", &SpineLeafParams::devices_per_leaf)
        .required()
        .min(1)
        .max(kMaxSwitches)
        .doc("Devices on each leaf: of one sort (split), or half requesters and half memories (paired).");
    schema.rule(
        "placement: split needs an even number of leaves; paired takes any",
        [](const SpineLeafParams& params) {
          return params.placement == DevicePlacement::kPaired || params.leaves % 2 == 0;
        },
        "leaves");
    schema.rule(
        "placement: paired needs an even number of devices on each leaf; split takes any",
        [](const SpineLeafParams& params) {
          return params.placement == DevicePlacement::kSplit || params.devices_per_leaf % 2 == 0;
        },
        "devices_per_leaf");
    schema.rule(kTooManyLinks, [](const SpineLeafParams& params) {
      return std::uint64_t{params.leaves} * params.spines <= kMaxLinks;
    });
    schema.rule("too many devices on the leaves: at most 200000", [](const SpineLeafParams& params) {
      return std::uint64_t{params.leaves} * params.devices_per_leaf <= kMaxDevices;
    });
    TopologyParams::describe_in(schema);
  }
};

std::unique_ptr<GeneratedTopology> make_spine_leaf(const SpineLeafParams& params, TopologyContext&) {
  GeneratedTopology::Plan plan;
  plan.switches = numbered("leaf", params.leaves);
  for (const std::string& spine : numbered("spine", params.spines)) plan.switches.push_back(spine);
  plan.edges = all_of(params.leaves);
  plan.devices_per_edge = params.devices_per_leaf;
  for (std::size_t leaf = 0; leaf < params.leaves; ++leaf) {
    for (std::size_t spine = 0; spine < params.spines; ++spine)
      plan.links.emplace_back(leaf, params.leaves + spine);
  }
  return std::make_unique<GeneratedTopology>(params, std::move(plan));
}

struct GridParams : TopologyParams {
  std::vector<std::uint32_t> size;

  template <class Params>
  static void describe_grid(Schema<Params>& schema) {
    schema.field("size", &Params::size)
        .required()
        .where(
            [](const std::vector<std::uint32_t>& size) {
              std::uint64_t count = 1;
              for (const std::uint32_t extent : size)
                count = std::min<std::uint64_t>(count * extent, kMaxSwitches + 1);
              return (size.size() == 2 || size.size() == 3) && count > 0 && count <= kMaxSwitches;
            },
            "two or three extents such as [4, 4] or [4, 4, 4]")
        .doc("Switches in each dimension. Each has one device (split) or a requester and a memory (paired).");
    schema.rule(
        "placement: split needs an even number of switches; paired takes any",
        [](const auto& params) {
          std::uint64_t count = 1;
          for (const std::uint32_t extent : params.size) count *= extent;
          return params.placement == DevicePlacement::kPaired || count % 2 == 0;
        },
        "size");
    TopologyParams::describe_in(schema);
  }
};

struct MeshParams : GridParams {
  static void describe(Schema<MeshParams>& schema) {
    schema.doc("A grid of two or three dimensions.");
    describe_grid(schema);
  }
};

struct TorusParams : GridParams {
  static void describe(Schema<TorusParams>& schema) {
    schema.doc("A grid of two or three dimensions, closed at its ends.");
    describe_grid(schema);
  }
};

std::unique_ptr<GeneratedTopology> make_grid(const GridParams& params, bool closed) {
  std::array<std::size_t, 3> extent{1, 1, 1};
  std::copy(params.size.begin(), params.size.end(), extent.begin());
  GeneratedTopology::Plan plan;
  plan.switches = numbered("sw", extent[0] * extent[1] * extent[2]);
  plan.edges = all_of(plan.switches.size());
  plan.devices_per_edge = one_or_pair(params);
  // The first dimension varies slowest, so that split placement cuts the grid across it.
  const std::array<std::size_t, 3> step{extent[1] * extent[2], extent[2], 1};
  for (std::size_t at = 0; at < plan.switches.size(); ++at) {
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t place = at / step[d] % extent[d];
      if (place + 1 < extent[d]) {
        plan.links.emplace_back(at, at + step[d]);
      } else if (closed && extent[d] > 2) {
        plan.links.emplace_back(at, at - place * step[d]);
      }
    }
  }
  return std::make_unique<GeneratedTopology>(params, std::move(plan));
}

}  // namespace

GeneratedTopology::GeneratedTopology(TopologyParams common, Plan plan)
    : common_(std::move(common)), plan_(std::move(plan)) {
  const bool paired = common_.placement == DevicePlacement::kPaired;
  std::size_t requesters = 0;
  std::size_t memories = 0;
  for (std::size_t edge = 0; edge < plan_.edges.size(); ++edge) {
    for (std::uint32_t i = 0; i < plan_.devices_per_edge; ++i) {
      const bool requester = paired ? i % 2 == 0 : edge < plan_.edges.size() / 2;
      const std::size_t number = requester ? requesters++ : memories++;
      attached_.push_back(
          {(requester ? "host" : "mem") + std::to_string(number), requester, plan_.edges[edge]});
    }
  }
}

GeneratedTopology::GeneratedTopology(TopologyParams common, std::uint32_t requesters, std::uint32_t memories)
    : common_(std::move(common)), plan_{.switches = numbered("sw", 1), .links = {}, .edges = {0}} {
  for (std::uint32_t i = 0; i < requesters; ++i) attached_.push_back({"host" + std::to_string(i), true, 0});
  for (std::uint32_t i = 0; i < memories; ++i) attached_.push_back({"mem" + std::to_string(i), false, 0});
}

Value GeneratedTopology::devices() const {
  Value::Map devices;
  for (const std::string& name : plan_.switches) devices.emplace_back(name, device(common_.switches));
  for (const Attached& each : attached_)
    devices.emplace_back(each.name, device(each.requester ? common_.requester : common_.memory));
  return devices;
}

Value GeneratedTopology::address_map() const {
  Value::List memories;
  for (const Attached& each : attached_) {
    if (!each.requester) memories.emplace_back(each.name);
  }
  // A CXL decoder where it can serve all memories, else a weighted interleave with equal weights.
  static constexpr std::array<std::size_t, 8> kCxlWays{1, 2, 3, 4, 6, 8, 12, 16};
  const bool cxl = std::find(kCxlWays.begin(), kCxlWays.end(), memories.size()) != kCxlWays.end();
  Value::Map region{{"to", std::move(memories)}, {"interleave", "256B"}};
  if (!cxl) region.emplace_back("policy", "weighted");
  return Value::List{std::move(region)};
}

Value GeneratedTopology::link(std::size_t index) const {
  if (index < plan_.links.size()) {
    const auto& [a, b] = plan_.links[index];
    return joined(plan_.switches[a], plan_.switches[b], common_.link);
  }
  const Attached& each = attached_.at(index - plan_.links.size());
  return joined(each.name, plan_.switches[each.to], common_.edge_link ? *common_.edge_link : common_.link);
}

void register_topologies(TopologyRegistry& registry) {
  registry.add_factory<OneSwitchParams>("switch", make_one_switch);
  registry.add_factory<ChainParams>("chain", make_chain);
  registry.add_factory<RingParams>("ring", make_ring);
  registry.add_factory<TreeParams>("tree", make_tree);
  registry.add_factory<SpineLeafParams>("spine-leaf", make_spine_leaf);
  registry.add_factory<FullyConnectedParams>("fully-connected", make_fully_connected);
  registry.add_factory<MeshParams>(
      "mesh", [](const MeshParams& params, TopologyContext&) { return make_grid(params, false); });
  registry.add_factory<TorusParams>(
      "torus", [](const TorusParams& params, TopologyContext&) { return make_grid(params, true); });
  register_hypercube(registry);
  register_fat_tree(registry);
  register_dragonfly(registry);
}

}  // namespace cxloom
