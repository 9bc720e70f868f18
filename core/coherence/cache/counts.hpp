// What the cache of a requester counts in the window, and its measures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/measure.hpp"

namespace cxloom {

struct CacheCounts {
  explicit CacheCounts(std::size_t levels) : hits(levels) {}

  /// `coherent`: some memory is kept coherent, and what only such memory has is reported, too.
  void report(bool coherent, MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();

  /// Counts one, if a window is open.
  void count(std::uint64_t CacheCounts::* what) {
    if (window_open) ++(this->*what);
  }

  bool window_open = false;
  std::vector<std::uint64_t> hits;  ///< by level
  std::uint64_t lookups = 0;
  std::uint64_t write_backs = 0;
  std::uint64_t clean_evictions = 0;
  std::uint64_t upgrades = 0;
  std::uint64_t lines_snooped = 0;
  std::uint64_t lines_lost = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t atomics = 0;
  std::uint64_t atomics_of_home = 0;
};

}  // namespace cxloom
