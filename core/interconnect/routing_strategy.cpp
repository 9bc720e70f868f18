#include "interconnect/routing_strategy.hpp"

#include "interconnect/routing_deterministic.hpp"
#include "interconnect/routing_flow_hash.hpp"
#include "interconnect/routing_random.hpp"

namespace cxloom {

void register_routing(RoutingRegistry& registry) {
  registry.add<DeterministicRouting>("deterministic");
  registry.add<FlowHashRouting>("flow-hash");
  registry.add<RandomRouting>("random");
}

}  // namespace cxloom
