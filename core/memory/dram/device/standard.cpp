#include "memory/dram/device/standard.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "memory/dram/device/clock.hpp"

namespace cxloom {

namespace {

// --- tables ----------------------------------------------------------------------------------------------

/// Devices of one width. Rows follow from the density.
struct Width {
  std::uint32_t bits;
  std::uint32_t bank_groups;
  std::uint32_t columns;
};

/// Dies of one density; times in nanoseconds.
struct Density {
  std::uint32_t gigabits;
  std::uint32_t banks;         ///< of a group
  std::uint32_t tRFC;          // NOLINT(readability-identifier-naming): the names are those of the standards
  std::uint32_t tRFC_SB = 0;   // NOLINT(readability-identifier-naming)
  std::uint32_t tRFC_DLR = 0;  // NOLINT(readability-identifier-naming)
  std::uint32_t tRFC_SB_DLR = 0;  // NOLINT(readability-identifier-naming)
};

struct Standard {
  DramStandard standard;
  std::string_view name;
  std::span<const Width> widths;
  std::span<const Density> densities;
  std::uint32_t highest_stack;
  std::uint32_t ecc_bits;  ///< of a sub-channel, at most
};

// JESD79-3, 4 Gb x8: 260 ns, recalled, and as in DRAMsim3.
constexpr std::array kDdr3Widths{Width{8, 1, 1U << 10U}};
constexpr std::array kDdr3Densities{Density{4, 8, 260}};

// JESD79-4, addressing and refresh parameters by density, recalled; addressing as in Ramulator 2, tRFC of 8
// Gb as in DRAMsim3. Between dies (JESD79-4, 3D stacked devices, recalled; 8 Gb as in configurations of
// Intel's and Xilinx's DDR4 controllers): tRFC_dlr 120 and 190 ns, tRRD_dlr 4, tFAW_dlr 16 and tCCD_dlr 4
// clocks.
constexpr std::array kDdr4Widths{Width{4, 4, 1U << 10U}, Width{8, 4, 1U << 10U}, Width{16, 2, 1U << 10U}};
constexpr std::array kDdr4Densities{Density{8, 4, 350, 0, 120}, Density{16, 4, 550, 0, 190}};

// JESD79-5, addressing and refresh parameters by density, recalled; addressing and tRFC1 of 8, 16 and 32 Gb
// as in Ramulator 2, tRFCsb of 8 and 16 Gb as in a configuration that quotes JESD79-5 (Table 282). 24 Gb uses
// three quarters of the rows that its address bits reach. Refreshes of different dies are a third of tRFC
// apart (JESD79-5B, 4.13.5: tRFC_dlr about tRFC_slr / 3).
constexpr std::array kDdr5Widths{Width{4, 8, 1U << 11U}, Width{8, 8, 1U << 10U}, Width{16, 4, 1U << 10U}};
constexpr std::array kDdr5Densities{Density{8, 2, 195, 115, 65, 39}, Density{16, 4, 295, 130, 99, 44},
                                    Density{24, 4, 410, 190, 137, 64}, Density{32, 4, 410, 190, 137, 64}};

// JESD209-5B, Table 235 (refresh), as quoted by Ramulator 2; 12 and 24 Gb have three quarters of the rows of
// 16 and 32.
constexpr std::array kLpddr5Widths{Width{16, 4, 1U << 10U}};
constexpr std::array kLpddr5Densities{Density{8, 4, 210, 120}, Density{12, 4, 280, 140},
                                      Density{16, 4, 280, 140}, Density{24, 4, 380, 190},
                                      Density{32, 4, 380, 190}};

// JESD209-6, Table 302, as quoted by Ramulator 2, by the density of two sub-channels, of which each has half:
// none for more than 32 Gb. Columns of 12 bits hold 8/9 payload. Per-bank refreshes are those of LPDDR5 with
// the same tRFC.
constexpr std::array kLpddr6Widths{Width{12, 4, 1536}};
constexpr std::array kLpddr6Densities{Density{8, 4, 280, 140}, Density{16, 4, 380, 190}};

constexpr std::array kStandards{
    Standard{DramStandard::kDdr3, "DDR3", kDdr3Widths, kDdr3Densities, 1, 8},
    Standard{DramStandard::kDdr4, "DDR4", kDdr4Widths, kDdr4Densities, 8, 8},
    Standard{DramStandard::kDdr5, "DDR5", kDdr5Widths, kDdr5Densities, 8, 8},
    Standard{DramStandard::kMrdimm, "MRDIMM", kDdr5Widths, kDdr5Densities, 1, 8},
    Standard{DramStandard::kLpddr5, "LPDDR5", kLpddr5Widths, kLpddr5Densities, 1, 0},
    Standard{DramStandard::kLpddr6, "LPDDR6", kLpddr6Widths, kLpddr6Densities, 1, 0},
};

/// What else the width decides: activates, limited by the page (512 B of DDR4 x4, 2 KiB of x16, otherwise 1
/// KiB), and currents. Widths that a preset has by itself are not here.
struct WideStandard {
  std::string_view preset;
  std::uint32_t bits;
  Clock tRRD_S;  // NOLINT(readability-identifier-naming)
  Clock tRRD_L;  // NOLINT(readability-identifier-naming)
  Clock tFAW;    // NOLINT(readability-identifier-naming)
  DramCurrents currents = {};
};

// DDR4: JESD79-4, timing by speed bin, recalled (2400: 3.3, 4.9, 13 ns of 512 B; 5.3, 6.4, 30 ns of 2 KiB;
// 3200: 2.5, 4.9, 10 ns and the same); timings and currents as in DRAMsim3 (DDR4_8Gb_x4 and x16), timings
// also as in Ramulator 2. DDR5: JESD79-5, recalled (Table 318 as quoted elsewhere: tFAW of 2 KiB at least 40
// clocks, of 1 KiB 32); MRDIMM in clocks of the module, twice those. Currents of x4 and x16 are not at hand.
constexpr std::array kWide{
    WideStandard{"DDR4-2400", 4, 4, 6, 16, {1.2, 43, 34, 25, 38, 32, 110, 103, 250, 0}},
    WideStandard{"DDR4-2400", 16, 7, 8, 36, {1.2, 80, 34, 25, 47, 41, 243, 228, 280, 0}},
    WideStandard{"DDR4-2666", 4, 4, 7, 16, {1.2, 46, 35, 25, 41, 34, 121, 112, 250, 0}},
    WideStandard{"DDR4-2666", 16, 7, 9, 40, {1.2, 85, 35, 25, 50, 43, 263, 244, 280, 0}},
    WideStandard{"DDR4-2933", 4, 4, 8, 16, {1.2, 49, 36, 25, 44, 36, 132, 121, 250, 0}},
    WideStandard{"DDR4-2933", 16, 8, 10, 44, {1.2, 90, 36, 25, 53, 45, 283, 261, 280, 0}},
    WideStandard{"DDR4-3200", 4, 4, 8, 16, {1.2, 52, 37, 25, 47, 38, 143, 130, 250, 0}},
    WideStandard{"DDR4-3200", 16, 9, 11, 48, {1.2, 95, 37, 25, 56, 47, 302, 278, 280, 0}},
    WideStandard{"DDR5-4400", 4, 8, 11, 32},
    WideStandard{"DDR5-4400", 16, 8, 11, 40},
    WideStandard{"DDR5-4800", 4, 8, 12, 32},
    WideStandard{"DDR5-4800", 16, 8, 12, 40},
    WideStandard{"DDR5-5600", 4, 8, 14, 32},
    WideStandard{"DDR5-5600", 16, 8, 14, 40},
    WideStandard{"DDR5-6400", 4, 8, 16, 32},
    WideStandard{"DDR5-6400", 16, 8, 16, 40},
    WideStandard{"DDR5-7200", 4, 8, 16, 32},
    WideStandard{"DDR5-7200", 16, 8, 16, 40},
    WideStandard{"DDR5-8000", 4, 8, 16, 32},
    WideStandard{"DDR5-8000", 16, 8, 16, 40},
    WideStandard{"DDR5-8800", 4, 8, 17, 32},
    WideStandard{"DDR5-8800", 16, 8, 17, 40},
    WideStandard{"MRDIMM-8800", 4, 16, 22, 64},
    WideStandard{"MRDIMM-8800", 16, 16, 22, 80},
    WideStandard{"MRDIMM-12800", 4, 16, 32, 64},
    WideStandard{"MRDIMM-12800", 16, 16, 32, 80},
};

// JESD79-4 and JESD79-5, recalled: activates of different dies are 4 clocks apart, four of a stack take 16.
constexpr Clock kActivateOtherDie = 4;
constexpr Clock kFourActivatesOfStack = 16;

// --- choice ----------------------------------------------------------------------------------------------

template <class Row>
const Row& row_of(std::span<const Row> rows, std::uint32_t Row::* key, std::uint32_t wanted,
                  const DramDevice& preset, const char* parameter, const std::string& before,
                  const std::string& after) {
  const auto text = [&](std::uint32_t value) {
    std::string name = before;
    name += std::to_string(value);
    return name += after;
  };
  std::vector<std::string> names;
  for (const Row& row : rows) {
    if (row.*key == wanted) return row;
    names.push_back(text(row.*key));
  }
  throw InputError(
      {"'" + std::string(preset.name) + "' has no such devices", text(wanted), list_names(names), {}},
      parameter);
}

const Standard& standard_of(const DramDevice& preset, const char* parameter) {
  for (const Standard& standard : kStandards) {
    if (standard.standard == preset.standard) return standard;
  }
  throw InputError(
      {"the devices of '" + std::string(preset.name) + "' are what they are", {}, "no such key", {}},
      parameter);
}

void set_width(DramDevice& device, const Standard& standard, std::uint32_t bits) {
  DramOrganisation& organisation = device.organisation;
  const Width& width = row_of(standard.widths, &Width::bits, bits, device, "device_width", "x", "");
  if (bits == organisation.device_width) return;
  organisation.device_width = bits;
  organisation.bank_groups = width.bank_groups;
  organisation.columns = width.columns;
  for (const WideStandard& wide : kWide) {
    if (wide.preset != device.name || wide.bits != bits) continue;
    device.timing.tRRD_S = wide.tRRD_S;
    device.timing.tRRD_L = wide.tRRD_L;
    device.timing.tFAW = wide.tFAW;
    device.currents = wide.currents;
    return;
  }
  ensure(device.standard == DramStandard::kLpddr5, "a width without timings");
}

void set_density(DramDevice& device, const Density& density) {
  DramOrganisation& organisation = device.organisation;
  const DramClock clock(device.clock);
  const auto clocks = [&](std::uint32_t ns) { return clock.edge_at(Time{1000} * ns); };
  if (device.refresh_set == RefreshSet::kBankOfEveryGroup) {  // the banks of a group take turns
    device.timing.tREFI_SB = device.timing.tREFI_SB * organisation.banks / density.banks;
  }
  organisation.density = density.gigabits;
  organisation.banks = density.banks;
  device.timing.tRFC = clocks(density.tRFC);
  device.timing.tRFC_SB = clocks(density.tRFC_SB);
  if (organisation.stack == 1) return;
  device.timing.tCCD_DLR = device.timing.tCCD_S;
  device.timing.tRRD_DLR = kActivateOtherDie;
  device.timing.tFAW_DLR = kFourActivatesOfStack;
  device.timing.tRFC_DLR = clocks(density.tRFC_DLR);
  device.timing.tRFC_SB_DLR = clocks(density.tRFC_SB_DLR);
}

void set_ecc(DramOrganisation& organisation, const Standard& standard, std::uint32_t bits) {
  std::vector<std::string> whole;
  for (std::uint32_t each = 0; each <= standard.ecc_bits; each += organisation.device_width) {
    if (each == bits) {
      organisation.ecc_width = bits;
      return;
    }
    whole.push_back(std::to_string(each));
  }
  throw InputError({"these are no whole devices of x" + std::to_string(organisation.device_width) +
                        " for the ECC of a sub-channel",
                    std::to_string(bits),
                    list_names(whole),
                    {}},
                   "ecc_width");
}

}  // namespace

void choose_devices(DramDevice& preset, const DramDevices& devices) {
  DramOrganisation& organisation = preset.organisation;
  if (!devices.width && !devices.density && devices.stack == 1 && devices.ecc_width == 0) return;
  const Standard& standard = standard_of(preset, devices.width       ? "device_width"
                                                 : devices.density   ? "density"
                                                 : devices.stack > 1 ? "stack"
                                                                     : "ecc_width");
  if (devices.stack > standard.highest_stack) {
    throw InputError({"there are no stacks of " + std::string(standard.name),
                      std::to_string(devices.stack) + " dies",
                      "stack: 1",
                      {}},
                     "stack");
  }
  set_width(preset, standard, devices.width.value_or(organisation.device_width));
  organisation.stack = devices.stack;
  set_density(preset, row_of(standard.densities, &Density::gigabits,
                             devices.density.value_or(organisation.density), preset, "density", "", "Gb"));
  const std::uint64_t row_bits = organisation.payload(std::uint64_t{organisation.banks_in_rank()} *
                                                      organisation.columns * organisation.device_width);
  organisation.rows = static_cast<std::uint32_t>((std::uint64_t{organisation.density} << 30U) / row_bits);
  set_ecc(organisation, standard, devices.ecc_width);
}

// A long burst is two short ones in one command, with clocks between its halves that are another's, so that
// two of them follow each other at twice the distance on average. LPDDR5 in bank-group mode (JESD209-5, as in
// gem5): the halves are as far apart as commands to one bank group. LPDDR6 (JESD209-6, Tables 269-272 and
// 382, as quoted by Ramulator 2): 24 beats lie between them, and the next command to the group comes that
// much later. What counts from the command to the end of the data, or of the array's work, counts from the
// second half.
void choose_burst(DramDevice& preset, std::uint32_t beats) {
  DramOrganisation& organisation = preset.organisation;
  const bool long_ones = preset.standard == DramStandard::kLpddr5 || preset.standard == DramStandard::kLpddr6;
  if (!long_ones) {
    throw InputError({"'" + std::string(preset.name) + "' has bursts of one length",
                      std::to_string(beats),
                      "no such key, or a preset of LPDDR5 or LPDDR6",
                      {}},
                     "burst_length");
  }
  const std::uint32_t own = organisation.burst_length;
  if (beats == own) return;
  if (beats != 2 * own) {
    throw InputError({"'" + std::string(preset.name) + "' has no such bursts",
                      std::to_string(beats),
                      std::to_string(own) + " or " + std::to_string(2 * own),
                      {}},
                     "burst_length");
  }
  DramTiming& timing = preset.timing;
  const Clock half = preset.standard == DramStandard::kLpddr6  // from the first half to the second
                         ? 2 * static_cast<Clock>(organisation.burst_clocks)
                         : timing.tCCD_L;
  organisation.burst_gap = static_cast<std::uint32_t>(half) - organisation.burst_clocks;
  organisation.burst_length *= 2;
  organisation.burst_clocks *= 2;
  timing.tRTW += half;
  timing.tRTP += half;
  timing.tCCD_S *= 2;
  for (Clock DramTiming::* const apart :
       {&DramTiming::tCCD_L, &DramTiming::tCCD_L_WR, &DramTiming::tCCD_L_WR2})
    timing.*apart += half;
}

}  // namespace cxloom
