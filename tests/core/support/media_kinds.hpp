// What media find of other kinds: those that come with cxloom.
#pragma once

#include "memory/cached_media.hpp"
#include "memory/dram_media.hpp"
#include "memory/dram_refresh_policy.hpp"
#include "memory/dram_row_policy.hpp"
#include "memory/dram_scheduler.hpp"
#include "memory/fixed_media.hpp"
#include "memory/media.hpp"
#include "memory/nvm_media.hpp"

namespace cxloom::test {

inline const MediaRegistry& media_kinds() {
  static const MediaRegistry kinds = [] {
    MediaRegistry registry("media");
    register_schedulers(registry.schedulers);
    register_row_policies(registry.row_policies);
    register_refresh_policies(registry.refresh_policies);
    registry.add<FixedMedia>("fixed");
    registry.add<NvmMedia>("nvm");
    registry.add<DramMedia>("dram");
    registry.add<CachedMedia>("cached");
    return registry;
  }();
  return kinds;
}

}  // namespace cxloom::test
