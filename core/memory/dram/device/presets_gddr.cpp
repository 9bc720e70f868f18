// Presets of GDDR6 and GDDR7.
#include <array>

#include "memory/dram/device/presets.hpp"

namespace cxloom {

namespace {

constexpr DramOrganisation kGddr6{.sub_channels = 2,
                                  .width = 16,
                                  .device_width = 16,
                                  .density = 4,
                                  .ranks = 1,
                                  .bank_groups = 4,
                                  .banks = 4,
                                  .rows = 1U << 14U,
                                  .columns = 1U << 10U,
                                  .burst_length = 16,
                                  .burst_clocks = 2};
/// There are no bank groups: four stand for the sixteen banks in the mapping, and S, M are the same. Bits,
/// not symbols, are counted in a burst: three levels carry 32 bytes over 8 pins in two clocks.
constexpr DramOrganisation kGddr7{.sub_channels = 4,
                                  .width = 8,
                                  .device_width = 8,
                                  .density = 4,
                                  .ranks = 1,
                                  .bank_groups = 4,
                                  .banks = 4,
                                  .rows = 1U << 15U,
                                  .columns = 1U << 10U,
                                  .burst_length = 32,
                                  .burst_clocks = 2};

}  // namespace

std::span<const DramDevice> gddr_presets() {
  static const std::array kPresets{
      DramDevice{.name = "GDDR6-14",
                 .source =
                     "JESD250 as in Ramulator 2 (14 Gb/s, 1.35 V; a clock of 0.57 ns), two channels of 16 "
                     "bits, 8 Gb; tRREFD, tPPD, tXP and tPD are estimates",
                 .clock = Rate::per_time(1, 570),
                 .organisation = kGddr6,
                 .timing = {.CL = 24,
                            .CWL = 6,
                            .tRCD = 27,
                            .tRCD_WR = 16,
                            .tRP = 27,
                            .tRAS = 53,
                            .tRTP = 4,
                            .tWR = 27,
                            .tCCD_S = 2,
                            .tCCD_L = 4,
                            .tCCD_L_WR = 4,
                            .tCCD_L_WR2 = 4,
                            .tRTW = 25,
                            .tWTR_S = 9,
                            .tWTR_L = 11,
                            .tRRD_S = 8,
                            .tRRD_L = 8,
                            .tFAW = 29,
                            .tPPD = 1,
                            .tCS = 2,
                            .tRFC = 211,
                            .tREFI = 3333,
                            .tRFC_SB = 106,
                            .tREFI_SB = 208,
                            .tREFSB_ACT = 8,
                            .tXP = 14,
                            .tPD = 14},
                 .currents = {.VDD = 1.35,
                              .IDD0 = 71,
                              .IDD2N = 60,
                              .IDD2P = 45,
                              .IDD3N = 61,
                              .IDD3P = 50,
                              .IDD4R = 248,
                              .IDD4W = 231,
                              .IDD5B = 286,
                              .IDD5SB = 0},
                 .currents_source = "GDDR6 x16 as in DRAMsim3's configurations, of a channel",
                 .two_cycle_commands = TwoCycleCommands::kNone},
      DramDevice{
          .name = "GDDR7-28",
          .source = "Ramulator 2's GDDR7 (28 Gb/s), which it calls a smoke test; four channels of 8 bits, 16 "
                    "Gb; tRTW is that of GDDR6, as its 12 clocks let data overlap; tRREFD, tPPD, tXP and tPD "
                    "are estimates",
          .clock = megahertz(1750),
          .organisation = kGddr7,
          .timing = {.CL = 24,
                     .CWL = 6,
                     .tRCD = 30,
                     .tRCD_WR = 19,
                     .tRP = 30,
                     .tRAS = 60,
                     .tRTP = 4,
                     .tWR = 30,
                     .tCCD_S = 2,
                     .tCCD_L = 4,
                     .tCCD_L_WR = 4,
                     .tCCD_L_WR2 = 4,
                     .tCCD_M = 2,  // only a bank waits longer
                     .tCCD_M_WR = 2,
                     .tCCD_M_WR2 = 2,
                     .tRTW = 25,
                     .tWTR_S = 9,
                     .tWTR_L = 11,
                     .tWTR_M = 9,
                     .tRRD_S = 4,
                     .tRRD_L = 4,
                     .tFAW = 4,
                     .tPPD = 1,
                     .tCS = 2,
                     .tRFC = 315,
                     .tREFI = 3325,
                     .tRFC_SB = 105,
                     .tREFI_SB = 207,
                     .tREFSB_ACT = 8,
                     .tXP = 14,
                     .tPD = 14},
          .two_cycle_commands = TwoCycleCommands::kAll,
          .split_command_bus = true},
  };
  return kPresets;
}

}  // namespace cxloom
