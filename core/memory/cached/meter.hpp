// The measures of a cache of pages: what became of accesses and prefetches, the misses at work and waiting.
#pragma once

#include <cstdint>
#include <vector>

#include "base/measure.hpp"
#include "base/units.hpp"
#include "kernel/distribution.hpp"
#include "kernel/windowed.hpp"
#include "memory/cached/page_prefetches.hpp"

namespace cxloom {

class Kernel;

class CachedMediaMeter {
 public:
  explicit CachedMediaMeter(Kernel& kernel);

  CachedMediaCounts& counts() { return *counts_; }
  /// So many more accesses wait to become misses.
  void waiting(Time now, std::int32_t change) { waiting_.change(now, change); }
  /// So many more misses are at work.
  void at_work(Time now, std::int32_t change) { at_work_.change(now, change); }

  /// `prefetching`: there is a prefetcher.
  void report(MeasureSink& sink, bool prefetching) const;
  static std::vector<MeasureInfo> measures();

 private:
  Windowed<CachedMediaCounts> counts_;
  LevelMonitor waiting_;
  LevelMonitor at_work_;
};

}  // namespace cxloom
