// The parameters of the cores of a requester.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/parameters.hpp"
#include "base/units.hpp"
#include "tags/core_prefetch.hpp"
#include "tags/tlb_params.hpp"

namespace cxloom {

class ResourceSink;

/// A cache that a core has for itself.
struct CoreCacheParams {
  Bytes size{48 * 1024};
  std::uint32_t ways = 12;
  KindSpec policy{"lru", Value(Value::Map{})};
  std::uint32_t cycles = 5;
  KindSpec prefetch{"none", Value(Value::Map{})};
  bool throttle = true;

  std::uint64_t lines() const { return size.count() / kLineBytes; }

  static void describe(Schema<CoreCacheParams>& schema);
};

/// Parameters for running programs have no part in the timing of other workloads.
struct CoreParams {
  Frequency clock{Rate::per_time(4, 1'000)};
  std::uint32_t width = 6;
  double cycles_per_instruction = 0.25;
  std::uint32_t window = 512;
  std::uint32_t mshrs = 48;
  std::optional<std::uint32_t> fill_buffers;  ///< none: `mshrs`
  std::uint32_t store_buffer = 112;
  std::uint32_t cores = 64;
  std::uint32_t branch_penalty = 17;
  std::uint32_t branch_entries = 4096;
  std::vector<CoreCacheParams> caches = default_caches();
  std::optional<TlbParams> tlb;
  CorePrefetch prefetch;  ///< of these caches, once they are found

  /// Two, as cores of servers have them.
  static std::vector<CoreCacheParams> default_caches();
  static void describe(Schema<CoreParams>& schema);
  /// Finds the prefetchers that the caches name. Throws InputError below `core` if one is not right.
  void find_prefetchers(const PrefetcherRegistry& kinds);
  /// The prefetchers of the caches, the nearest first.
  std::vector<LevelPrefetcher> prefetchers() const;
  /// Prefetches of a core that are under way at most: what the prefetchers of its caches allow, if it has
  /// some.
  std::uint32_t prefetches() const;
  /// Lines that its instructions wait for at most.
  std::uint32_t demands() const { return fill_buffers.value_or(mshrs); }
  void resources(ResourceSink& sink) const;
};

}  // namespace cxloom
