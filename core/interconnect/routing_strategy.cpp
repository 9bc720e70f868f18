#include "interconnect/routing_strategy.hpp"

#include "interconnect/routing_adaptive.hpp"
#include "interconnect/routing_deterministic.hpp"
#include "interconnect/routing_flow_hash.hpp"
#include "interconnect/routing_random.hpp"
#include "interconnect/routing_ugal.hpp"
#include "interconnect/routing_valiant.hpp"

namespace cxloom {

void register_routing(RoutingRegistry& registry) {
  registry.add<DeterministicRouting>("deterministic");
  registry.add<FlowHashRouting>("flow-hash");
  registry.add<RandomRouting>("random");
  registry.add<AdaptiveRouting>("adaptive");
  registry.add<ValiantRouting>("valiant");
  registry.add<UgalRouting>("ugal");
}

}  // namespace cxloom
