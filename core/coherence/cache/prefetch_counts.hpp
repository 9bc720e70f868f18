// Counts of lines that a cache asks for ahead of their use, and their measures.
#pragma once

#include <cstdint>
#include <vector>

#include "base/measure.hpp"

namespace cxloom {

struct PrefetchCounts {
  void report(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();

  std::uint64_t issued = 0;
  std::uint64_t useful = 0;
  std::uint64_t late = 0;
  std::uint64_t useless = 0;
  std::uint64_t failed = 0;
  std::uint64_t dropped = 0;
};

}  // namespace cxloom
