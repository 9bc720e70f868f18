#include "system/registry.hpp"

#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "device/accelerator.hpp"
#include "device/bus.hpp"
#include "device/coherency_agent.hpp"
#include "device/host.hpp"
#include "device/io_engine.hpp"
#include "device/memory.hpp"
#include "device/switch.hpp"
#include "interconnect/arbitration.hpp"
#include "memory/cached_media.hpp"
#include "memory/curve_media.hpp"
#include "memory/dram_media.hpp"
#include "memory/dram_refresh_policy.hpp"
#include "memory/dram_row_policy.hpp"
#include "memory/dram_scheduler.hpp"
#include "memory/fixed_media.hpp"
#include "memory/flash_collector.hpp"
#include "memory/flash_media.hpp"
#include "memory/nvm_media.hpp"
#include "tags/prefetcher.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

Registry builtin_registry() {
  Registry registry;
  registry.devices.add<Host>("host");
  registry.devices.add<Accelerator>("accelerator");
  registry.devices.add<Bus>("bus");
  registry.devices.add<Switch>("switch");
  registry.devices.add<Memory>("memory");
  registry.devices.add<IoEngine>("io-engine");
  registry.devices.add<CoherencyAgent>("dcoh");
  registry.media.add<FixedMedia>("fixed");
  registry.media.add<NvmMedia>("nvm");
  registry.media.add<FlashMedia>("flash");
  registry.media.add<CurveMedia>("curve");
  registry.media.add<DramMedia>("dram");
  registry.media.add<CachedMedia>("cached");
  register_schedulers(registry.media.schedulers);
  register_row_policies(registry.media.row_policies);
  register_refresh_policies(registry.media.refresh_policies);
  register_collectors(registry.media.collectors);
  register_victims(registry.victims);
  register_prefetchers(registry.prefetchers);
  register_routing(registry.routing);
  register_arbitration(registry.arbitration);
  register_patterns(registry.patterns);
  register_placements(registry.placements);
  register_topologies(registry.topologies);
  return registry;
}

}  // namespace cxloom
