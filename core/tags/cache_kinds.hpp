// What a cache can be made of: the kinds that its parameters name.
#pragma once

namespace cxloom {

class Prefetcher;
struct PrefetcherContext;
struct VictimContext;
class VictimPolicy;
template <class Product, class Context>
class KindRegistry;

using PrefetcherRegistry = KindRegistry<Prefetcher, PrefetcherContext>;
using VictimRegistry = KindRegistry<VictimPolicy, VictimContext>;

struct CacheKinds {
  const VictimRegistry& victims;
  const PrefetcherRegistry& prefetchers;
};

}  // namespace cxloom
