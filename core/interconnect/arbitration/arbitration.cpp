#include "interconnect/arbitration/arbitration.hpp"

#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "interconnect/arbitration/age.hpp"
#include "interconnect/arbitration/round_robin.hpp"
#include "interconnect/arbitration/weighted.hpp"

namespace cxloom {

void register_arbitration(ArbitrationRegistry& registry) {
  registry.add<RoundRobinArbiter>("round-robin");
  registry.add<AgeArbiter>("age");
  registry.add<WeightedArbiter>("weighted");
}

}  // namespace cxloom
