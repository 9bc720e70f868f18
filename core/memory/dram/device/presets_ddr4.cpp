// Presets of DDR4.
#include <array>

#include "memory/dram/device/presets.hpp"

namespace cxloom {

namespace {

constexpr DramOrganisation kDdr4x8{.sub_channels = 1,
                                   .width = 64,
                                   .device_width = 8,
                                   .density = 8,
                                   .ranks = 1,
                                   .bank_groups = 4,
                                   .banks = 4,
                                   .rows = 1U << 16U,
                                   .columns = 1U << 10U,
                                   .burst_length = 8,
                                   .burst_clocks = 4};

constexpr std::string_view kDdr4Source =
    "JESD79-4 (speed bins; timing by speed bin; refresh by density; addressing of 8 Gb x8), recalled, "
    "checked against Ramulator 2 and DRAMsim3 (DDR4_8Gb_x8)";
constexpr std::string_view kDdr4Currents =
    "8 Gb DDR4 x8 as in DRAMsim3's configurations, which follow a Micron data sheet";

}  // namespace

std::span<const DramDevice> ddr4_presets() {
  static const std::array kPresets{
      DramDevice{.name = "DDR4-2400",
                 .standard = DramStandard::kDdr4,
                 .source = kDdr4Source,  // bin 2400R: 16-16-16
                 .clock = megahertz(1200),
                 .organisation = kDdr4x8,
                 .timing = {.CL = 16,
                            .CWL = 12,
                            .tRCD = 16,
                            .tRCD_WR = 16,
                            .tRP = 16,
                            .tRAS = 39,  // 32 ns
                            .tRTP = 9,   // 7.5 ns
                            .tWR = 18,   // 15 ns
                            .tCCD_S = 4,
                            .tCCD_L = 6,
                            .tCCD_L_WR = 6,
                            .tCCD_L_WR2 = 6,
                            .tRTW = 10,  // CL + BL/2 + 2 - CWL
                            .tWTR_S = 3,
                            .tWTR_L = 9,  // 2.5 ns, 7.5 ns
                            .tRRD_S = 4,
                            .tRRD_L = 6,  // 3.3 ns, 4.9 ns (page of 1 KiB)
                            .tFAW = 26,   // 21 ns
                            .tPPD = 1,
                            .tCS = 2,
                            .tRFC = 420,
                            .tREFI = 9360,  // 350 ns (8 Gb), 7.8 us
                            .tXP = 8,
                            .tPD = 6},  // 6 ns, 5 ns
                 .currents = {.VDD = 1.2,
                              .IDD0 = 48,
                              .IDD2N = 34,
                              .IDD2P = 25,
                              .IDD3N = 43,
                              .IDD3P = 37,
                              .IDD4R = 135,
                              .IDD4W = 123,
                              .IDD5B = 250,
                              .IDD5SB = 0},
                 .currents_source = kDdr4Currents},
      DramDevice{.name = "DDR4-2666",
                 .standard = DramStandard::kDdr4,
                 .source = "JESD79-4 (bin 2666V: 19-19-19) as in Ramulator 2 and DRAMsim3 (DDR4_8Gb_x8_2666)",
                 .clock = Rate::per_time(4000, 3'000'000),  // 1333 1/3 MHz
                 .organisation = kDdr4x8,
                 .timing = {.CL = 19,
                            .CWL = 14,
                            .tRCD = 19,
                            .tRCD_WR = 19,
                            .tRP = 19,
                            .tRAS = 43,  // 32 ns
                            .tRTP = 10,  // 7.5 ns
                            .tWR = 20,   // 15 ns
                            .tCCD_S = 4,
                            .tCCD_L = 7,
                            .tCCD_L_WR = 7,
                            .tCCD_L_WR2 = 7,
                            .tRTW = 11,  // CL + BL/2 + 2 - CWL
                            .tWTR_S = 4,
                            .tWTR_L = 10,  // 2.5 ns, 7.5 ns
                            .tRRD_S = 4,
                            .tRRD_L = 7,  // 3.0 ns, 4.9 ns (page of 1 KiB)
                            .tFAW = 28,   // 21 ns
                            .tPPD = 1,
                            .tCS = 2,
                            .tRFC = 467,
                            .tREFI = 10400,  // 350 ns (8 Gb), 7.8 us
                            .tXP = 8,
                            .tPD = 7},  // 6 ns, 5 ns
                 .currents = {.VDD = 1.2,
                              .IDD0 = 51,
                              .IDD2N = 35,
                              .IDD2P = 25,
                              .IDD3N = 46,
                              .IDD3P = 39,
                              .IDD4R = 146,
                              .IDD4W = 132,
                              .IDD5B = 250,
                              .IDD5SB = 0},
                 .currents_source = kDdr4Currents},
      DramDevice{.name = "DDR4-2933",
                 .standard = DramStandard::kDdr4,
                 .source = "JESD79-4 (bin 2933Y: 21-21-21) as in Ramulator 2 and DRAMsim3 (DDR4_8Gb_x8_2933)",
                 .clock = Rate::per_time(4400, 3'000'000),  // 1466 2/3 MHz
                 .organisation = kDdr4x8,
                 .timing = {.CL = 21,
                            .CWL = 16,
                            .tRCD = 21,
                            .tRCD_WR = 21,
                            .tRP = 21,
                            .tRAS = 47,  // 32 ns
                            .tRTP = 11,  // 7.5 ns
                            .tWR = 22,   // 15 ns
                            .tCCD_S = 4,
                            .tCCD_L = 8,
                            .tCCD_L_WR = 8,
                            .tCCD_L_WR2 = 8,
                            .tRTW = 11,  // CL + BL/2 + 2 - CWL
                            .tWTR_S = 4,
                            .tWTR_L = 11,  // 2.5 ns, 7.5 ns
                            .tRRD_S = 4,
                            .tRRD_L = 8,  // 2.7 ns, 4.9 ns (page of 1 KiB)
                            .tFAW = 31,   // 21 ns
                            .tPPD = 1,
                            .tCS = 2,
                            .tRFC = 514,
                            .tREFI = 11440,  // 350 ns (8 Gb), 7.8 us
                            .tXP = 9,
                            .tPD = 8},  // 6 ns, 5 ns
                 .currents = {.VDD = 1.2,
                              .IDD0 = 54,
                              .IDD2N = 36,
                              .IDD2P = 25,
                              .IDD3N = 49,
                              .IDD3P = 41,
                              .IDD4R = 157,
                              .IDD4W = 141,
                              .IDD5B = 250,
                              .IDD5SB = 0},
                 .currents_source = kDdr4Currents},
      DramDevice{.name = "DDR4-3200",
                 .standard = DramStandard::kDdr4,
                 .source = kDdr4Source,  // bin 3200AA: 22-22-22
                 .clock = megahertz(1600),
                 .organisation = kDdr4x8,
                 .timing = {.CL = 22,
                            .CWL = 16,
                            .tRCD = 22,
                            .tRCD_WR = 22,
                            .tRP = 22,
                            .tRAS = 52,  // 32 ns
                            .tRTP = 12,  // 7.5 ns
                            .tWR = 24,   // 15 ns
                            .tCCD_S = 4,
                            .tCCD_L = 8,
                            .tCCD_L_WR = 8,
                            .tCCD_L_WR2 = 8,
                            .tRTW = 12,  // CL + BL/2 + 2 - CWL
                            .tWTR_S = 4,
                            .tWTR_L = 12,  // 2.5 ns, 7.5 ns
                            .tRRD_S = 4,
                            .tRRD_L = 8,  // 2.5 ns, 4.9 ns (page of 1 KiB)
                            .tFAW = 34,   // 21 ns
                            .tPPD = 1,
                            .tCS = 2,
                            .tRFC = 560,
                            .tREFI = 12480,  // 350 ns (8 Gb), 7.8 us
                            .tXP = 10,
                            .tPD = 8},  // 6 ns, 5 ns
                 .currents = {.VDD = 1.2,
                              .IDD0 = 57,
                              .IDD2N = 37,
                              .IDD2P = 25,
                              .IDD3N = 52,
                              .IDD3P = 43,
                              .IDD4R = 168,
                              .IDD4W = 150,
                              .IDD5B = 250,
                              .IDD5SB = 0},
                 .currents_source = kDdr4Currents},
  };
  return kPresets;
}

}  // namespace cxloom
