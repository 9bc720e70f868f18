// Presets of DDR3.
#include <array>

#include "memory/dram/device/presets.hpp"

namespace cxloom {

namespace {

constexpr DramOrganisation kDdr3x8{.sub_channels = 1,
                                   .width = 64,
                                   .device_width = 8,
                                   .density = 4,
                                   .ranks = 1,
                                   .bank_groups = 1,
                                   .banks = 8,
                                   .rows = 1U << 16U,
                                   .columns = 1U << 10U,
                                   .burst_length = 8,
                                   .burst_clocks = 4};

constexpr std::string_view kDdr3Source =
    "JESD79-3 (speed bins; timing by speed bin; refresh by density; addressing of 4 Gb x8), recalled, "
    "checked against DRAMsim3 (DDR3_4Gb_x8) and Ramulator 2";
constexpr std::string_view kDdr3Currents =
    "4 Gb DDR3L x8 (1.35 V) as in DRAMsim3's configurations, which follow a Micron data sheet";

}  // namespace

std::span<const DramDevice> ddr3_presets() {
  static const std::array kPresets{
      DramDevice{.name = "DDR3-1600",
                 .standard = DramStandard::kDdr3,
                 .source = kDdr3Source,  // bin 1600K: 11-11-11
                 .clock = megahertz(800),
                 .organisation = kDdr3x8,
                 .timing = {.CL = 11,
                            .CWL = 8,
                            .tRCD = 11,
                            .tRCD_WR = 11,
                            .tRP = 11,
                            .tRAS = 28,  // 35 ns
                            .tRTP = 6,   // 7.5 ns
                            .tWR = 12,   // 15 ns
                            .tCCD_S = 4,
                            .tCCD_L = 4,  // there are no bank groups
                            .tCCD_L_WR = 4,
                            .tCCD_L_WR2 = 4,
                            .tRTW = 9,  // CL + BL/2 + 2 - CWL
                            .tWTR_S = 6,
                            .tWTR_L = 6,  // 7.5 ns
                            .tRRD_S = 5,
                            .tRRD_L = 5,  // 6 ns (page of 1 KiB)
                            .tFAW = 24,   // 30 ns
                            .tPPD = 1,
                            .tCS = 2,
                            .tRFC = 208,
                            .tREFI = 6240,  // 260 ns (4 Gb), 7.8 us
                            .tXP = 5,
                            .tPD = 4},  // 6 ns, 5 ns
                 .currents = {.VDD = 1.35,
                              .IDD0 = 55,
                              .IDD2N = 32,
                              .IDD2P = 18,
                              .IDD3N = 38,
                              .IDD3P = 38,
                              .IDD4R = 157,
                              .IDD4W = 125,
                              .IDD5B = 235,
                              .IDD5SB = 0},
                 .currents_source = kDdr3Currents},
      DramDevice{.name = "DDR3-1866",
                 .standard = DramStandard::kDdr3,
                 .source = kDdr3Source,                     // bin 1866M: 13-13-13
                 .clock = Rate::per_time(2800, 3'000'000),  // 933 1/3 MHz
                 .organisation = kDdr3x8,
                 .timing = {.CL = 13,
                            .CWL = 9,
                            .tRCD = 13,
                            .tRCD_WR = 13,
                            .tRP = 13,
                            .tRAS = 32,  // 34 ns
                            .tRTP = 7,   // 7.5 ns
                            .tWR = 14,   // 15 ns
                            .tCCD_S = 4,
                            .tCCD_L = 4,
                            .tCCD_L_WR = 4,
                            .tCCD_L_WR2 = 4,
                            .tRTW = 10,  // CL + BL/2 + 2 - CWL
                            .tWTR_S = 7,
                            .tWTR_L = 7,  // 7.5 ns
                            .tRRD_S = 5,
                            .tRRD_L = 5,  // 5 ns (page of 1 KiB)
                            .tFAW = 26,   // 27 ns
                            .tPPD = 1,
                            .tCS = 2,
                            .tRFC = 243,
                            .tREFI = 7280,  // 260 ns (4 Gb), 7.8 us
                            .tXP = 6,
                            .tPD = 5},  // 6 ns, 5 ns
                 .currents = {.VDD = 1.35,
                              .IDD0 = 62,
                              .IDD2N = 35,
                              .IDD2P = 18,
                              .IDD3N = 41,
                              .IDD3P = 41,
                              .IDD4R = 174,
                              .IDD4W = 141,
                              .IDD5B = 242,
                              .IDD5SB = 0},
                 .currents_source = kDdr3Currents},
  };
  return kPresets;
}

}  // namespace cxloom
