#include "memory/flash_collector.hpp"

#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "memory/flash_collect_cost_benefit.hpp"
#include "memory/flash_collect_fifo.hpp"
#include "memory/flash_collect_greedy.hpp"

namespace cxloom {

void register_collectors(FlashCollectorRegistry& registry) {
  registry.add<GreedyCollector>("greedy");
  registry.add<CostBenefitCollector>("cost-benefit");
  registry.add<FifoCollector>("fifo");
}

}  // namespace cxloom
