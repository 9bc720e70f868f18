// Every kind of thing that a system can be made of. A new component is a line in `builtin_registry`, or in
// the `CXLOOM_PLUGIN` of a plug-in.
#pragma once

#include <vector>

#include "base/kind_registry.hpp"
#include "memory/media/registry.hpp"

namespace cxloom {

// A source that makes or adds a kind includes the header of its interface. No other needs it.
class AccessStream;
class Arbiter;
class Component;
class GeneratedTopology;
class KvPolicy;
class PagePlacement;
class Prefetcher;
class RoutingStrategy;
class TieringPolicy;
class VictimPolicy;
struct ArbitrationContext;
struct DeviceContext;
struct KvPolicyContext;
struct PatternContext;
struct PlacementContext;
struct PrefetcherContext;
struct RoutingContext;
struct TieringContext;
struct TopologyContext;
struct VictimContext;

struct Registry {
  KindRegistry<Component, DeviceContext> devices{"device"};
  MediaRegistry media{"media"};
  KindRegistry<VictimPolicy, VictimContext> victims{"victim policy"};
  KindRegistry<Prefetcher, PrefetcherContext> prefetchers{"prefetcher"};
  KindRegistry<RoutingStrategy, RoutingContext> routing{"routing"};
  KindRegistry<Arbiter, ArbitrationContext> arbitration{"arbitration"};
  KindRegistry<AccessStream, PatternContext> patterns{"pattern"};
  KindRegistry<PagePlacement, PlacementContext> placements{"placement"};
  KindRegistry<TieringPolicy, TieringContext> tiering{"tiering"};
  KindRegistry<KvPolicy, KvPolicyContext> kv_policies{"KV policy"};
  KindRegistry<GeneratedTopology, TopologyContext> topologies{"topology"};
  std::vector<const void*> plugins;  ///< the libraries that it points into

  /// Calls `visit(category, title, kinds)` for each list of kinds. Parameters, programs and docs know it by
  /// its category.
  template <class Visit>
  void each_category(Visit visit) const {
    visit_all(*this, visit);
  }
  template <class Visit>
  void each_category(Visit visit) {
    visit_all(*this, visit);
  }

 private:
  /// Every list of kinds, once.
  template <class Self, class Visit>
  static void visit_all(Self& self, Visit& visit) {
    visit("devices", "Devices", self.devices);
    visit("media", "Media of a memory", self.media);
    visit("schedulers", "Schedulers of DRAM", self.media.schedulers);
    visit("row_policies", "Row policies of DRAM", self.media.row_policies);
    visit("refresh_policies", "Refresh policies of DRAM", self.media.refresh_policies);
    visit("collectors", "Garbage collection of flash", self.media.collectors);
    visit("victims", "Victim policies of a cache", self.victims);
    visit("prefetchers", "Prefetchers of a cache", self.prefetchers);
    visit("routing", "Routing among equally short ways", self.routing);
    visit("arbitration", "Arbitration among the inputs of a switch", self.arbitration);
    visit("patterns", "Access patterns of a workload", self.patterns);
    visit("placements", "Placement of a workload's pages", self.placements);
    visit("tiering", "Tiering of a workload's pages", self.tiering);
    visit("kv_policies", "Eviction policies of KV caches", self.kv_policies);
    visit("topologies", "Topologies", self.topologies);
  }
};

/// All that comes with cxloom.
Registry builtin_registry();

}  // namespace cxloom
