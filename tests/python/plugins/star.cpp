// A topology outside the tree: leaf switches with devices around a hub.
#include <cxloom/topology.hpp>

namespace {

using namespace cxloom;

struct StarParams : TopologyParams {
  std::uint32_t leaves = 2;
  bool closed = false;

  static void describe(Schema<StarParams>& schema) {
    schema.doc("Leaf switches around a hub.");
    schema.field("leaves", &StarParams::leaves).min(2).max(1000).doc("Leaf switches, with a device each.");
    schema.field("closed", &StarParams::closed).doc("The leaves are joined in a circle, too.");
    schema.rule("placement: split needs an even number of leaves", [](const StarParams& params) {
      return params.placement == DevicePlacement::kPaired || params.leaves % 2 == 0;
    });
    TopologyParams::describe_in(schema);
  }
};

class Star final : public GeneratedTopology {
 public:
  using Params = StarParams;
  Star(const Params& params, const TopologyContext& /*context*/) : GeneratedTopology(params, plan(params)) {}

 private:
  static Plan plan(const Params& params) {
    Plan plan;
    const std::size_t hub = params.leaves;
    for (std::size_t leaf = 0; leaf < params.leaves; ++leaf) {
      plan.switches.push_back("leaf" + std::to_string(leaf));
      plan.edges.push_back(leaf);
      plan.links.emplace_back(leaf, hub);
      if (params.closed && (leaf + 1 < params.leaves || params.leaves > 2))
        plan.links.emplace_back(leaf, (leaf + 1) % params.leaves);
    }
    plan.switches.push_back("hub");
    plan.devices_per_edge = params.placement == DevicePlacement::kPaired ? 2 : 1;
    return plan;
  }
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.topologies.add<Star>("star"); }
