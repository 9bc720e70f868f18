// Presets of LPDDR6.
#include <array>

#include "memory/dram/device/presets.hpp"

namespace cxloom {

std::span<const DramDevice> lpddr6_presets() {
  static const std::array kPresets{
      DramDevice{
          .name = "LPDDR6-10667",
          .standard = DramStandard::kLpddr6,
          .source =
              "JESD209-6, Tables 269-272 (BL48), 302 (refresh by density of two sub-channels), 381-391 (bank "
              "groups, turns), 414 and 415 (core timing, tACU), as quoted by Ramulator 2; 16 Gb x12 a "
              "sub-channel, BL24; times after a write count from the end of BL/n_max, six clocks later; the "
              "turn from reads to writes is that of one bank group; tRFCpb, tREFSB_ACT, tXP and tPD are "
              "estimates, the nanoseconds of LPDDR5 of the same tRFC",
          .clock = Rate::per_time(8000, 3'000'000),
          // A device of 24 pins is two sub-channels with a command bus each. A burst is 288 bits: 256 of
          // payload.
          .organisation = {.sub_channels = 2,
                           .width = 12,
                           .device_width = 12,
                           .density = 16,
                           .ranks = 1,
                           .bank_groups = 4,
                           .banks = 4,
                           .rows = 1U << 16U,
                           .columns = 1536,  // 64 bursts: 2 KiB of payload
                           .burst_length = 24,
                           .burst_clocks = 6,
                           .metadata = true},
          .timing = {.CL = 56,
                     .CWL = 26,
                     .tRCD = 48,
                     .tRCD_WR = 22,
                     .tRP = 107,  // tACU 22 ns, in which the activates of a row are counted, and 18 ns
                     .tRAS = 54,  // 20 ns
                     .tRTP = 14,
                     .tWR = 38,  // 32 from BL/n_max
                     .tCCD_S = 6,
                     .tCCD_L = 10,
                     .tCCD_L_WR = 10,
                     .tCCD_L_WR2 = 10,
                     .tRTW = 47,  // 41 in another bank group
                     .tWTR_S = 17,
                     .tWTR_L = 38,  // 32 from BL/n_max
                     .tRRD_S = 10,
                     .tRRD_L = 10,
                     .tFAW = 40,
                     .tPPD = 4,
                     .tCS = 2,
                     .tRFC = 1014,
                     .tREFI = 10416,  // 380 ns (32 Gb in two sub-channels), 3.906 us
                     .tRFC_SB = 507,
                     .tREFI_SB = 1302,  // 190 ns; tREFI over eight pairs of banks
                     .tREFSB_ACT = 20,  // 7.5 ns
                     .tXP = 19,
                     .tPD = 19},  // 7 ns
          .refresh_set = RefreshSet::kTwoBanks,
          .usual_refresh = DramRefreshScope::kSet,
          .two_cycle_commands = TwoCycleCommands::kEvery},
  };
  return kPresets;
}

}  // namespace cxloom
