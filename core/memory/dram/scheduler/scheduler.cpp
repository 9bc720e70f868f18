#include "memory/dram/scheduler/scheduler.hpp"

#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "memory/dram/scheduler/bliss.hpp"
#include "memory/dram/scheduler/fcfs.hpp"
#include "memory/dram/scheduler/fr_fcfs.hpp"

namespace cxloom {

void register_schedulers(DramSchedulerRegistry& registry) {
  registry.add<FrFcfs>("fr-fcfs");
  registry.add<Fcfs>("fcfs");
  registry.add<Bliss>("bliss");
}

}  // namespace cxloom
