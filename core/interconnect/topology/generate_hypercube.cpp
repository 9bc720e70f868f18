// Hypercubes: switches whose numbers differ in one bit are linked.
#include <cstdint>
#include <memory>
#include <utility>

#include "interconnect/topology/generator_parts.hpp"

namespace cxloom {

namespace {

struct HypercubeParams : TopologyParams {
  std::uint32_t dimensions = 3;

  static void describe(Schema<HypercubeParams>& schema) {
    schema.doc(
        "A cube of any number of dimensions: two switches on each edge, linked if they differ in one "
        "dimension alone.");
    schema.field("dimensions", &HypercubeParams::dimensions)
        .required()
        .min(1)
        .max(15)
        .doc(
            "There are 2^dimensions switches. Each has one device (split) or a requester and a memory "
            "(paired).");
    TopologyParams::describe_in(schema);
  }
};

std::unique_ptr<GeneratedTopology> make_hypercube(const HypercubeParams& params, TopologyContext&) {
  GeneratedTopology::Plan plan;
  plan.switches = numbered("sw", std::size_t{1} << params.dimensions);
  plan.edges = all_of(plan.switches.size());
  plan.devices_per_edge = one_or_pair(params);
  for (std::size_t at = 0; at < plan.switches.size(); ++at) {
    for (std::uint32_t d = 0; d < params.dimensions; ++d) {
      const std::size_t other = at ^ (std::size_t{1} << d);
      if (at < other) plan.links.emplace_back(at, other);
    }
  }
  return std::make_unique<GeneratedTopology>(params, std::move(plan));
}

}  // namespace

void register_hypercube(TopologyRegistry& registry) {
  registry.add_factory<HypercubeParams>("hypercube", make_hypercube);
}

}  // namespace cxloom
