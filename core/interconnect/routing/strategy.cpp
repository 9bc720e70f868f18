#include "interconnect/routing/strategy.hpp"

#include "interconnect/routing/adaptive.hpp"
#include "interconnect/routing/deterministic.hpp"
#include "interconnect/routing/flow_hash.hpp"
#include "interconnect/routing/random.hpp"
#include "interconnect/routing/ugal.hpp"
#include "interconnect/routing/valiant.hpp"

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
