// What a cache can be made of: the kinds that its parameters name.
#pragma once

#include "tags/prefetcher.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

struct CacheKinds {
  const VictimRegistry& victims;
  const PrefetcherRegistry& prefetchers;
};

}  // namespace cxloom
