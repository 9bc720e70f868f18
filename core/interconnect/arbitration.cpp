#include "interconnect/arbitration.hpp"

#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "interconnect/arbitration_age.hpp"
#include "interconnect/arbitration_round_robin.hpp"
#include "interconnect/arbitration_weighted.hpp"

namespace cxloom {

void register_arbitration(ArbitrationRegistry& registry) {
  registry.add<RoundRobinArbiter>("round-robin");
  registry.add<AgeArbiter>("age");
  registry.add<WeightedArbiter>("weighted");
}

}  // namespace cxloom
