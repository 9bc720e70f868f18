// Presets of LPDDR5.
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
  };
  return kPresets;
}

}  // namespace cxloom
