// Presets of DDR5, and the test configuration that follows it.
#include <array>

#include "memory/dram/device/presets.hpp"

namespace cxloom {

namespace {

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

constexpr std::string_view kDdr5Source =
    "JESD79-5 (speed bin B; core timings; refresh parameters of 16 Gb; addressing of 16 Gb x8), recalled, "
    "checked against Ramulator 2 and gem5";
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

std::span<const DramDevice> ddr5_presets() {
  static const std::array kPresets{
      DramDevice{
          .name = "DDR5-4400",
          .standard = DramStandard::kDdr5,
          .source = "JESD79-5C (bin 4400B: 36-36-36; Tables 294, 333, 334) as quoted by Ramulator 2; refresh "
                    "of 16 Gb and addressing of x8 as in DDR5-4800",
          .clock = megahertz(2200),
          .organisation = kDdr5x8,
          .timing = {.CL = 36,
                     .CWL = 34,
                     .tRCD = 36,
                     .tRCD_WR = 36,
                     .tRP = 36,
                     .tRAS = 71,  // 32 ns
                     .tRTP = 17,  // 7.5 ns
                     .tWR = 66,   // 30 ns
                     .tCCD_S = 8,
                     .tCCD_L = 11,  // 5 ns
                     .tCCD_L_WR = 44,
                     .tCCD_L_WR2 = 22,  // 20 ns, 10 ns
                     .tRTW = 14,        // CL + BL/2 + 2 - CWL + preamble 2 + postamble 0
                     .tWTR_S = 6,
                     .tWTR_L = 22,  // 2.5 ns, 10 ns
                     .tRRD_S = 8,
                     .tRRD_L = 11,  // 8 clocks, 5 ns
                     .tFAW = 32,    // of x4 and x8 at every speed
                     .tPPD = 2,
                     .tCS = 2,
                     .tRFC = 649,
                     .tREFI = 8580,  // 295 ns (16 Gb), 3.9 us
                     .tRFC_SB = 286,
                     .tREFI_SB = 1072,  // 130 ns; 1.95 us over four banks
                     .tREFSB_ACT = 66,  // 30 ns
                     .tXP = 17,
                     .tPD = 17},  // 7.5 ns
          .refresh_set = RefreshSet::kBankOfEveryGroup,
          .usual_refresh = DramRefreshScope::kSet,
          .two_cycle_commands = TwoCycleCommands::kAll},
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
                 .usual_refresh = DramRefreshScope::kSet,
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
                            .tRTW = 16,        // CL + BL/2 + 2 - CWL + preamble 3 + postamble 1
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
                 .currents = kDdr5CurrentsX8,  // as of 4800: newer ones are not at hand
                 .currents_source = kDdr5Currents,
                 .refresh_set = RefreshSet::kBankOfEveryGroup,
                 .usual_refresh = DramRefreshScope::kSet,
                 .two_cycle_commands = TwoCycleCommands::kAll},
      DramDevice{
          .name = "DDR5-6400",
          .standard = DramStandard::kDdr5,
          .source = "JESD79-5C (bin 6400B: 52-52-52; Tables 294, 333, 334) as quoted by Ramulator 2; refresh "
                    "of 16 Gb and addressing of x8 as in DDR5-4800",
          .clock = megahertz(3200),
          .organisation = kDdr5x8,
          .timing = {.CL = 52,
                     .CWL = 50,
                     .tRCD = 52,
                     .tRCD_WR = 52,
                     .tRP = 52,
                     .tRAS = 103,  // 32 ns
                     .tRTP = 24,   // 7.5 ns
                     .tWR = 96,    // 30 ns
                     .tCCD_S = 8,
                     .tCCD_L = 16,  // 5 ns
                     .tCCD_L_WR = 64,
                     .tCCD_L_WR2 = 32,  // 20 ns, 10 ns
                     .tRTW = 16,        // CL + BL/2 + 2 - CWL + preamble 3 + postamble 1
                     .tWTR_S = 8,
                     .tWTR_L = 32,  // 2.5 ns, 10 ns
                     .tRRD_S = 8,
                     .tRRD_L = 16,  // 8 clocks, 5 ns
                     .tFAW = 32,    // of x4 and x8 at every speed
                     .tPPD = 2,
                     .tCS = 2,
                     .tRFC = 944,
                     .tREFI = 12480,  // 295 ns (16 Gb), 3.9 us
                     .tRFC_SB = 416,
                     .tREFI_SB = 1560,  // 130 ns; 1.95 us over four banks
                     .tREFSB_ACT = 96,  // 30 ns
                     .tXP = 24,
                     .tPD = 24},  // 7.5 ns
          .refresh_set = RefreshSet::kBankOfEveryGroup,
          .usual_refresh = DramRefreshScope::kSet,
          .two_cycle_commands = TwoCycleCommands::kAll},
      DramDevice{
          .name = "DDR5-7200",
          .standard = DramStandard::kDdr5,
          .source = "JESD79-5C (bin 7200B: 58-58-58; Tables 294, 333, 334) as quoted by Ramulator 2; refresh "
                    "of 16 Gb and addressing of x8 as in DDR5-4800",
          .clock = megahertz(3600),
          .organisation = kDdr5x8,
          .timing = {.CL = 58,
                     .CWL = 56,
                     .tRCD = 58,
                     .tRCD_WR = 58,
                     .tRP = 58,
                     .tRAS = 116,  // 32 ns
                     .tRTP = 27,   // 7.5 ns
                     .tWR = 108,   // 30 ns
                     .tCCD_S = 8,
                     .tCCD_L = 18,  // 5 ns
                     .tCCD_L_WR = 72,
                     .tCCD_L_WR2 = 36,  // 20 ns, 10 ns
                     .tCCD_M = 16,      // in other banks of the group: the clocks of 6400
                     .tCCD_M_WR = 64,
                     .tCCD_M_WR2 = 32,  // the clocks of 6400
                     .tRTW = 17,        // CL + BL/2 + 2 - CWL + preamble 4 + postamble 1
                     .tWTR_S = 8,
                     .tWTR_L = 36,  // the clocks of 6400; 10 ns
                     .tWTR_M = 32,  // the clocks of 6400
                     .tRRD_S = 8,
                     .tRRD_L = 16,  // the clocks of 6400, at least 3.75 ns
                     .tFAW = 32,    // of x4 and x8 at every speed
                     .tPPD = 2,
                     .tCS = 2,
                     .tRFC = 1062,
                     .tREFI = 14040,  // 295 ns (16 Gb), 3.9 us
                     .tRFC_SB = 468,
                     .tREFI_SB = 1755,   // 130 ns; 1.95 us over four banks
                     .tREFSB_ACT = 108,  // 30 ns
                     .tXP = 27,
                     .tPD = 27},  // 7.5 ns
          .refresh_set = RefreshSet::kBankOfEveryGroup,
          .usual_refresh = DramRefreshScope::kSet,
          .two_cycle_commands = TwoCycleCommands::kAll},
      DramDevice{
          .name = "DDR5-8000",
          .standard = DramStandard::kDdr5,
          .source = "JESD79-5C (bin 8000B: 64-64-64; Tables 294, 333, 334) as quoted by Ramulator 2; refresh "
                    "of 16 Gb and addressing of x8 as in DDR5-4800",
          .clock = megahertz(4000),
          .organisation = kDdr5x8,
          .timing = {.CL = 64,
                     .CWL = 62,
                     .tRCD = 64,
                     .tRCD_WR = 64,
                     .tRP = 64,
                     .tRAS = 128,  // 32 ns
                     .tRTP = 30,   // 7.5 ns
                     .tWR = 120,   // 30 ns
                     .tCCD_S = 8,
                     .tCCD_L = 20,  // 5 ns
                     .tCCD_L_WR = 80,
                     .tCCD_L_WR2 = 40,  // 20 ns, 10 ns
                     .tCCD_M = 16,      // in other banks of the group: the clocks of 6400
                     .tCCD_M_WR = 64,
                     .tCCD_M_WR2 = 32,  // the clocks of 6400
                     .tRTW = 17,        // CL + BL/2 + 2 - CWL + preamble 4 + postamble 1
                     .tWTR_S = 8,
                     .tWTR_L = 40,  // the clocks of 6400; 10 ns
                     .tWTR_M = 32,  // the clocks of 6400
                     .tRRD_S = 8,
                     .tRRD_L = 16,  // the clocks of 6400, at least 3.75 ns
                     .tFAW = 32,    // of x4 and x8 at every speed
                     .tPPD = 4,
                     .tCS = 2,
                     .tRFC = 1180,
                     .tREFI = 15600,  // 295 ns (16 Gb), 3.9 us
                     .tRFC_SB = 520,
                     .tREFI_SB = 1950,   // 130 ns; 1.95 us over four banks
                     .tREFSB_ACT = 120,  // 30 ns
                     .tXP = 30,
                     .tPD = 30},  // 7.5 ns
          .refresh_set = RefreshSet::kBankOfEveryGroup,
          .usual_refresh = DramRefreshScope::kSet,
          .two_cycle_commands = TwoCycleCommands::kAll},
      DramDevice{
          .name = "DDR5-8800",
          .standard = DramStandard::kDdr5,
          .source = "JESD79-5C (bin 8800B: 72-71-71; Tables 294, 333, 334) as quoted by Ramulator 2; refresh "
                    "of 16 Gb and addressing of x8 as in DDR5-4800",
          .clock = megahertz(4400),
          .organisation = kDdr5x8,
          .timing = {.CL = 72,
                     .CWL = 70,
                     .tRCD = 71,
                     .tRCD_WR = 71,
                     .tRP = 71,
                     .tRAS = 141,  // 32 ns
                     .tRTP = 33,   // 7.5 ns
                     .tWR = 132,   // 30 ns
                     .tCCD_S = 8,
                     .tCCD_L = 22,  // 5 ns
                     .tCCD_L_WR = 88,
                     .tCCD_L_WR2 = 44,  // 20 ns, 10 ns
                     .tCCD_M = 17,      // in other banks of the group: 3.75 ns
                     .tCCD_M_WR = 64,
                     .tCCD_M_WR2 = 32,  // the clocks of 6400
                     .tRTW = 17,        // CL + BL/2 + 2 - CWL + preamble 4 + postamble 1
                     .tWTR_S = 8,
                     .tWTR_L = 44,  // the clocks of 6400; 10 ns
                     .tWTR_M = 32,  // the clocks of 6400
                     .tRRD_S = 8,
                     .tRRD_L = 17,  // the clocks of 6400, at least 3.75 ns
                     .tFAW = 32,    // of x4 and x8 at every speed
                     .tPPD = 4,
                     .tCS = 2,
                     .tRFC = 1298,
                     .tREFI = 17160,  // 295 ns (16 Gb), 3.9 us
                     .tRFC_SB = 572,
                     .tREFI_SB = 2145,   // 130 ns; 1.95 us over four banks
                     .tREFSB_ACT = 132,  // 30 ns
                     .tXP = 33,
                     .tPD = 33},  // 7.5 ns
          .refresh_set = RefreshSet::kBankOfEveryGroup,
          .usual_refresh = DramRefreshScope::kSet,
          .two_cycle_commands = TwoCycleCommands::kAll},
  };
  return kPresets;
}

std::span<const DramDevice> test_presets() {
  static const std::array kPresets{
      DramDevice{.name = "test-D5",
                 .source = "a test configuration for closed forms and comparison with other simulators, not "
                           "a product: one sub-channel of 16 Gb x8, all-bank refresh",
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
