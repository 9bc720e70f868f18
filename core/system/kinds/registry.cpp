#include "system/kinds/registry.hpp"

#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "device/io/engine.hpp"
#include "device/kinds/accelerator.hpp"
#include "device/kinds/coherency_agent.hpp"
#include "device/kinds/gpu.hpp"
#include "device/kinds/host.hpp"
#include "device/kinds/memory.hpp"
#include "device/switch/bus.hpp"
#include "device/switch/root_port.hpp"
#include "device/switch/switch.hpp"
#include "interconnect/arbitration/arbitration.hpp"
#include "interconnect/routing/strategy.hpp"
#include "interconnect/topology/generators.hpp"
#include "memory/cached/media.hpp"
#include "memory/compressed/media.hpp"
#include "memory/curve/media.hpp"
#include "memory/dram/controller/media.hpp"
#include "memory/dram/refresh/policy.hpp"
#include "memory/dram/row_policy/row_policy.hpp"
#include "memory/dram/scheduler/scheduler.hpp"
#include "memory/ecc/media.hpp"
#include "memory/fixed/media.hpp"
#include "memory/flash/gc_policy.hpp"
#include "memory/flash/media.hpp"
#include "memory/nvm/media.hpp"
#include "tags/prefetcher.hpp"
#include "tags/victim_policy.hpp"
#include "workload/kv/policy/kv_policy.hpp"
#include "workload/pattern/pattern.hpp"
#include "workload/placement/page_placement.hpp"
#include "workload/tiering/tiering_policy.hpp"

namespace cxloom {

Registry builtin_registry() {
  Registry registry;
  registry.devices.add<Host>("host");
  registry.devices.add<Accelerator>("accelerator");
  registry.devices.add<Bus>("bus");
  registry.devices.add<Switch>("switch");
  registry.devices.add<RootPort>("root-port");
  registry.devices.add<Memory>("memory");
  registry.devices.add<IoEngine>("io-engine");
  registry.devices.add<CoherencyAgent>("dcoh");
  registry.devices.add<Gpu>("gpu");
  registry.media.add<FixedMedia>("fixed");
  registry.media.add<NvmMedia>("nvm");
  registry.media.add<FlashMedia>("flash");
  registry.media.add<CurveMedia>("curve");
  registry.media.add<DramMedia>("dram");
  registry.media.add<CachedMedia>("cached");
  registry.media.add<InlineEccMedia>("inline-ecc");
  registry.media.add<CompressedMedia>("compressed");
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
  register_tiering(registry.tiering);
  register_kv_policies(registry.kv_policies);
  register_topologies(registry.topologies);
  return registry;
}

}  // namespace cxloom
