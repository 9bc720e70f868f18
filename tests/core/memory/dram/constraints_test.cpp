// No constraint between commands is ever violated: random traffic over random configurations, every command
// checked. CXLOOM_DRAM_COMMANDS sets how many commands are checked in all (make dram-check: a hundred
// million).
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/dram_bench.hpp"
#include "core/support/dram_checker.hpp"

namespace cxloom {
namespace {

using test::DramBench;
using test::DramCheckers;

std::uint64_t commands_wanted() {
  const char* const text = std::getenv("CXLOOM_DRAM_COMMANDS");
  return text ? std::strtoull(text, nullptr, 10) : 600'000;
}

DramParams random_params(const DramDevice& device, RandomStream& random) {
  DramParams params = DramBench::preset(std::string(device.name));
  params.channels = random.chance(0.3) ? 2 : 1;
  params.ranks = 1U << random.below(3);
  const bool others = device.standard != DramStandard::kNone && device.standard != DramStandard::kDdr3;
  if (others && random.chance(0.5)) {
    const bool wide = device.standard == DramStandard::kLpddr5 || device.standard == DramStandard::kLpddr6 ||
                      device.standard == DramStandard::kMrdimm;  // none of which are stacked
    params.device_width = device.organisation.device_width;
    if (!wide) params.device_width = 4U << random.below(3);
    params.density = 8U << random.below(2);
    if (device.standard == DramStandard::kDdr5 && random.chance(0.3)) params.density = 24;
    if (!wide && random.chance(0.5)) params.stack = 2U << random.below(2);
  }
  const char* const mappings[] = {"rochrababgco", "robarabgcoch", "rocorababgch"};
  if (random.chance(0.6) && params.density != 24) params.mapping = mappings[random.below(3)];
  params.bank_hash = static_cast<BankHash>(random.below(3));
  const char* const policies[] = {"open", "closed", "adaptive", "timeout"};
  params.row_policy.kind = policies[random.below(4)];
  const std::string timeout = std::to_string(random.below(400'000)) + "ps";
  if (params.row_policy.kind == "timeout") params.row_policy.params.set("after", timeout);
  const char* const schedulers[] = {"fr-fcfs", "fr-fcfs", "fcfs", "bliss"};
  params.scheduler.kind = schedulers[random.below(4)];
  if (params.scheduler.kind != "fcfs")
    params.scheduler.params.set("age_cap", std::to_string(random.below(2'000'000)) + "ps");
  params.read_queue = static_cast<std::uint32_t>(1 + random.below(80));
  params.write_queue = static_cast<std::uint32_t>(1 + random.below(80));
  params.posted_writes = random.chance(0.7);
  const char* const refreshes[] = {"all-bank", "off", "usual", "same-bank"};
  params.refresh.kind = refreshes[random.below(device.timing.tREFI_SB != 0 ? 4 : 3)];
  if (params.refresh.kind != "off" && random.chance(0.5))
    params.refresh_postpone = static_cast<std::uint32_t>(random.below(9));
  if (random.chance(0.4)) params.power_down = Time{static_cast<std::int64_t>(random.below(500'000))};
  const bool ddr5 = device.standard == DramStandard::kDdr5 || device.standard == DramStandard::kMrdimm;
  if (ddr5 && random.chance(0.4)) {
    params.row_hammer.prac = random.chance(0.5);
    params.row_hammer.raaimt = static_cast<std::uint32_t>(1 + random.below(20));
    if (params.row_hammer.prac) params.row_hammer.alert_at = static_cast<std::uint32_t>(1 + random.below(8));
  }
  const TwoCycleCommands two_cycle[] = {TwoCycleCommands::kNone, TwoCycleCommands::kActivate,
                                        TwoCycleCommands::kSplitActivate, TwoCycleCommands::kAll,
                                        TwoCycleCommands::kEvery};
  if (random.chance(0.3)) params.two_cycle_commands = two_cycle[random.below(5)];
  return params;
}

/// Bursts of accesses with pauses between them, to few or many rows, of all sizes; returns the commands
/// checked.
std::uint64_t drive(DramBench& bench, DramCheckers& checkers, RandomStream& random, std::uint64_t accesses) {
  bench.watch(&checkers);
  const std::uint64_t span = 1ULL << (12 + random.below(18));
  const double reads = static_cast<double>(random.below(5)) / 4;
  const double sequential = random.chance(0.5) ? 0.8 : 0.1;
  const std::uint64_t pace = 1 + random.below(60'000);
  const std::int64_t ahead = random.chance(0.8) ? 40'000 : 3'000'000;  // told so long before it comes
  std::uint64_t address = 0;
  Time now;
  Time ready;
  for (std::uint64_t i = 0; i < accesses; ++i) {
    now += Time{static_cast<std::int64_t>(random.below(random.chance(0.01) ? 40'000'000 : pace))};
    bench.run(now);
    address = random.chance(sequential) ? (address + 64) % span : random.below(span / 64) * 64;
    test::DramAccess access{address, !random.chance(reads), 64,
                            NodeId{static_cast<std::uint32_t>(i / 3 % 3)}};
    if (random.chance(0.05)) {
      access.size = static_cast<std::uint16_t>(1 + random.below(300));
      access.address += random.below(64);
    }
    ready = std::max(ready, now + Time{random.chance(0.5) ? ahead : 0});
    bench.access(access, ready);
  }
  bench.run();
  for (const Time done : bench.done_at) EXPECT_GE(done, Time{}) << "an access was never answered";
  return checkers.count();
}

TEST(DramConstraints, HoldForRandomTrafficOverRandomConfigurations) {
  std::uint64_t checked = 0;
  for (std::uint64_t seed = 0; checked < commands_wanted(); ++seed) {
    RandomStream random(seed, "dram", "constraints");
    const auto presets = dram_presets();
    const DramDevice& device = presets[random.below(presets.size())];
    const DramParams params = random_params(device, random);
    DramBench bench(params);
    DramCheckers checkers(bench.config());
    checked += drive(bench, checkers, random, 2000 + random.below(4000));
    ASSERT_EQ(checkers.report(), "") << device.name << ", seed " << seed;
    ASSERT_FALSE(testing::Test::HasFailure()) << device.name << ", seed " << seed;
  }
}

// The other way round: each constraint binds somewhere, so that a checker that wants one clock more finds
// violations. This shows that the checker sees, and that the controller wastes no clock.
TEST(DramConstraints, BindToTheClock) {
  struct Bound {
    const char* name;
    Clock DramTiming::* value;
    const char* preset = "DDR5-4800";
  };
  const std::vector<Bound> bounds{{"tRCD", &DramTiming::tRCD},
                                  {"tRCD_WR", &DramTiming::tRCD_WR},
                                  {"tRP", &DramTiming::tRP},
                                  {"tRAS", &DramTiming::tRAS},
                                  {"tRTP", &DramTiming::tRTP},
                                  {"tWR", &DramTiming::tWR},
                                  {"tCCD_S", &DramTiming::tCCD_S},
                                  {"tCCD_L", &DramTiming::tCCD_L},
                                  {"tCCD_L_WR", &DramTiming::tCCD_L_WR},
                                  {"tCCD_L_WR2", &DramTiming::tCCD_L_WR2},
                                  {"tCCD_M", &DramTiming::tCCD_M, "DDR5-8000"},
                                  {"tCCD_M_WR", &DramTiming::tCCD_M_WR, "DDR5-8000"},
                                  {"tCCD_M_WR2", &DramTiming::tCCD_M_WR2, "DDR5-8000"},
                                  {"tWTR_M", &DramTiming::tWTR_M, "DDR5-8000"},
                                  {"tCCD_L of a bank", &DramTiming::tCCD_L, "DDR5-8000"},
                                  {"tCCD_L_WR of a bank", &DramTiming::tCCD_L_WR, "DDR5-8000"},
                                  {"tCCD_L_WR2 of a bank", &DramTiming::tCCD_L_WR2, "DDR5-8000"},
                                  {"tWTR_L of a bank", &DramTiming::tWTR_L, "DDR5-8000"},
                                  {"tRTW", &DramTiming::tRTW},
                                  {"tWTR_S", &DramTiming::tWTR_S},
                                  {"tWTR_L", &DramTiming::tWTR_L},
                                  {"tRRD_S", &DramTiming::tRRD_S},
                                  {"tRRD_L", &DramTiming::tRRD_L},
                                  {"tFAW", &DramTiming::tFAW},
                                  {"tPPD", &DramTiming::tPPD},
                                  {"tCS", &DramTiming::tCS},
                                  {"tRFC_SB", &DramTiming::tRFC_SB},
                                  {"tREFSB_ACT", &DramTiming::tREFSB_ACT},
                                  {"tXP", &DramTiming::tXP},
                                  {"tCCD_DLR", &DramTiming::tCCD_DLR},
                                  {"tRRD_DLR", &DramTiming::tRRD_DLR},
                                  {"tFAW_DLR", &DramTiming::tFAW_DLR},
                                  {"tCCD_R", &DramTiming::tCCD_R, "HBM3E-9600"},
                                  {"tRFC_DLR", &DramTiming::tRFC_DLR},
                                  {"tRFC_SB_DLR", &DramTiming::tRFC_SB_DLR}};
  for (const Bound& bound : bounds) {
    bool found = false;
    for (std::uint64_t seed = 0; seed < 40 && !found; ++seed) {
      RandomStream random(seed, "dram", "tight");
      DramParams params = DramBench::preset(bound.preset);
      params.ranks = 2;
      params.two_cycle_commands = TwoCycleCommands::kNone;
      if (bound.value == &DramTiming::tXP) params.power_down = Time{50'000};
      const std::string name = bound.name;
      if (name.ends_with("_DLR")) params.stack = 4;
      if (bound.value == &DramTiming::tRFC_DLR || bound.value == &DramTiming::tRFC_SB_DLR) {
        params.ranks = 1;  // refreshes that come as close to each other as they may
        params.refresh_postpone = 8;
        params.refresh.kind = bound.value == &DramTiming::tRFC_DLR ? "all-bank" : "same-bank";
      }
      if (bound.value == &DramTiming::tRRD_S)
        params.timing.tFAW = 24;  // otherwise four activates take longer
      DramBench bench(params);
      DramTiming timing = bench.config().device.timing;
      timing.*bound.value += 1;
      DramCheckers checkers(bench.config(), timing);
      drive(bench, checkers, random, 3000);
      found = !checkers.report().empty();
    }
    EXPECT_TRUE(found) << bound.name << " never binds";
  }
}

}  // namespace
}  // namespace cxloom
