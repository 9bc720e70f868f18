// What is done against rows that are opened too often, and what it costs: counts of rows in the device
// (PRAC), alerts, and refresh management (RFM).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/support/dram_bench.hpp"
#include "core/support/dram_checker.hpp"
#include "core/support/errors.hpp"
#include "memory/dram/device/clock.hpp"

namespace cxloom {
namespace {

using test::DramBench;
using test::DramPattern;
using test::DramRun;
using test::input_error;

DramParams without_managing(const std::string& preset = "DDR5-6400") {
  DramParams params = DramBench::preset(preset);
  params.refresh.kind = "all-bank";
  params.read_queue = 256;
  return params;
}

DramParams counting(const std::string& preset = "DDR5-6400") {
  DramParams params = without_managing(preset);
  params.row_hammer.prac = true;
  return params;
}

DramParams managing(std::uint32_t raaimt) {
  DramParams params = without_managing();
  params.row_hammer.raaimt = raaimt;
  return params;
}

DramRun at_random(const DramParams& params, std::uint64_t count = 60'000) {
  DramBench bench(params);
  return bench.closed_loop(DramPattern("rand_r", 1ULL << 30U), count, 512 * bench.config().sub_channels);
}

struct RowLog final : DramCommandLog {
  void command(std::uint32_t sub_channel, const DramCommandRecord& record) override {
    if (sub_channel == 0) all.push_back(record);
  }
  std::vector<DramCommandRecord> all;
};

RowLog logged(const DramParams& params, std::uint64_t count = 4000) {
  DramBench bench(params);
  RowLog log;
  bench.watch(&log);
  bench.closed_loop(DramPattern("rand_mix21", 1ULL << 26U), count, 64);
  return log;
}

// --- counts of rows --------------------------------------------------------------------------------------

TEST(DramRowHammer, CountsOfRowsChangeFourTimes) {
  const DramTiming t = resolve(counting(), {}).device.timing;
  const DramTiming own = resolve(without_managing(), {}).device.timing;
  EXPECT_EQ(t.tRP, 115);
  EXPECT_EQ(t.tRAS, 52);
  EXPECT_EQ(t.tRTP, 16);
  EXPECT_EQ(t.tWR, 32);
  EXPECT_EQ(t.tRCD, own.tRCD);
  EXPECT_EQ(t.CL, own.CL);
  // Those of a module's chips, in its clocks.
  const DramTiming module = resolve(counting("MRDIMM-12800"), {}).device.timing;
  EXPECT_EQ(module.tRP, 230);
  EXPECT_EQ(module.tRAS, 104);
  DramParams written = counting();
  written.timing.tRP = 60;
  EXPECT_EQ(resolve(written, {}).device.timing.tRP, 60);
  for (const char* preset : {"DDR5-4400", "DDR5-4800", "DDR5-5600", "DDR5-7200", "DDR5-8000", "DDR5-8800"})
    EXPECT_NO_THROW(resolve(counting(preset), {})) << preset;
}

// A conflict waits 63 clocks longer to close a row, which are 19.7 ns; a hit and a closed bank as long as
// ever.
TEST(DramRowHammer, CountsOfRowsDelayAConflictAlone) {
  const auto latencies = [](DramParams params) {
    params.bank_hash = BankHash::kNone;
    params.refresh.kind = "off";
    DramBench bench(params);
    const std::uint64_t row = bench.config().capacity() / bench.config().device.organisation.rows;
    std::vector<std::size_t> accesses;
    for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{0}, row})
      accesses.push_back(
          bench.access({address, false}, Time{static_cast<std::int64_t>(accesses.size()) * 1'000'000}));
    bench.run();
    std::vector<double> found;
    for (const std::size_t access : accesses) found.push_back(bench.latency(access).ns());
    return found;
  };
  const std::vector<double> off = latencies(without_managing());
  const std::vector<double> on = latencies(counting());
  EXPECT_EQ(on[0], off[0]);
  EXPECT_EQ(on[1], off[1]);
  EXPECT_NEAR(on[2] - off[2], 63 / 3.2, 0.002);
}

// tRC is 167 clocks for 155. A bank that reads a line of each row takes 183: tRCD + tRTP, 68 clocks, are
// longer than tRAS now. So it carries 15 % less; many banks carry as much as before, as 64 B x 32 banks
// in 57.2 ns are 36 GB/s for the 25.6 of the pins.
TEST(DramRowHammer, CountsOfRowsCostOneBankFifteenPerCentAndManyNothing) {
  const auto one_bank = [](DramParams params) {
    params.bank_hash = BankHash::kNone;
    DramBench bench(params);
    const DramConfig& config = bench.config();
    const std::uint64_t row = config.capacity() / config.device.organisation.rows;
    for (std::uint64_t i = 0; i < 4000; ++i) bench.access({i * 7 % 4096 * row, false}, Time{});
    bench.run();
    return 4000 * 64.0 / bench.now().ns();
  };
  EXPECT_NEAR(one_bank(counting()) / one_bank(without_managing()), 155.0 / 183.0, 0.005);
  EXPECT_NEAR(at_random(counting()).gb_per_s / at_random(without_managing()).gb_per_s, 1.0, 0.01);
}

// --- refresh management ----------------------------------------------------------------------------------

// A bank has A = b x tREFI / (64 B x 32) activates in tREFI, where a sub-channel carries b. Refreshes take
// RAAIMT off them and each command as much, so that A / RAAIMT - 1 commands go out in tREFI, each of which
// takes m of it: with u = b / P, a = 48.75 activates at P and r = tRFC/tREFI, u = 1 - r - m (a u / RAAIMT -
// 1), or u = (1 - r + m) / (1 + m a / RAAIMT). m is tRFC/tREFI, and what the rows take to be closed and
// opened: less than 120 ns. Banks whose count a refresh takes below zero lose what is over, which costs half
// a per cent more.
TEST(DramRowHammer, ManagementCostsItsShareOfTimeAtSaturation) {
  constexpr double kShare = 944.0 / 12480;
  const auto form = [](double m, std::uint32_t raaimt) {
    return (1 - kShare + m) / (1 + m * 48.75 / raaimt);
  };
  EXPECT_NEAR(form(kShare, 32), 0.897, 0.001);
  const double off = at_random(without_managing()).gb_per_s / 51.2;
  EXPECT_NEAR(off / (1 - kShare), 0.99, 0.01);
  double before = 0;
  for (const std::uint32_t raaimt : {16U, 32U, 40U}) {
    // The same loss that there is without management.
    const double found = at_random(managing(raaimt)).gb_per_s / 51.2 * (1 - kShare) / off;
    EXPECT_LT(found, 1.003 * form(kShare, raaimt)) << raaimt;
    EXPECT_GT(found, 0.995 * form(kShare + 120.0 / 3900, raaimt)) << raaimt;
    EXPECT_GT(found, before);
    before = found;
  }
}

// Where refreshes take off what there is, nothing is sent, and nothing waits.
TEST(DramRowHammer, ManagementCostsNothingWhereRefreshesSuffice) {
  const auto paced = [](const DramParams& params) {
    DramBench bench(params);
    // A line each 12 ns: in tREFI 162 activates of 32 banks in each sub-channel.
    const DramRun run = bench.open_loop(DramPattern("rand_r", 1ULL << 30U), 20'000, Time{12'000});
    return run.read_ns;
  };
  EXPECT_EQ(paced(managing(32)), paced(without_managing()));
  DramBench bench(managing(32));
  bench.open_loop(DramPattern("rand_r", 1ULL << 30U), 20'000, Time{12'000});
  EXPECT_EQ(bench.measure("refresh_managements"), 0.0);
}

// Counted anew from the commands: no bank is opened that has had RAAMMT.
TEST(DramRowHammer, NoBankHasMoreActivatesThanItMay) {
  for (const char* refresh : {"all-bank", "same-bank", "off"}) {
    DramParams params = managing(8);
    params.row_hammer.raammt = 20;
    params.refresh.kind = refresh;
    const DramConfig config = resolve(params, {});
    const DramOrganisation& o = config.device.organisation;
    std::vector<std::uint32_t> counts(o.banks_in_rank());
    std::uint32_t most = 0;
    std::uint32_t managements = 0;
    const auto take = [&](std::uint32_t& count, std::uint32_t n) { count -= std::min(count, n); };
    for (const DramCommandRecord& record : logged(params, 20'000).all) {
      const bool managed =
          record.command == DramCommand::kManageAll || record.command == DramCommand::kManageSame;
      if (record.command == DramCommand::kActivate) {
        EXPECT_LT(counts[record.bank], 20U) << refresh;
        most = std::max(most, ++counts[record.bank]);
      } else if (record.command == DramCommand::kRefreshAll || record.command == DramCommand::kManageAll) {
        for (std::uint32_t& count : counts) take(count, 8);
      } else if (record.command == DramCommand::kRefreshSame || record.command == DramCommand::kManageSame) {
        for (std::uint32_t bank = record.bank; bank < counts.size(); bank += o.banks)
          take(counts[bank], managed ? 8 : 4);  // a set is refreshed twice in tREFI
      }
      managements += managed;
    }
    EXPECT_EQ(most, 20U) << refresh;
    EXPECT_GT(managements, 0U) << refresh;
  }
}

// --- alerts ----------------------------------------------------------------------------------------------

// Where each row alerts at its first activate, an alert comes N + 1 activates after the management of the
// last. In the time of N commands of 350 ns and the 180 ns before them nothing else fits but the activates,
// and the time to close the rows: so the stall is nearly 350 N / (180 + 350 N), which is 66, 80 and 89 % of
// time.
TEST(DramRowHammer, AlertsStallAsLongAsTheirManagementTakes) {
  const double off = at_random(counting()).gb_per_s;
  for (const std::uint32_t n : {1U, 2U, 4U}) {
    DramParams params = counting();
    params.row_hammer.alert_at = 1;
    params.row_hammer.alert_commands = n;
    DramBench bench(params);
    bench.open_window(Time{});
    const DramRun run = bench.closed_loop(DramPattern("rand_r", 1ULL << 30U), 20'000, 1024);
    bench.close_window(bench.now());
    const double alerts = bench.measure("row_alerts");
    const double managements = bench.measure("refresh_managements");
    EXPECT_GT(alerts, 100);
    EXPECT_NEAR(managements / alerts, n, 0.02);
    // Refreshes besides: 7.6 % of time.
    const double period = 2 * bench.now().ns() * (1 - 0.076) / alerts;  // of one of two sub-channels
    // N + 1 activates at 2.5 ns, and tRTP and tRP, or tRCD, CL and tRP, at the end.
    const double least = 180 + 350 * n + (n + 1) * 2.5;
    EXPECT_GT(period, least);
    EXPECT_LT(period, least + 75);
    EXPECT_LT(run.gb_per_s / off, 1 - 350.0 * n / (180 + 350 * n) + 0.02);
    EXPECT_GT(run.gb_per_s / off, 0.7 * (1 - 350.0 * n / (180 + 350 * n)));
  }
}

// A row that is opened again and again alerts each time that its count is there; rows that are not do not.
TEST(DramRowHammer, ARowAlertsAtItsCountAndBeginsAnew) {
  DramParams params = counting();
  params.bank_hash = BankHash::kNone;
  params.row_hammer.alert_at = 100;
  DramBench bench(params);
  const std::uint64_t row = bench.config().capacity() / bench.config().device.organisation.rows;
  bench.open_window(Time{});
  for (std::uint64_t i = 0; i < 1000; ++i) {  // two rows of a bank in turns, 500 activates each
    bench.access({i % 2 * row, false}, Time{static_cast<std::int64_t>(i) * 1'000'000});
  }
  bench.run();
  bench.close_window(bench.now());
  // Both have 100 at the same time. The first alerts, and the other's next activate alerts again: with its
  // management too, both have begun anew.
  EXPECT_NEAR(bench.measure("row_alerts"), 10, 1);
  EXPECT_EQ(bench.measure("refresh_managements"), bench.measure("row_alerts"));
}

// --- off, and refused ------------------------------------------------------------------------------------

// Counting alone changes no command.
TEST(DramRowHammer, CountsThatAreNeverReachedChangeNothing) {
  const auto text = [](const DramParams& params) {
    std::string all;
    for (const DramCommandRecord& record : logged(params).all) {
      all += std::to_string(record.clock) + std::string(to_text(record.command)) +
             std::to_string(record.bank) + " ";
    }
    return all;
  };
  for (const char* refresh : {"all-bank", "same-bank", "off"}) {
    DramParams off = without_managing();
    off.refresh.kind = refresh;
    DramParams on = off;
    on.row_hammer.raaimt = 1'000'000;
    EXPECT_EQ(text(on), text(off)) << refresh;
  }
}

TEST(DramRowHammer, ManagedTrafficKeepsAllConstraints) {
  for (const char* refresh : {"all-bank", "same-bank"}) {
    for (const char* preset : {"DDR5-6400", "MRDIMM-8800"}) {
      DramParams params = counting(preset);
      params.refresh.kind = refresh;
      params.power_down = Time{50'000};
      params.row_hammer.raaimt = 4;
      params.row_hammer.alert_at = 3;
      DramBench bench(params);
      test::DramCheckers checkers(bench.config());
      bench.watch(&checkers);
      bench.closed_loop(DramPattern("rand_mix21", 1ULL << 24U), 20'000, 32);
      EXPECT_EQ(checkers.report(), "") << preset << ", " << refresh;
    }
  }
}

TEST(DramRowHammer, WhatAStandardLacksIsRefused) {
  const auto refused = [](const DramParams& params) { return input_error([&] { resolve(params, {}); }); };
  DramParams params = DramBench::preset("DDR4-3200");
  params.row_hammer.prac = true;
  EXPECT_EQ(refused(params).path(), "row_hammer.prac");
  EXPECT_TRUE(test::contains(refused(params).detail().problem, "has no per-row activation counting"));
  params = DramBench::preset("LPDDR6-10667");
  params.row_hammer.prac = true;
  EXPECT_TRUE(test::contains(refused(params).detail().problem, "that could be off"));
  EXPECT_TRUE(test::contains(refused(params).detail().allowed, "hold them"));
  params = DramBench::preset("HBM2-2000");
  params.row_hammer.raaimt = 32;
  EXPECT_EQ(refused(params).path(), "row_hammer.raaimt");
  params = DramBench::preset("DDR5-4800");
  params.row_hammer.raammt = 96;
  EXPECT_EQ(refused(params).path(), "row_hammer.raammt");
  params = DramBench::preset("DDR5-4800");
  params.row_hammer.alert_at = 100;
  EXPECT_EQ(refused(params).path(), "row_hammer.alert_at");
  params.row_hammer = {};
  params.row_hammer.alert_commands = 2;
  EXPECT_EQ(refused(params).path(), "row_hammer.alert_commands");
}

}  // namespace
}  // namespace cxloom
