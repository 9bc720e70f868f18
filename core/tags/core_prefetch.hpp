// What is asked for ahead of its use by the prefetchers of a core's own caches: their kinds.
#pragma once

#include <vector>

#include "base/parameters.hpp"
#include "tags/cache_kinds.hpp"

namespace cxloom {

/// The prefetcher of a level.
struct LevelPrefetcher {
  KindSpec kind{"none", Value(Value::Map{})};
  bool throttle = true;

  bool operator==(const LevelPrefetcher&) const = default;
};

/// The prefetchers of the levels of a core, the nearest first; no levels: it has none. `kinds` is not null
/// with levels.
struct CorePrefetch {
  std::vector<LevelPrefetcher> levels;
  const PrefetcherRegistry* kinds = nullptr;
};

}  // namespace cxloom
