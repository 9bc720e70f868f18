#include "memory/dram/controller/row_hammer_params.hpp"

#include <bit>
#include <string>

#include "base/error.hpp"
#include "base/schema.hpp"
#include "memory/dram/controller/timing_params.hpp"
#include "memory/dram/device/clock.hpp"

namespace cxloom {

namespace {

// JESD79-5C v1.30, Table 343, as quoted by Ramulator 2, in picoseconds. tRC, 52 ns, is tRAS and tRP.
struct CountedTime {
  Clock DramTiming::* time;
  std::int64_t ps;
};
constexpr CountedTime kCounted[] = {{&DramTiming::tRP, 36'000},
                                    {&DramTiming::tRAS, 16'000},
                                    {&DramTiming::tRTP, 5'000},
                                    {&DramTiming::tWR, 10'000}};

// JESD79-5C v1.30, Table 347, as quoted by Ramulator 2: at most so long normal commands go on after an alert,
// and so long a command of management takes then: (2 x BRC + 1) x tRRFab, BRC 2, tRRFab 70 ns.
constexpr Time kAlertWindow{180'000};
constexpr Time kAlertManagement{350'000};

// As many as JESD79-5 allows at least (RAAMMT of 3 to 6 RAAIMT), recalled.
constexpr std::uint32_t kMostOfRaaimt = 3;

[[noreturn]] void refuse_standard(const DramDevice& device, const std::string& what, const char* allowed,
                                  const char* parameter) {
  throw InputError({"the standard of '" + std::string(device.name) + "' has no " + what, {}, allowed, {}},
                   parameter);
}

bool of_ddr5(const DramDevice& device) {
  return device.standard == DramStandard::kDdr5 || device.standard == DramStandard::kMrdimm;
}

}  // namespace

void DramRowHammerParams::describe(Schema<DramRowHammerParams>& schema) {
  schema.doc(
      "What is done against rows that are opened so often that their neighbours lose data: counts of each "
      "row in the device (PRAC) with alerts, and refresh management (RFM).");
  schema.field("prac", &DramRowHammerParams::prac)
      .doc(
          "Whether the devices count the activates of each row, while they close it: tRP is 36 ns, tRAS 16, "
          "tRTP 5 and tWR 10. Of DDR5 and MRDIMM; that of LPDDR6 is in its times.")
      .source("JESD79-5C v1.30, Table 343, as quoted by Ramulator 2; optional there");
  schema.field("alert_at", &DramRowHammerParams::alert_at)
      .min(1)
      .max(100'000'000)
      .default_text("no row alerts")
      .doc(
          "Activates of a row at which its device alerts: after 180 ns the rank gets `alert_commands` of "
          "refresh management, of 350 ns each, which begin the count of the row of each bank anew that has "
          "had the most. Needs `prac`.")
      .source(
          "JESD79-5C v1.30, Table 347, as quoted by Ramulator 2; one row of each bank: MOAT, ASPLOS 2025");
  schema.field("alert_commands", &DramRowHammerParams::alert_commands)
      .min(1)
      .max(4)
      .where([](const std::uint32_t& n) { return std::has_single_bit(n); }, "a power of two")
      .default_text("1")
      .doc(
          "Commands of refresh management after an alert, and activates before the next alert. Needs "
          "`alert_at`.")
      .source("JESD79-5C v1.30, as quoted by Ramulator 2");
  schema.field("raaimt", &DramRowHammerParams::raaimt)
      .min(1)
      .max(1'000'000)
      .default_text("no refresh management")
      .doc(
          "Activates of a bank that one command of refresh management makes up for, and its refreshes in "
          "tREFI. Such a command takes what a refresh takes, as long: a rank, or a set of banks.")
      .source("JESD79-5, recalled: 32 to 80. No processor of Intel or AMD sends any (McSee)");
  schema.field("raammt", &DramRowHammerParams::raammt)
      .min(1)
      .max(10'000'000)
      .default_text("3 x raaimt")
      .doc("Activates of a bank at which it gets one. Until then it is put off. Needs `raaimt`.")
      .source("JESD79-5, recalled: 3 to 6 times RAAIMT");
  schema.rule(
      "raammt is at least raaimt",
      [](const DramRowHammerParams& params) {
        return !params.raaimt || !params.raammt || *params.raaimt <= *params.raammt;
      },
      "raammt");
}

// Rounded as JESD79-5 does: 0.3 % less, and up. A module whose clock is a multiple of its chips' has the
// clocks of these.
void count_activates(DramDevice& preset) {
  if (!of_ddr5(preset)) {
    const bool always = preset.standard == DramStandard::kLpddr6;
    refuse_standard(preset, always ? "counts of each row that could be off" : "per-row activation counting",
                    always ? "no such key: the times of the preset hold them"
                           : "no such key, or a preset of DDR5 or MRDIMM",
                    "row_hammer.prac");
  }
  const auto several = static_cast<Clock>(preset.organisation.pseudo_channels);
  const auto numerator = static_cast<std::int64_t>(preset.clock.numerator());
  const auto denominator = static_cast<std::int64_t>(preset.clock.denominator());
  for (const CountedTime& counted : kCounted) {
    const Clock of_chips = counted.ps * 997 * denominator / (1000 * numerator * several) + 1;
    preset.timing.*counted.time = of_chips * several;
  }
}

DramManagement management_of(const DramRowHammerParams& params, const DramDevice& device) {
  DramManagement management;
  if (params.alert_at) {
    if (!params.prac) refuse_unused("row_hammer.alert_at", "prac: true");
    const DramClock clock(device.clock);
    management.alert_at = *params.alert_at;
    management.alert_commands = params.alert_commands.value_or(1);
    management.alert_window = clock.edge_at(kAlertWindow);
    management.alert_clocks = clock.edge_at(kAlertManagement);
  } else if (params.alert_commands) {
    refuse_unused("row_hammer.alert_commands", "alert_at");
  }
  if (params.raaimt) {
    const bool has = of_ddr5(device) || device.standard == DramStandard::kLpddr5 ||
                     device.standard == DramStandard::kLpddr6;
    if (!has) {
      refuse_standard(device, "refresh management", "no such key, or a preset of DDR5, MRDIMM or LPDDR5",
                      "row_hammer.raaimt");
    }
    management.raaimt = *params.raaimt;
    management.raammt = params.raammt.value_or(kMostOfRaaimt * *params.raaimt);
  } else if (params.raammt) {
    refuse_unused("row_hammer.raammt", "raaimt");
  }
  return management;
}

}  // namespace cxloom
