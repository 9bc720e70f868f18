#include "memory/dram_scheduler.hpp"

#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "memory/dram_bliss.hpp"
#include "memory/dram_fcfs.hpp"
#include "memory/dram_fr_fcfs.hpp"

namespace cxloom {

void register_schedulers(DramSchedulerRegistry& registry) {
  registry.add<FrFcfs>("fr-fcfs");
  registry.add<Fcfs>("fcfs");
  registry.add<Bliss>("bliss");
}

}  // namespace cxloom
