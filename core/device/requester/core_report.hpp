// The measures of the cores of a requester, as results have them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/measure.hpp"
#include "base/units.hpp"
#include "device/requester/core_time.hpp"

namespace cxloom {

struct ThreadInWindow {
  std::uint32_t number = 0;  ///< in the workload
  Time begun;                ///< when another let it begin
  CoreTime time;
  Time on_path;
};

struct CoresInWindow {
  Frequency clock;
  bool has_tlb = false;
  bool has_fill_buffers = false;  ///< fewer than miss registers, perhaps
  std::vector<ThreadInWindow> threads;
  std::vector<Time> waits = {};                       ///< by the process of what was waited for
  std::optional<CoreTime> path = std::nullopt;        ///< of several threads in a window from the start
  std::optional<double> fill_buffers = std::nullopt;  ///< that were taken, mean over time
};

std::vector<MeasureInfo> core_measures();
void report_cores(const CoresInWindow& cores, MeasureSink& sink);

}  // namespace cxloom
