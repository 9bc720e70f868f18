#include "core/support/victims.hpp"

#include "base/kind_registry.hpp"
#include "tags/prefetcher.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom::test {

const VictimRegistry& victims() {
  static const VictimRegistry kinds = [] {
    VictimRegistry registry("victim policy");
    register_victims(registry);
    return registry;
  }();
  return kinds;
}

CacheKinds cache_kinds() {
  static const PrefetcherRegistry prefetchers = [] {
    PrefetcherRegistry registry("prefetcher");
    register_prefetchers(registry);
    return registry;
  }();
  return {victims(), prefetchers};
}

}  // namespace cxloom::test
