// Presets of HBM2, HBM2E, HBM3, HBM3E and HBM4.
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

/// Eight dies: each four have a stack id, which is a rank of the model, with banks of its own.
constexpr DramOrganisation two_stack_ids(DramOrganisation organisation) {
  organisation.ranks = organisation.stack = 2;
  return organisation;
}
/// Dies of 24 Gb use three quarters of the rows that their address bits reach.
constexpr DramOrganisation three_quarters(DramOrganisation organisation) {
  organisation.density = organisation.density / 4 * 3;
  organisation.rows = organisation.rows / 4 * 3;
  return organisation;
}
constexpr DramOrganisation kHbm3e = two_stack_ids(three_quarters(kHbm3));
constexpr DramOrganisation kHbm4 = two_stack_ids(kHbm3);

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
      DramDevice{.name = "HBM2E-3600",
                 .source = "an estimate: the nanoseconds of HBM2-2000 in clocks of 1800 MHz",
                 .clock = megahertz(1800),
                 .organisation = kHbm2,
                 .timing = {.CL = 26,
                            .CWL = 9,
                            .tRCD = 26,
                            .tRCD_WR = 22,
                            .tRP = 26,
                            .tRAS = 62,
                            .tRTP = 9,
                            .tWR = 29,
                            .tCCD_S = 2,
                            .tCCD_L = 4,
                            .tCCD_L_WR = 4,
                            .tCCD_L_WR2 = 4,
                            .tRTW = 21,
                            .tWTR_S = 11,
                            .tWTR_L = 15,
                            .tRRD_S = 8,
                            .tRRD_L = 8,
                            .tFAW = 27,
                            .tPPD = 1,
                            .tCS = 2,
                            .tRFC = 630,
                            .tREFI = 7020,
                            .tRFC_SB = 288,
                            .tREFI_SB = 438,
                            .tREFSB_ACT = 15,
                            .tXP = 15,
                            .tPD = 15},
                 .two_cycle_commands = TwoCycleCommands::kActivate,
                 .split_command_bus = true},
      DramDevice{.name = "HBM3E-9600",
                 .source =
                     "no standard has it: a public configuration with times of HBM3-6400 in clocks of 2400 "
                     "MHz, tCCD_L of 2.5 ns (JESD238); 8 dies of 24 Gb, two stack ids of four, tCCD_R of "
                     "tCCD_S + 1 (JESD270-4); tRFC of 400 ns is a guess",
                 .clock = megahertz(2400),
                 .organisation = kHbm3e,
                 .timing = {.CL = 30,
                            .CWL = 15,
                            .tRCD = 47,
                            .tRCD_WR = 23,
                            .tRP = 39,
                            .tRAS = 68,
                            .tRTP = 14,
                            .tWR = 50,
                            .tCCD_S = 2,
                            .tCCD_L = 6,
                            .tCCD_L_WR = 6,
                            .tCCD_L_WR2 = 6,
                            .tRTW = 30,
                            .tWTR_S = 11,
                            .tWTR_L = 15,
                            .tRRD_S = 6,
                            .tRRD_L = 8,
                            .tFAW = 36,
                            .tPPD = 2,
                            .tCS = 2,
                            .tRFC = 960,
                            .tREFI = 9360,
                            .tRFC_SB = 480,
                            .tREFI_SB = 585,
                            .tREFSB_ACT = 20,
                            .tXP = 18,
                            .tPD = 18,
                            .tCCD_DLR = 2,
                            .tCCD_R = 3,  // CCD_S + 1: another stack id
                            .tRRD_DLR = 6,
                            .tFAW_DLR = 36},
                 .two_cycle_commands = TwoCycleCommands::kActivate,
                 .split_command_bus = true},
      DramDevice{
          .name = "HBM4-8000",
          .source =
              "JESD270-4, whose core times are blank: latencies and refresh as in Ramulator 2, guesses; "
              "tCCD_L of 2.5 ns (Table 108); 8 dies, two stack ids of four, tCCD_R of tCCD_S + 1; no "
              "per-bank refresh, whose 280 ns do not fit into tREFI / 16",
          .clock = megahertz(2000),
          .organisation = kHbm4,
          .timing = {.CL = 20,
                     .CWL = 10,
                     .tRCD = 39,
                     .tRCD_WR = 19,
                     .tRP = 33,
                     .tRAS = 57,
                     .tRTP = 12,
                     .tWR = 42,
                     .tCCD_S = 2,
                     .tCCD_L = 5,
                     .tCCD_L_WR = 5,
                     .tCCD_L_WR2 = 5,
                     .tRTW = 25,
                     .tWTR_S = 9,
                     .tWTR_L = 13,
                     .tRRD_S = 5,
                     .tRRD_L = 7,
                     .tFAW = 30,
                     .tPPD = 2,
                     .tCS = 2,
                     .tRFC = 900,
                     .tREFI = 7800,
                     .tXP = 15,
                     .tPD = 15,
                     .tCCD_DLR = 2,
                     .tCCD_R = 3,  // CCD_S + 1: another stack id
                     .tRRD_DLR = 5,
                     .tFAW_DLR = 30},
          .two_cycle_commands = TwoCycleCommands::kActivate,
          .split_command_bus = true},
  };
  return kPresets;
}

}  // namespace cxloom
