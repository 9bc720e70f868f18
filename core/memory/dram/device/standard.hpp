// What the standards say of devices of other widths and densities, and of stacks of them, than those of a
// preset.
#pragma once

#include <cstdint>
#include <optional>

#include "memory/dram/device/device.hpp"

namespace cxloom {

/// The devices that a user wants; whatever is not set is as in the preset.
struct DramDevices {
  std::optional<std::uint32_t> width;    ///< data bits of a device
  std::optional<std::uint32_t> density;  ///< Gbit of a die
  std::uint32_t stack = 1;               ///< dies of a device (3DS)
  std::uint32_t ecc_width = 0;           ///< bits of a sub-channel beside its data
};

/// Makes a preset one of these devices: banks, rows and columns, tRRD and tFAW by the size of the page,
/// refresh by density, the constraints between dies, and currents. Throws InputError if the standard of the
/// preset has no such device.
void choose_devices(DramDevice& preset, const DramDevices& devices);
/// Beats of a read or write, where the standard lets one choose. Throws InputError where it does not.
void choose_burst(DramDevice& preset, std::uint32_t beats);

}  // namespace cxloom
