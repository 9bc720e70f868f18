// Presets of MRDIMMs: modules of DDR5 that multiplex two ranks.
#include <array>
#include <bit>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "memory/dram/device/presets.hpp"

namespace cxloom {

namespace {

/// Times of the chips in clocks of the module, whose command bus goes at twice their clock.
DramTiming doubled_times(const DramTiming& of_chips) {
  auto clocks = std::bit_cast<std::array<Clock, sizeof(DramTiming) / sizeof(Clock)>>(of_chips);
  for (Clock& each : clocks) each *= 2;
  return std::bit_cast<DramTiming>(clocks);
}

/// Two ranks of these chips in each sub-channel, which read or write together. A turn of the bus costs both
/// what it costs one, so that turns are twice as many lines.
DramDevice multiplexed(std::string_view chips, std::string_view name, Rate clock, std::string_view source) {
  for (DramDevice device : ddr5_presets()) {
    if (device.name != chips) continue;
    device.name = name;
    device.standard = DramStandard::kMrdimm;
    device.source = source;
    device.clock = clock;
    device.organisation.pseudo_channels = 2;
    device.organisation.ranks = 2;
    device.organisation.burst_clocks *= 2;
    device.timing = doubled_times(device.timing);
    device.turn_lines *= 2;
    device.lull_lines *= 2;
    device.longest_turn_lines *= 2;
    return device;
  }
  throw InternalError("no preset of the chips of an MRDIMM");
}

}  // namespace

std::span<const DramDevice> mrdimm_presets() {
  static const std::vector<DramDevice> kPresets{
      multiplexed("DDR5-4400", "MRDIMM-8800", megahertz(4400),
                  "the chips of DDR5-4400, two ranks multiplexed by a clock driver and ten data buffers "
                  "(Rambus, MRCD and MDB); one direction for both, as in a public controller model; the "
                  "command bus at twice the chips' clock is an estimate"),
      multiplexed("DDR5-6400", "MRDIMM-12800", megahertz(6400),
                  "the chips of DDR5-6400, two ranks multiplexed by a clock driver and ten data buffers "
                  "(Rambus, MRCD and MDB); one direction for both, as in a public controller model; the "
                  "command bus at twice the chips' clock is an estimate"),
  };
  return kPresets;
}

}  // namespace cxloom
