// Energy from currents: what a data sheet's IDD values say of the commands and states that were counted.
#pragma once

#include "memory/dram/device/config.hpp"
#include "memory/dram/device/counters.hpp"

namespace cxloom {

/// In microjoules.
struct DramEnergy {
  double background = 0;  ///< standby and power-down of all ranks
  double activate = 0;    ///< pairs of activate and precharge, above the background
  double read = 0;
  double write = 0;
  double refresh = 0;

  double total() const { return background + activate + read + write + refresh; }
};

/// The energy of sub-channels that counted `counters` in `clocks` each; nothing without currents (VDD zero).
/// Method: Micron TN-40-07, Calculating Memory Power for DDR4 SDRAM, with the standby of open rows counted by
/// bank.
DramEnergy dram_energy(const DramConfig& config, DramRefreshScope refresh, const DramCounters& counters,
                       Clock clocks);

}  // namespace cxloom
