#include "memory/dram/controller/timing_params.hpp"

#include <array>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/schema.hpp"

namespace cxloom {

namespace {

/// What a value must be there for: others would be taken without a word, and change nothing. Where refresh is
/// off, as it may be for a comparison, or of a plug-in, values of either scope are left alone.
enum class Use : std::uint8_t { kAlways, kAllBank, kSameBank, kRanks, kPowerDown, kStack };

bool in_use(Use use, const DramConfig& config) {
  switch (use) {
    case Use::kAlways: return true;
    case Use::kAllBank: return config.refresh_scope != DramRefreshScope::kSet;
    case Use::kSameBank: return config.refresh_scope != DramRefreshScope::kRank;
    case Use::kRanks: return config.device.organisation.ranks > 1;
    case Use::kPowerDown: return config.power_down.has_value();
    case Use::kStack: return config.device.organisation.stack > 1;
  }
  return true;
}

std::string_view needs(Use use) {
  constexpr std::string_view kNeeds[] = {"",
                                         "refresh: all-bank",
                                         "refresh: same-bank",
                                         "ranks: 2 or more",
                                         "a time for power_down",
                                         "stack: 2 or more"};
  return kNeeds[static_cast<std::size_t>(use)];
}

struct TimingRow {
  std::string_view name;
  std::optional<std::uint32_t> DramTimingParams::* given;
  Clock DramTiming::* value;
  std::string_view doc;
  Use use = Use::kAlways;
};

using P = DramTimingParams;
using T = DramTiming;
constexpr std::array kTimings{
    TimingRow{"CL", &P::CL, &T::CL, "Read command to its first data."},
    TimingRow{"CWL", &P::CWL, &T::CWL, "Write command to its first data."},
    TimingRow{"tRCD", &P::tRCD, &T::tRCD, "Activate to read."},
    TimingRow{"tRCD_WR", &P::tRCD_WR, &T::tRCD_WR, "Activate to write."},
    TimingRow{"tRP", &P::tRP, &T::tRP, "Precharge to activate."},
    TimingRow{"tRAS", &P::tRAS, &T::tRAS, "Activate to precharge."},
    TimingRow{"tRTP", &P::tRTP, &T::tRTP, "Read to precharge."},
    TimingRow{"tWR", &P::tWR, &T::tWR, "End of write data to precharge."},
    TimingRow{"tCCD_S", &P::tCCD_S, &T::tCCD_S, "Read to read, or write to write, in different bank groups."},
    TimingRow{"tCCD_L", &P::tCCD_L, &T::tCCD_L, "Read to read in one bank group."},
    TimingRow{
        "tCCD_L_WR", &P::tCCD_L_WR, &T::tCCD_L_WR,
        "Write to write in one bank group if the second needs a read-modify-write for the ECC of the device: "
        "one that does not fill its burst, and any write to devices of 4 bits with bursts of 16 (DDR5)."},
    TimingRow{"tCCD_L_WR2", &P::tCCD_L_WR2, &T::tCCD_L_WR2,
              "Write to write in one bank group if the second needs no read-modify-write."},
    TimingRow{"tCCD_M", &P::tCCD_M, &T::tCCD_M,
              "Read to read in different banks of one bank group, where tCCD_L holds in a bank alone; 0: "
              "tCCD_L holds in the whole group."},
    TimingRow{
        "tCCD_M_WR", &P::tCCD_M_WR, &T::tCCD_M_WR,
        "tCCD_L_WR in different banks of one bank group, where tCCD_L_WR holds in a bank alone; 0: it holds "
        "in the whole group."},
    TimingRow{
        "tCCD_M_WR2", &P::tCCD_M_WR2, &T::tCCD_M_WR2,
        "tCCD_L_WR2 in different banks of one bank group, where tCCD_L_WR2 holds in a bank alone; 0: it "
        "holds in the whole group."},
    TimingRow{"tRTW", &P::tRTW, &T::tRTW, "Read to write in one rank."},
    TimingRow{"tWTR_S", &P::tWTR_S, &T::tWTR_S,
              "End of write data to read in another bank group of the rank."},
    TimingRow{"tWTR_L", &P::tWTR_L, &T::tWTR_L, "End of write data to read in the same bank group."},
    TimingRow{"tWTR_M", &P::tWTR_M, &T::tWTR_M,
              "End of write data to read in another bank of the same bank group, where tWTR_L holds in a "
              "bank alone; 0: tWTR_L holds in the whole group."},
    TimingRow{"tRRD_S", &P::tRRD_S, &T::tRRD_S, "Activate to activate in different bank groups."},
    TimingRow{"tRRD_L", &P::tRRD_L, &T::tRRD_L, "Activate to activate in one bank group."},
    TimingRow{"tFAW", &P::tFAW, &T::tFAW, "Window that holds no more than four activates of a rank."},
    TimingRow{"tPPD", &P::tPPD, &T::tPPD, "Precharge to precharge of a rank."},
    TimingRow{"tCS", &P::tCS, &T::tCS, "Idle clocks of the data bus between bursts of different ranks.",
              Use::kRanks},
    TimingRow{"tRFC", &P::tRFC, &T::tRFC, "All-bank refresh to the next activate of the rank.",
              Use::kAllBank},
    TimingRow{"tREFI", &P::tREFI, &T::tREFI, "Between all-bank refreshes, on average.", Use::kAllBank},
    TimingRow{
        "tRFC_SB", &P::tRFC_SB, &T::tRFC_SB,
        "Same-bank refresh (LPDDR5, HBM: per-bank) to the next activate of the banks that it refreshes.",
        Use::kSameBank},
    TimingRow{"tREFI_SB", &P::tREFI_SB, &T::tREFI_SB, "Between same-bank refreshes of a rank, on average.",
              Use::kSameBank},
    TimingRow{"tREFSB_ACT", &P::tREFSB_ACT, &T::tREFSB_ACT, "Same-bank refresh to activate in other banks.",
              Use::kSameBank},
    TimingRow{"tXP", &P::tXP, &T::tXP, "Exit of power-down to any command.", Use::kPowerDown},
    TimingRow{"tPD", &P::tPD, &T::tPD, "Shortest stay in power-down.", Use::kPowerDown},
    TimingRow{"tCCD_DLR", &P::tCCD_DLR, &T::tCCD_DLR,
              "Read to read, or write to write, in different dies of a stack.", Use::kStack},
    TimingRow{"tCCD_R", &P::tCCD_R, &T::tCCD_R,
              "Read to read in different dies of a stack (HBM: different stack ids), where it is not "
              "tCCD_DLR; 0: it is.",
              Use::kStack},
    TimingRow{"tRRD_DLR", &P::tRRD_DLR, &T::tRRD_DLR, "Activate to activate in different dies of a stack.",
              Use::kStack},
    TimingRow{"tFAW_DLR", &P::tFAW_DLR, &T::tFAW_DLR,
              "Window that holds no more than four activates of a stack.", Use::kStack},
    TimingRow{"tRFC_DLR", &P::tRFC_DLR, &T::tRFC_DLR, "All-bank refresh to that of another die of the stack.",
              Use::kStack},
    TimingRow{"tRFC_SB_DLR", &P::tRFC_SB_DLR, &T::tRFC_SB_DLR,
              "Same-bank refresh to that of another die of the stack.", Use::kStack},
};

struct CurrentRow {
  std::string_view name;
  std::optional<double> DramCurrentParams::* given;
  double DramCurrents::* value;
  std::string_view doc;
  Use use = Use::kAlways;
};

using Q = DramCurrentParams;
using I = DramCurrents;
constexpr std::array kCurrents{
    CurrentRow{"VDD", &Q::VDD, &I::VDD,
               "Supply voltage, in volts. The currents need one, theirs or that of the `preset`."},
    CurrentRow{"IDD0", &Q::IDD0, &I::IDD0,
               "Activating and precharging one bank, a row each tRAS + tRP, in mA."},
    CurrentRow{"IDD2N", &Q::IDD2N, &I::IDD2N, "Standby with all banks precharged, in mA."},
    CurrentRow{"IDD2P", &Q::IDD2P, &I::IDD2P,
               "Power-down with all banks precharged, in mA. Only with `power_down`.", Use::kPowerDown},
    CurrentRow{"IDD3N", &Q::IDD3N, &I::IDD3N, "Standby with a row open, in mA."},
    CurrentRow{"IDD3P", &Q::IDD3P, &I::IDD3P, "Power-down with a row open, in mA. Only with `power_down`.",
               Use::kPowerDown},
    CurrentRow{"IDD4R", &Q::IDD4R, &I::IDD4R, "Reading without a pause, in mA."},
    CurrentRow{"IDD4W", &Q::IDD4W, &I::IDD4W, "Writing without a pause, in mA."},
    CurrentRow{"IDD5B", &Q::IDD5B, &I::IDD5B,
               "All-bank refreshes without a pause, in mA. Only with `refresh`: all-bank.", Use::kAllBank},
    CurrentRow{"IDD5SB", &Q::IDD5SB, &I::IDD5SB,
               "Same-bank refreshes without a pause, in mA. Only with `refresh`: same-bank.", Use::kSameBank},
};

}  // namespace

void DramTimingParams::describe(Schema<DramTimingParams>& schema) {
  schema.doc(
      "Timings that differ from the preset's, in whole clocks of the command clock (a data sheet's time / "
      "tCK, rounded up).");
  schema.field("tCK", &DramTimingParams::tCK)
      .min(Time{100})
      .default_text("that of the preset")
      .doc("Cycle of the command clock.");
  for (const TimingRow& row : kTimings) {
    schema.field(row.name, row.given).max(10'000'000).default_text("that of the preset").doc(row.doc);
  }
}

void DramCurrentParams::describe(Schema<DramCurrentParams>& schema) {
  schema.doc("Supply voltage and currents of one device that differ from the preset's.");
  for (const CurrentRow& row : kCurrents) {
    schema.field(row.name, row.given).min(0.0).max(100'000.0).default_text("that of the preset").doc(row.doc);
  }
}

void override_timing(DramDevice& device, const DramTimingParams& timing, const DramCurrentParams& currents) {
  if (timing.tCK) device.clock = Rate::per_time(1, static_cast<std::uint64_t>(timing.tCK->ps()));
  for (const TimingRow& row : kTimings) {
    if (const auto& given = timing.*row.given) device.timing.*row.value = *given;
  }
  for (const CurrentRow& row : kCurrents) {
    if (const auto& given = currents.*row.given) device.currents.*row.value = *given;
  }
}

void refuse_unused(const std::string& key, std::string_view allowed) {
  const std::string name = key.substr(key.rfind('.') + 1);
  throw InputError({"'" + name + "' has no effect",
                    {},
                    "no such key, or " + std::string(allowed),
                    {},
                    InputError::Kind::kNoEffect},
                   key);
}

void check_use(const DramTimingParams& timing, const DramCurrentParams& currents, const DramConfig& config) {
  for (const TimingRow& row : kTimings) {
    if (timing.*row.given && !in_use(row.use, config))
      refuse_unused("timing." + std::string(row.name), needs(row.use));
  }
  for (const CurrentRow& row : kCurrents) {
    if (!(currents.*row.given)) continue;
    const std::string key = "currents." + std::string(row.name);
    if (!in_use(row.use, config)) refuse_unused(key, needs(row.use));
    if (config.device.currents.VDD == 0) refuse_unused(key, "currents.VDD, which the preset lacks");
  }
}

void check_timing(const DramConfig& config) {
  const DramTiming& t = config.device.timing;
  const Clock burst = config.device.organisation.burst_clocks;
  const auto text = [](std::string_view name, Clock value) {
    return std::string(name) + " = " + std::to_string(value);
  };
  const auto refuse = [](const std::string& problem, const std::string& found, const std::string& allowed) {
    throw InputError({problem, found, allowed, {}}, "timing");
  };
  const auto at_least = [&](std::string_view a, Clock left, std::string_view b, Clock right) {
    if (left < right) {
      refuse("timings contradict each other: " + std::string(a) + " is less than " + std::string(b),
             text(a, left) + ", " + text(b, right), std::string(a) + " at least " + std::to_string(right));
    }
  };
  at_least("tCCD_S", t.tCCD_S, "the clocks of a burst", burst);
  at_least("tCCD_L", t.tCCD_L, "tCCD_S", t.tCCD_S);
  at_least("tCCD_L_WR2", t.tCCD_L_WR2, "tCCD_S", t.tCCD_S);
  at_least("tCCD_L_WR", t.tCCD_L_WR, "tCCD_L_WR2", t.tCCD_L_WR2);
  // A time with M stands between those with S and L. Where it is 0 there is none.
  const auto between = [&](std::string_view name, Clock m, std::string_view s, Clock least,
                           std::string_view l, Clock most) {
    if (m == 0) return;
    at_least(name, m, s, least);
    at_least(l, most, name, m);
  };
  between("tCCD_M", t.tCCD_M, "tCCD_S", t.tCCD_S, "tCCD_L", t.tCCD_L);
  between("tCCD_M_WR", t.tCCD_M_WR, "tCCD_S", t.tCCD_S, "tCCD_L_WR", t.tCCD_L_WR);
  between("tCCD_M_WR2", t.tCCD_M_WR2, "tCCD_S", t.tCCD_S, "tCCD_L_WR2", t.tCCD_L_WR2);
  if (t.tCCD_M_WR != 0) at_least("tCCD_M_WR", t.tCCD_M_WR, "tCCD_M_WR2", t.tCCD_M_WR2);
  between("tWTR_M", t.tWTR_M, "tWTR_S", t.tWTR_S, "tWTR_L", t.tWTR_L);
  at_least("tRRD_L", t.tRRD_L, "tRRD_S", t.tRRD_S);
  at_least("tFAW", t.tFAW, "tRRD_S", t.tRRD_S);
  at_least("tWTR_L", t.tWTR_L, "tWTR_S", t.tWTR_S);
  const Clock stack = config.device.organisation.stack;
  if (stack > 1) at_least("tCCD_DLR", t.tCCD_DLR, "tCCD_S", t.tCCD_S);
  if (stack > 1 && t.tCCD_R != 0) at_least("tCCD_R", t.tCCD_R, "tCCD_S", t.tCCD_S);
  at_least("tRAS", t.tRAS, "tRCD", t.tRCD);
  at_least("CL + the clocks of a burst", t.CL + burst, "CWL", t.CWL);
  at_least("CWL + tRTW", t.CWL + t.tRTW, "CL + the clocks of a burst", t.CL + burst);
  if (config.refresh_scope == DramRefreshScope::kRank) {
    at_least("tREFI", t.tREFI, "tRFC + tRP + tRAS + 1", t.tRFC + t.tRP + t.tRAS + 1);
    at_least("tREFI", t.tREFI, "tRFC_DLR for each die of a stack", stack * t.tRFC_DLR);
  }
  if (config.refresh_scope == DramRefreshScope::kSet &&
      config.device.refreshes(DramRefreshScope::kSet)) {  // otherwise its policy refuses
    at_least("tREFI_SB", t.tREFI_SB, "tRFC_SB + 1", t.tRFC_SB + 1);
    at_least("tREFI_SB", t.tREFI_SB, "tRFC_SB_DLR for each die of a stack", stack * t.tRFC_SB_DLR);
  }
}

}  // namespace cxloom
