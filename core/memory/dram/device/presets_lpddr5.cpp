// Presets of LPDDR5 and LPDDR5X.
#include <array>

#include "memory/dram/device/presets.hpp"

namespace cxloom {

namespace {

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

}  // namespace

std::span<const DramDevice> lpddr5_presets() {
  static const std::array kPresets{
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
          .usual_refresh = DramRefreshScope::kSet,
          .two_cycle_commands = TwoCycleCommands::kSplitActivate},
      DramDevice{
          .name = "LPDDR5X-8533",
          .standard = DramStandard::kLpddr5,
          .source =
              "JESD209-5C, bank-group mode, WCK to CK 4:1, BL16; times of gem5 (RCD 18, RP 18, RAS 42, "
              "WR 34, WTR 6.25 and 12, RTP 7.5 ns and two clocks) and refresh of 16 Gb x16 (JESD209-5B, "
              "Table 235) in clocks of 1066 2/3 MHz; RRD 3.75 and FAW 15 ns are estimates",
          .clock = Rate::per_time(3200, 3'000'000),
          .organisation = kLpddr5x16,
          .timing = {.CL = 23,
                     .CWL = 12,
                     .tRCD = 20,
                     .tRCD_WR = 20,
                     .tRP = 20,
                     .tRAS = 45,
                     .tRTP = 10,
                     .tWR = 37,
                     .tCCD_S = 2,
                     .tCCD_L = 4,
                     .tCCD_L_WR = 4,
                     .tCCD_L_WR2 = 4,
                     .tRTW = 15,
                     .tWTR_S = 7,
                     .tWTR_L = 15,
                     .tRRD_S = 4,
                     .tRRD_L = 4,
                     .tFAW = 16,
                     .tPPD = 2,
                     .tCS = 2,
                     .tRFC = 299,
                     .tREFI = 4166,
                     .tRFC_SB = 150,
                     .tREFI_SB = 520,
                     .tREFSB_ACT = 8,
                     .tXP = 8,
                     .tPD = 8},
          .refresh_set = RefreshSet::kTwoBanks,
          .usual_refresh = DramRefreshScope::kSet,
          .two_cycle_commands = TwoCycleCommands::kSplitActivate},
      DramDevice{
          .name = "LPDDR5X-9600",
          .standard = DramStandard::kLpddr5,
          .source =
              "JESD209-5C, bank-group mode, WCK to CK 4:1, BL16; times of gem5 (RCD 18, RP 18, RAS 42, "
              "WR 34, WTR 6.25 and 12, RTP 7.5 ns and two clocks) and refresh of 16 Gb x16 (JESD209-5B, "
              "Table 235) in clocks of 1200 MHz; RRD 3.75 and FAW 15 ns are estimates",
          .clock = megahertz(1200),
          .organisation = kLpddr5x16,
          .timing = {.CL = 26,
                     .CWL = 14,
                     .tRCD = 22,
                     .tRCD_WR = 22,
                     .tRP = 22,
                     .tRAS = 51,
                     .tRTP = 11,
                     .tWR = 41,
                     .tCCD_S = 2,
                     .tCCD_L = 4,
                     .tCCD_L_WR = 4,
                     .tCCD_L_WR2 = 4,
                     .tRTW = 16,
                     .tWTR_S = 8,
                     .tWTR_L = 17,
                     .tRRD_S = 5,
                     .tRRD_L = 5,
                     .tFAW = 18,
                     .tPPD = 2,
                     .tCS = 2,
                     .tRFC = 336,
                     .tREFI = 4687,
                     .tRFC_SB = 168,
                     .tREFI_SB = 585,
                     .tREFSB_ACT = 9,
                     .tXP = 9,
                     .tPD = 9},
          .refresh_set = RefreshSet::kTwoBanks,
          .usual_refresh = DramRefreshScope::kSet,
          .two_cycle_commands = TwoCycleCommands::kSplitActivate},
  };
  return kPresets;
}

}  // namespace cxloom
