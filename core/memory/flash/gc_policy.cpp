#include "memory/flash/gc_policy.hpp"

#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "memory/flash/gc_cost_benefit.hpp"
#include "memory/flash/gc_fifo.hpp"
#include "memory/flash/gc_greedy.hpp"

namespace cxloom {

void register_collectors(GcPolicyRegistry& registry) {
  registry.add<GreedyCollector>("greedy");
  registry.add<CostBenefitCollector>("cost-benefit");
  registry.add<FifoCollector>("fifo");
}

}  // namespace cxloom
