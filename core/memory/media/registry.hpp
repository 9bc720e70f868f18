// The kinds of media: what makes one of them from its parameters.
#pragma once

#include "base/kind_registry.hpp"

namespace cxloom {

class DramRefreshPolicy;
struct DramRefreshContext;
class DramRowPolicy;
struct DramRowContext;
class DramScheduler;
struct DramSchedulerContext;
class GcPolicy;
struct GcContext;
class Media;
struct MediaContext;

/// The kinds of media, and of what media are made of.
struct MediaRegistry : KindRegistry<Media, MediaContext> {
  using KindRegistry::KindRegistry;
  KindRegistry<DramScheduler, DramSchedulerContext> schedulers{"DRAM scheduler"};
  KindRegistry<DramRowPolicy, DramRowContext> row_policies{"DRAM row policy"};
  KindRegistry<DramRefreshPolicy, DramRefreshContext> refresh_policies{"DRAM refresh policy"};
  KindRegistry<GcPolicy, GcContext> collectors{"garbage collection"};
};

}  // namespace cxloom
