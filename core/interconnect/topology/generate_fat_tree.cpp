// Fat trees of equal switches (folded Clos networks): as many ports up as down, so that each level has the
// bandwidth of the devices. Al-Fares, Loukissas and Vahdat, "A scalable, commodity data center network
// architecture", SIGCOMM 2008 (three levels); Petrini and Vanneschi, "k-ary n-trees", IPPS 1997 (any number).
#include <cstdint>
#include <memory>
#include <utility>

#include "interconnect/topology/generator_parts.hpp"

namespace cxloom {

namespace {

struct FatTreeParams : TopologyParams {
  std::uint32_t ports = 4;
  std::uint32_t levels = 3;

  std::uint64_t half() const { return ports / 2; }
  /// Switches of the top level; each other level has twice as many.
  std::uint64_t width() const {
    std::uint64_t width = 1;
    for (std::uint32_t level = 1; level < levels && width <= kMaxSwitches; ++level) width *= half();
    return width;
  }

  static void describe(Schema<FatTreeParams>& schema) {
    schema.doc(
        "Levels of switches with equally many ports, half of them up and half down, but for the top level, "
        "whose ports all lead "
        "down: a folded Clos network. With half = ports / 2 there are 2 x half^levels devices.");
    schema.field("ports", &FatTreeParams::ports)
        .required()
        .min(2)
        .max(1024)
        .doc("Ports of each switch; even.");
    schema.field("levels", &FatTreeParams::levels)
        .min(1)
        .max(16)
        .doc("Levels of switches; with `placement`: split two or more.");
    schema.rule("ports must be even", [](const FatTreeParams& params) { return params.ports % 2 == 0; });
    schema.rule("placement: paired needs an even number of devices on each switch: ports a multiple of four",
                [](const FatTreeParams& params) {
                  return params.placement == DevicePlacement::kSplit || params.levels == 1 ||
                         params.half() % 2 == 0;
                });
    schema.rule("placement: split needs two levels or more", [](const FatTreeParams& params) {
      return params.placement == DevicePlacement::kPaired || params.levels > 1;
    });
    schema.rule("too many switches: at most 65535", [](const FatTreeParams& params) {
      return params.width() * (2 * params.levels - 1) <= kMaxSwitches;
    });
    schema.rule("too many devices: at most 200000",
                [](const FatTreeParams& params) { return params.width() * params.ports <= kMaxDevices; });
    TopologyParams::describe_in(schema);
  }
};

// A switch is a level and a number, read in digits of base `half`, the last of which goes up to 2 x half
// below the top. Two levels meet where their numbers agree in all digits but one: the first digit between the
// lowest two, the second between the next, and so on.
std::unique_ptr<GeneratedTopology> make_fat_tree(const FatTreeParams& params, TopologyContext&) {
  const auto half = static_cast<std::size_t>(params.half());
  const auto top = static_cast<std::size_t>(params.width());
  const std::size_t below = 2 * top;  // switches of each other level
  GeneratedTopology::Plan plan;
  if (params.levels == 1) {
    plan.switches = numbered("sw", 1);
    plan.edges = {0};
    plan.devices_per_edge = params.ports;
    return std::make_unique<GeneratedTopology>(params, std::move(plan));
  }
  plan.switches = numbered("sw", below * (params.levels - 1) + top);
  for (std::size_t edge = 0; edge < below; ++edge) plan.edges.push_back(edge);
  plan.devices_per_edge = static_cast<std::uint32_t>(half);
  std::size_t weight = 1;  // of the digit that may differ
  for (std::uint32_t level = 0; level + 1 < params.levels; ++level, weight *= half) {
    const std::size_t first = level * below;
    const bool under_top = level + 2 == params.levels;
    for (std::size_t at = 0; at < below; ++at) {
      const std::size_t digit = under_top ? at / weight : at / weight % half;
      const std::size_t rest = at - digit * weight;
      for (std::size_t up = 0; up < half; ++up)
        plan.links.emplace_back(first + at, first + below + rest + up * weight);
    }
  }
  return std::make_unique<GeneratedTopology>(params, std::move(plan));
}

}  // namespace

void register_fat_tree(TopologyRegistry& registry) {
  registry.add_factory<FatTreeParams>("fat-tree", make_fat_tree);
}

}  // namespace cxloom
