// What requesters had been answered at some instant of the run.
#pragma once

#include <cstdint>
#include <vector>

namespace cxloom {

class System;

/// What was answered to a requester in the window up to some time, and what it lost.
struct AnsweredSoFar {
  std::uint64_t requests = 0;  ///< with data
  double latency_sum_ps = 0;   ///< of these
  std::uint64_t errors = 0;
  std::uint64_t dirty_lines_lost = 0;  ///< of its cache
};
/// What each requester has had so far, in the order of the devices.
std::vector<AnsweredSoFar> answered_so_far(const System& system);

}  // namespace cxloom
