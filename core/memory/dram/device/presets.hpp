// Presets by family: numbers from standards and data sheets, nothing else. Times of the standards are turned
// into clocks by rounding up, as they prescribe. Where a standard could not be consulted, its value is
// recalled and was checked against the configuration files of public simulators (DRAMsim3, Ramulator 2,
// gem5), and says so.
#pragma once

#include <span>

#include "memory/dram/device/device.hpp"

namespace cxloom {

std::span<const DramDevice> ddr3_presets();
std::span<const DramDevice> ddr4_presets();
std::span<const DramDevice> ddr5_presets();
std::span<const DramDevice> mrdimm_presets();
std::span<const DramDevice> lpddr5_presets();
std::span<const DramDevice> lpddr6_presets();
std::span<const DramDevice> hbm_presets();
std::span<const DramDevice> gddr_presets();
/// No products: for closed forms and comparisons.
std::span<const DramDevice> test_presets();

/// Clock cycles are exact: a DDR bus of r MT/s has a clock of r/2 MHz.
inline Rate megahertz(std::uint64_t clocks_per_us) { return Rate::per_time(clocks_per_us, 1'000'000); }

}  // namespace cxloom
