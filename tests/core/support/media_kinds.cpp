#include "core/support/media_kinds.hpp"

#include "base/schema.hpp"
#include "memory/cached_media.hpp"
#include "memory/dram_media.hpp"
#include "memory/dram_refresh_policy.hpp"
#include "memory/dram_row_policy.hpp"
#include "memory/dram_scheduler.hpp"
#include "memory/fixed_media.hpp"
#include "memory/flash_collector.hpp"
#include "memory/flash_media.hpp"
#include "memory/media_registry.hpp"
#include "memory/nvm_media.hpp"

namespace cxloom::test {

const MediaRegistry& media_kinds() {
  static const MediaRegistry kinds = [] {
    MediaRegistry registry("media");
    register_schedulers(registry.schedulers);
    register_row_policies(registry.row_policies);
    register_refresh_policies(registry.refresh_policies);
    register_collectors(registry.collectors);
    registry.add<FixedMedia>("fixed");
    registry.add<NvmMedia>("nvm");
    registry.add<FlashMedia>("flash");
    registry.add<DramMedia>("dram");
    registry.add<CachedMedia>("cached");
    return registry;
  }();
  return kinds;
}

}  // namespace cxloom::test
