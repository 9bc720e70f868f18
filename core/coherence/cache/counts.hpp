// The counts of a requester's cache, and its measures.
#pragma once

#include <cstdint>
#include <vector>

#include "base/arena.hpp"
#include "base/measure.hpp"
#include "kernel/windowed.hpp"

namespace cxloom {

struct CacheCounts {
  std::uint64_t lookups = 0;
  std::uint64_t write_backs = 0;
  std::uint64_t clean_evictions = 0;
  std::uint64_t upgrades = 0;
  std::uint64_t lines_snooped = 0;
  std::uint64_t lines_lost = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t atomics = 0;
  std::uint64_t atomics_of_home = 0;
  std::uint64_t dirty_lines_lost = 0;
};
struct CacheLevelCounts {
  std::uint64_t hits = 0;
};

/// `coherent`: some memory is kept coherent, and what only such memory has is reported, too. Levels: nearest
/// first.
void report_cache(const CacheCounts& counts, const ArrayInArena<Windowed<CacheLevelCounts>>& levels,
                  bool coherent, MeasureSink& sink);
std::vector<MeasureInfo> cache_measures();

}  // namespace cxloom
