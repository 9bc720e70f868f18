#include "core/support/media_kinds.hpp"

#include "base/schema.hpp"
#include "memory/cached/media.hpp"
#include "memory/compressed/media.hpp"
#include "memory/dram/controller/media.hpp"
#include "memory/dram/refresh/policy.hpp"
#include "memory/dram/row_policy/row_policy.hpp"
#include "memory/dram/scheduler/scheduler.hpp"
#include "memory/ecc/media.hpp"
#include "memory/fixed/media.hpp"
#include "memory/flash/gc_policy.hpp"
#include "memory/flash/media.hpp"
#include "memory/media/registry.hpp"
#include "memory/nvm/media.hpp"

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
    registry.add<InlineEccMedia>("inline-ecc");
    registry.add<CompressedMedia>("compressed");
    return registry;
  }();
  return kinds;
}

}  // namespace cxloom::test
