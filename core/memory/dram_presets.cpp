// Presets: numbers from standards and data sheets, nothing else. Times of the standards are turned into clocks by
// rounding up, as they prescribe. Where a standard could not be consulted, its value is recalled and was checked against
// the configuration files of public simulators (DRAMsim3, Ramulator 2, gem5), and says so.
#include <array>

#include "memory/dram_device.hpp"

namespace cxloom {

namespace {

// Clock cycles are exact: a DDR bus of r MT/s has a clock of r/2 MHz.
Rate megahertz(std::uint64_t clocks_per_us) { return Rate::per_time(clocks_per_us, 1'000'000); }

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
constexpr DramOrganisation kDdr5x8{.sub_channels = 2,
                                   .width = 32,
                                   .device_width = 8,
                                   .density = 16,
                                   .ranks = 1,
                                   .bank_groups = 8,
                                   .banks = 4,
                                   .rows = 1U << 16U,
                                   .columns = 1U << 10U,
                                   .burst_length = 16,
                                   .burst_clocks = 8};
constexpr DramOrganisation kLpddr5x16{.sub_channels = 1,
                                      .width = 16,
                                      .device_width = 16,
                                      .density = 16,
                                      .ranks = 1,
                                      .bank_groups = 4,
                                      .banks = 4,
                                      .rows = 1U << 16U,
                                      .columns = 1U << 10U,
                                      .burst_length = 16,
                                      .burst_clocks = 2};
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

constexpr std::string_view kDdr4Source =
    "JESD79-4 (speed bins; timing by speed bin; refresh by density; addressing of 8 Gb x8), recalled, "
    "checked "
    "against Ramulator 2 and DRAMsim3 (DDR4_8Gb_x8)";
constexpr std::string_view kDdr4Currents =
    "8 Gb DDR4 x8 as in DRAMsim3's configurations, which follow a Micron data sheet";
constexpr std::string_view kDdr5Source =
    "JESD79-5 (speed bin B; core timings; refresh parameters of 16 Gb; addressing of 16 Gb x8), recalled, "
    "checked "
    "against Ramulator 2 and gem5";
constexpr std::string_view kDdr5Currents =
    "Micron 16Gb DDR5 SDRAM die revision A, DDR5-4800, as quoted by gem5 (DDR5_4400_4x8)";
constexpr DramCurrents kDdr5CurrentsX8{.VDD = 1.1,
                                       .IDD0 = 122,
                                       .IDD2N = 92,
                                       .IDD2P = 88,
                                       .IDD3N = 142,
                                       .IDD3P = 140,
                                       .IDD4R = 530,
                                       .IDD4W = 479,
                                       .IDD5B = 277,
                                       .IDD5SB = 135};

}  // namespace

std::span<const DramDevice> dram_presets() {
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
      DramDevice{.name = "DDR5-4800",
                 .standard = DramStandard::kDdr5,
                 .source = kDdr5Source,  // bin 4800B: 40-39-39
                 .clock = megahertz(2400),
                 .organisation = kDdr5x8,
                 .timing = {.CL = 40,
                            .CWL = 38,
                            .tRCD = 39,
                            .tRCD_WR = 39,
                            .tRP = 39,
                            .tRAS = 77,  // 32 ns
                            .tRTP = 18,  // 7.5 ns
                            .tWR = 72,   // 30 ns
                            .tCCD_S = 8,
                            .tCCD_L = 12,  // 5 ns
                            .tCCD_L_WR = 48,
                            .tCCD_L_WR2 = 24,  // 20 ns, 10 ns
                            .tRTW = 14,        // CL + BL/2 - CWL + postamble and preamble, 4
                            .tWTR_S = 6,
                            .tWTR_L = 24,  // 2.5 ns, 10 ns
                            .tRRD_S = 8,
                            .tRRD_L = 12,  // 8 clocks, 5 ns (page of 1 KiB)
                            .tFAW = 32,    // max(32 clocks, 13.333 ns)
                            .tPPD = 2,
                            .tCS = 2,
                            .tRFC = 708,
                            .tREFI = 9360,  // 295 ns (16 Gb), 3.9 us
                            .tRFC_SB = 312,
                            .tREFI_SB = 1170,  // 130 ns; tREFI2 of 1.95 us over four banks of a group
                            .tREFSB_ACT = 72,  // 30 ns
                            .tXP = 18,
                            .tPD = 18},  // 7.5 ns
                 .currents = kDdr5CurrentsX8,
                 .currents_source = kDdr5Currents,
                 .refresh_set = RefreshSet::kBankOfEveryGroup,
                 .same_bank_refresh = true,
                 .two_cycle_commands = TwoCycleCommands::kAll},
      DramDevice{.name = "DDR5-5600",
                 .standard = DramStandard::kDdr5,
                 .source = kDdr5Source,  // bin 5600B: 46-45-45
                 .clock = megahertz(2800),
                 .organisation = kDdr5x8,
                 .timing = {.CL = 46,
                            .CWL = 44,
                            .tRCD = 45,
                            .tRCD_WR = 45,
                            .tRP = 45,
                            .tRAS = 90,  // 32 ns
                            .tRTP = 21,  // 7.5 ns
                            .tWR = 84,   // 30 ns
                            .tCCD_S = 8,
                            .tCCD_L = 14,  // 5 ns
                            .tCCD_L_WR = 56,
                            .tCCD_L_WR2 = 28,  // 20 ns, 10 ns
                            .tRTW = 14,        // CL + BL/2 - CWL + 4
                            .tWTR_S = 7,
                            .tWTR_L = 28,  // 2.5 ns, 10 ns
                            .tRRD_S = 8,
                            .tRRD_L = 14,  // 8 clocks, 5 ns
                            .tFAW = 32,    // max(32 clocks, 11.428 ns)
                            .tPPD = 2,
                            .tCS = 2,
                            .tRFC = 826,
                            .tREFI = 10920,  // 295 ns (16 Gb), 3.9 us
                            .tRFC_SB = 364,
                            .tREFI_SB = 1365,  // 130 ns; 1.95 us over four banks
                            .tREFSB_ACT = 84,  // 30 ns
                            .tXP = 21,
                            .tPD = 21},        // 7.5 ns
                 .currents = kDdr5CurrentsX8,  // those of 4800: newer ones are not at hand
                 .currents_source = kDdr5Currents,
                 .refresh_set = RefreshSet::kBankOfEveryGroup,
                 .same_bank_refresh = true,
                 .two_cycle_commands = TwoCycleCommands::kAll},
      DramDevice{
          .name = "LPDDR5-6400",
          .standard = DramStandard::kLpddr5,
          // Bank-group mode, WCK to CK 4:1, BL16.
          .source =
              "JESD209-5B, Tables 235 (refresh), 330-333 (bank-group mode), 372 (core timing), as quoted by "
              "Ramulator 2; 16 Gb x16",
          .clock = megahertz(800),
          .organisation = kLpddr5x16,
          .timing = {.CL = 17,
                     .CWL = 9,
                     .tRCD = 15,
                     .tRCD_WR = 15,
                     .tRP = 15,
                     .tRAS = 34,
                     .tRTP = 8,
                     .tWR = 28,
                     .tCCD_S = 2,
                     .tCCD_L = 4,
                     .tCCD_L_WR = 4,
                     .tCCD_L_WR2 = 4,
                     .tRTW = 12,  // CL + BL/n + 2 - CWL
                     .tWTR_S = 5,
                     .tWTR_L = 12,  // 6.25 ns; 12 ns after BL/n_max, two clocks more than BL/n_min
                     .tRRD_S = 4,
                     .tRRD_L = 4,  // 5 ns
                     .tFAW = 16,   // 20 ns
                     .tPPD = 2,
                     .tCS = 2,
                     .tRFC = 224,
                     .tREFI = 3125,  // 280 ns (16 Gb), 3.906 us
                     .tRFC_SB = 112,
                     .tREFI_SB = 195,  // 140 ns; tREFI over sixteen banks
                     .tREFSB_ACT = 6,  // 7.5 ns
                     .tXP = 6,
                     .tPD = 6},  // 7 ns
          .same_bank_refresh = true,
          .two_cycle_commands = TwoCycleCommands::kSplitActivate},
      DramDevice{.name = "HBM2-2000",
                 // One channel of 128 bits as two pseudo channels of 8 Gb together, page of 1 KiB, BL4.
                 .source = "JESD235, recalled; latencies and tCCD as in Ramulator 2 (HBM2_2000Mbps), refresh "
                           "of 8 Gb as in "
                           "Ramulator 2 and DRAMsim3",
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
      DramDevice{.name = "test-D5",
                 .source = "a test configuration for closed forms and comparison with other simulators, not "
                           "a product: one "
                           "sub-channel of 16 Gb x8, all-bank refresh",
                 .clock = Rate::per_time(1, 416),
                 .organisation = {.sub_channels = 1,
                                  .width = 32,
                                  .device_width = 8,
                                  .density = 16,
                                  .ranks = 1,
                                  .bank_groups = 8,
                                  .banks = 4,
                                  .rows = 1U << 16U,
                                  .columns = 1U << 10U,
                                  .burst_length = 16,
                                  .burst_clocks = 8},
                 .timing = {.CL = 40,
                            .CWL = 38,
                            .tRCD = 39,
                            .tRCD_WR = 39,
                            .tRP = 39,
                            .tRAS = 77,
                            .tRTP = 18,
                            .tWR = 72,
                            .tCCD_S = 8,
                            .tCCD_L = 12,
                            .tCCD_L_WR = 48,
                            .tCCD_L_WR2 = 12,
                            .tRTW = 14,
                            .tWTR_S = 6,
                            .tWTR_L = 24,
                            .tRRD_S = 8,
                            .tRRD_L = 12,
                            .tFAW = 48,
                            .tPPD = 2,
                            .tCS = 2,
                            .tRFC = 710,
                            .tREFI = 9375,
                            .tRFC_SB = 313,
                            .tREFI_SB = 1172,
                            .tREFSB_ACT = 73,
                            .tXP = 18,
                            .tPD = 18},
                 .currents = kDdr5CurrentsX8,
                 .currents_source = kDdr5Currents,
                 .refresh_set = RefreshSet::kBankOfEveryGroup},
  };
  return kPresets;
}

}  // namespace cxloom
