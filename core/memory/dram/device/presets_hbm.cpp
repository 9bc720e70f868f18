// Presets of HBM2 and HBM3.
#include <array>

#include "memory/dram/device/presets.hpp"

namespace cxloom {

namespace {

constexpr DramOrganisation kHbm2{.sub_channels = 2,
                                 .width = 64,
                                 .device_width = 64,
                                 .density = 4,
                                 .ranks = 1,
                                 .bank_groups = 4,
                                 .banks = 4,
                                 .rows = 1U << 15U,
                                 .columns = 1U << 7U,
                                 .burst_length = 4,
                                 .burst_clocks = 2};
constexpr DramOrganisation kHbm3{.sub_channels = 2,
                                 .width = 32,
                                 .device_width = 32,
                                 .density = 4,
                                 .ranks = 1,
                                 .bank_groups = 4,
                                 .banks = 4,
                                 .rows = 1U << 15U,
                                 .columns = 1U << 8U,
                                 .burst_length = 8,
                                 .burst_clocks = 2};

}  // namespace

std::span<const DramDevice> hbm_presets() {
  static const std::array kPresets{
      DramDevice{.name = "HBM2-2000",
                 // One channel of 128 bits as two pseudo channels of 8 Gb together, page of 1 KiB, BL4.
                 .source = "JESD235, recalled; latencies and tCCD as in Ramulator 2 (HBM2_2000Mbps), refresh "
                           "of 8 Gb as in Ramulator 2 and DRAMsim3",
                 .clock = megahertz(1000),
                 .organisation = kHbm2,
                 .timing = {.CL = 14,
                            .CWL = 5,
                            .tRCD = 14,
                            .tRCD_WR = 12,
                            .tRP = 14,
                            .tRAS = 34,
                            .tRTP = 5,
                            .tWR = 16,
                            .tCCD_S = 2,
                            .tCCD_L = 4,
                            .tCCD_L_WR = 4,
                            .tCCD_L_WR2 = 4,
                            .tRTW = 13,  // CL + BL/2 + 2 - CWL
                            .tWTR_S = 6,
                            .tWTR_L = 8,
                            .tRRD_S = 4,
                            .tRRD_L = 4,
                            .tFAW = 15,
                            .tPPD = 1,
                            .tCS = 2,
                            .tRFC = 350,
                            .tREFI = 3900,  // 8 Gb, 3.9 us
                            .tRFC_SB = 160,
                            .tREFI_SB = 243,  // tREFI over sixteen banks
                            .tREFSB_ACT = 8,  // tRREFD
                            .tXP = 8,
                            .tPD = 8},
                 // Half of the currents of a channel, for a pseudo channel.
                 .currents = {.VDD = 1.2,
                              .IDD0 = 32.5,
                              .IDD2N = 20,
                              .IDD2P = 14,
                              .IDD3N = 27.5,
                              .IDD3P = 20,
                              .IDD4R = 195,
                              .IDD4W = 250,
                              .IDD5B = 125,
                              .IDD5SB = 0},
                 .currents_source = "DRAMsim3, HBM2_8Gb_x128, halved for a pseudo channel",
                 .two_cycle_commands = TwoCycleCommands::kActivate,  // on the bus for rows
                 .split_command_bus = true},
      DramDevice{
          .name = "HBM3-5200",
          // One channel of 64 bits as two pseudo channels, page of 1 KiB, BL8; a clock has four transfers.
          .source = "JESD238, recalled; the times of HBM3-6400 in clocks of 1300 MHz, rounded up",
          .clock = megahertz(1300),
          .organisation = kHbm3,
          .timing = {.CL = 17,
                     .CWL = 9,
                     .tRCD = 26,
                     .tRCD_WR = 13,
                     .tRP = 22,
                     .tRAS = 37,
                     .tRTP = 8,
                     .tWR = 27,
                     .tCCD_S = 2,
                     .tCCD_L = 4,
                     .tCCD_L_WR = 4,
                     .tCCD_L_WR2 = 4,
                     .tRTW = 17,
                     .tWTR_S = 6,
                     .tWTR_L = 9,
                     .tRRD_S = 4,
                     .tRRD_L = 5,
                     .tFAW = 20,
                     .tPPD = 2,
                     .tCS = 2,
                     .tRFC = 455,
                     .tREFI = 5070,  // 350 ns (8 Gb a channel), 3.9 us
                     .tRFC_SB = 260,
                     .tREFI_SB = 316,   // 200 ns; tREFI over sixteen banks
                     .tREFSB_ACT = 11,  // tRREFD, 8 ns
                     .tXP = 10,
                     .tPD = 10},
          .two_cycle_commands = TwoCycleCommands::kActivate,  // one and a half, and half a clock of PRE
          .split_command_bus = true},
      DramDevice{
          .name = "HBM3-6400",
          .source = "JESD238, Tables 4 (addressing) and 84 (refresh), recalled; latencies as in Ramulator 2 "
                    "(HBM3_6400Mbps)",
          .clock = megahertz(1600),
          .organisation = kHbm3,
          .timing = {.CL = 20,
                     .CWL = 10,
                     .tRCD = 31,
                     .tRCD_WR = 15,
                     .tRP = 26,
                     .tRAS = 45,
                     .tRTP = 9,
                     .tWR = 33,
                     .tCCD_S = 2,
                     .tCCD_L = 4,
                     .tCCD_L_WR = 4,
                     .tCCD_L_WR2 = 4,
                     .tRTW = 20,
                     .tWTR_S = 7,
                     .tWTR_L = 10,
                     .tRRD_S = 4,
                     .tRRD_L = 5,
                     .tFAW = 24,
                     .tPPD = 2,
                     .tCS = 2,
                     .tRFC = 560,
                     .tREFI = 6240,  // 350 ns (8 Gb a channel), 3.9 us
                     .tRFC_SB = 320,
                     .tREFI_SB = 390,   // 200 ns; tREFI over sixteen banks
                     .tREFSB_ACT = 13,  // tRREFD, 8 ns
                     .tXP = 12,
                     .tPD = 12},
          .two_cycle_commands = TwoCycleCommands::kActivate,  // one and a half, and half a clock of PRE
          .split_command_bus = true},
  };
  return kPresets;
}

}  // namespace cxloom
