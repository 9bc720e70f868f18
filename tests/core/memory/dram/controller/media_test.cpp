#include "memory/dram/controller/media.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/measure.hpp"
#include "base/random.hpp"
#include "core/support/dram_bench.hpp"
#include "core/support/errors.hpp"
#include "memory/dram/device/clock.hpp"

namespace cxloom {
namespace {

using test::DramBench;
using test::DramPattern;
using test::DramRun;

/// The closed forms of a configuration, of one sub-channel with accesses of 64 bytes.
struct Forms {
  explicit Forms(const DramConfig& config)
      : t(config.device.timing),
        device(config.device),
        organisation(config.device.organisation),
        cycle(DramClock(config.device.clock).cycle_ns()),
        bursts(64.0 / organisation.burst_bytes()),
        available(1.0 - static_cast<double>(t.tRFC) / static_cast<double>(t.tREFI)) {}

  double ns(Clock clocks) const { return static_cast<double>(clocks) * cycle; }
  double peak() const { return organisation.burst_bytes() / ns(organisation.burst_clocks); }
  double sequential() const { return 64.0 / bursts / ns(t.tCCD_S) * available; }
  /// Limited by activates, by the banks, or by the command bus: a line needs an ACT, its bursts and a PRE.
  double random() const {
    const auto columns = static_cast<Clock>(bursts) * device.column_clocks();
    const Clock rows = device.activate_clocks() + 1;
    const Clock bus = device.split_command_bus ? std::max(rows, columns) : rows + columns;
    const double by_activates = 4 * 64.0 / ns(std::max({t.tFAW, 4 * t.tRRD_S, 4 * bus})) * available;
    return std::min(by_activates, organisation.banks_in_rank() * organisation.ranks * one_bank());
  }
  double one_bank() const {
    const Clock rest = static_cast<Clock>(bursts - 1) * t.tCCD_L;  // of the bursts of a line
    return 64.0 / ns(std::max(t.tRAS, t.tRCD + rest + t.tRTP) + t.tRP) * available;
  }
  double hit() const {
    return ns(t.CL + static_cast<Clock>(bursts - 1) * t.tCCD_L + organisation.burst_clocks);
  }
  double conflict() const { return ns(t.tRP + t.tRCD) + hit(); }

  DramTiming t;
  DramDevice device;
  DramOrganisation organisation;
  double cycle;
  double bursts;
  double available;
};

/// One sub-channel's worth of the preset with all-bank refresh, and streams spread over the bank groups.
DramParams one_channel(const std::string& preset) {
  DramParams params = DramBench::preset(preset);
  params.refresh.kind = "all-bank";
  return params;
}

class DramClosedForms : public testing::TestWithParam<const char*> {};

TEST_P(DramClosedForms, OfSequentialReadsIsThePeakWithoutRefresh) {
  DramBench bench(one_channel(GetParam()));
  const Forms forms(bench.config());
  const double channels = bench.config().sub_channels;
  const DramRun run =
      bench.closed_loop(DramPattern("seq_r", 1ULL << 30U), 40'000, 64 * bench.config().sub_channels);
  EXPECT_NEAR(run.gb_per_s / (channels * forms.sequential()), 1.0, 0.03);
  EXPECT_NEAR(bench.measure("data_bus_utilization"), run.gb_per_s / channels / forms.peak(), 0.02);
  EXPECT_GT(run.row_hit_rate, 0.95);
}

TEST_P(DramClosedForms, OfRandomReadsIsFourActivatesAWindow) {
  DramParams params = one_channel(GetParam());
  params.read_queue = 256;  // so that there is always a bank to go to
  DramBench bench(params);
  const Forms forms(bench.config());
  const double channels = bench.config().sub_channels;
  const DramRun run =
      bench.closed_loop(DramPattern("rand_r", 1ULL << 30U), 40'000, 512 * bench.config().sub_channels);
  EXPECT_NEAR(run.gb_per_s / (channels * std::min(forms.random(), forms.sequential())), 1.0, 0.03);
}

TEST_P(DramClosedForms, OfOneBankIsARowEachTime) {
  DramParams params = one_channel(GetParam());
  params.bank_hash = BankHash::kNone;
  DramBench bench(params);
  const DramConfig& config = bench.config();
  const Forms forms(config);
  // Always the first bank: the row is at the top of the address.
  const std::uint64_t rows = config.device.organisation.rows;
  const std::uint64_t stride = config.capacity() / config.device.organisation.ranks / rows;
  for (std::uint64_t i = 0; i < 4000; ++i) bench.access({i * 7 % (rows / 16) * stride, false}, Time{});
  bench.open_window(Time{});
  bench.run();
  const double gb_per_s = 4000 * 64.0 / bench.now().ns();
  EXPECT_NEAR(gb_per_s / forms.one_bank(), 1.0, 0.03);
}

TEST_P(DramClosedForms, OfIdleLatenciesAreExactToTheClock) {
  DramParams params = one_channel(GetParam());
  params.refresh.kind = "off";
  params.bank_hash = BankHash::kNone;  // the next row of a bank is so far off
  DramBench bench(params);
  const DramConfig& config = bench.config();
  const Forms forms(config);
  const std::uint64_t stride =
      config.capacity() / config.device.organisation.ranks / config.device.organisation.rows;
  const std::size_t miss = bench.access({0, false}, Time{10'007});
  const std::size_t hit = bench.access({0, false}, Time{1'000'003});
  const std::size_t conflict = bench.access({stride, false}, Time{2'000'001});
  bench.run();
  EXPECT_NEAR(bench.latency(miss).ns(), forms.hit() + forms.ns(forms.t.tRCD), forms.cycle);
  EXPECT_NEAR(bench.latency(hit).ns(), forms.hit(), forms.cycle);
  EXPECT_NEAR(bench.latency(conflict).ns(), forms.conflict(), forms.cycle);
  EXPECT_LT(bench.segment(conflict, Segment::kMediaQueue).ns(),
            forms.cycle);  // up to the next edge of the clock
}

INSTANTIATE_TEST_SUITE_P(Presets, DramClosedForms,
                         testing::Values("test-D5", "DDR4-2400", "DDR4-3200", "DDR5-4800", "DDR5-5600",
                                         "LPDDR5-6400", "HBM2-2000", "HBM3-5200", "HBM3-6400"),
                         [](const auto& preset) {
                           std::string name = preset.param;
                           for (char& letter : name) letter = letter == '-' ? '_' : letter;
                           return name;
                         });

TEST(DramMedia, MeetsTheAnchorsOfTheTestConfiguration) {
  DramParams params = DramBench::preset("test-D5");
  params.mapping = "rochrababgco";
  const auto run = [&](const char* pattern) {
    DramBench bench(params, Bytes{8ULL << 30U});
    return bench.closed_loop(DramPattern(pattern), 50'000, 128).gb_per_s;
  };
  EXPECT_NEAR(run("seq_r"), 17.8, 0.03 * 17.8);
  EXPECT_NEAR(run("rand_r"), 11.85, 0.03 * 11.85);
  EXPECT_NEAR(run("seq_w"), 17.8, 0.03 * 17.8);
}

// --- behaviour -------------------------------------------------------------------------------------------------------

/// test-D5 without refresh: everything can be counted by hand.
DramParams quiet_ddr5() {
  DramParams params = DramBench::preset("test-D5");
  params.mapping = "rochrababgco";
  params.refresh.kind = "off";
  return params;
}
constexpr std::uint64_t kRowApart = 1ULL << 17U;  // to the next row of the same bank
Time clocks(std::int64_t n) { return Time{416} * n; }

TEST(DramMedia, AReadOfAQueuedWriteIsForwarded) {
  DramBench bench(quiet_ddr5());
  bench.open_window(Time{});
  bench.access({0, true}, Time{});
  const std::size_t read = bench.access({0, false}, Time{});
  bench.access({0, true}, Time{});  // merged
  bench.run();
  bench.close_window(bench.now());
  EXPECT_EQ(bench.latency(read), clocks(1));
  EXPECT_EQ(bench.measure("forwarded_reads"), 1);
  EXPECT_EQ(bench.measure("merged_writes"), 1);
}

TEST(DramMedia, APostedWriteIsDoneInTheQueueAnotherInTheDevice) {
  DramBench posted(quiet_ddr5());
  const std::size_t first = posted.access({0, true}, clocks(10));
  posted.run();
  EXPECT_EQ(posted.latency(first), Time{});
  DramParams params = quiet_ddr5();
  params.posted_writes = false;
  DramBench written(params);
  const std::size_t second = written.access({0, true}, clocks(10));
  written.run();
  EXPECT_EQ(written.latency(second), clocks(39 + 38 + 8));  // tRCD_WR, CWL, BL/2
}

TEST(DramMedia, WritesBeyondTheQueueWaitForAPlace) {
  DramParams params = quiet_ddr5();
  params.write_queue = 1;
  DramBench bench(params);
  const std::size_t first = bench.access({0, true}, Time{});
  const std::size_t second = bench.access({64, true}, Time{});
  bench.run();
  EXPECT_EQ(bench.latency(first), Time{});
  EXPECT_EQ(bench.latency(second), clocks(39 + 38 + 8));  // until the first's data are in the device
  EXPECT_EQ(bench.segment(second, Segment::kMediaQueue), bench.latency(second));
}

TEST(DramMedia, RowsThatHitGoBeforeOlderOnesUntilTheAgeCap) {
  const auto order = [](Time cap) {
    DramParams params = quiet_ddr5();
    params.scheduler = test::fr_fcfs(cap);
    DramBench bench(params);
    bench.access({0, false}, Time{});
    const std::size_t other = bench.access({kRowApart, false}, clocks(1));
    std::size_t last = 0;
    for (int i = 1; i < 32; ++i) last = bench.access({static_cast<std::uint64_t>(i) * 64, false}, clocks(2));
    bench.run();
    return bench.done_at[other] > bench.done_at[last];
  };
  EXPECT_TRUE(order(Time{1'000'000'000}));
  EXPECT_FALSE(order(clocks(100)));
}

TEST(DramMedia, PoliciesCloseRows) {
  // Two accesses to a row far apart, then one to another row of the bank.
  const auto latencies = [](const char* policy, Value::Map settings = {}) {
    DramParams params = quiet_ddr5();
    params.row_policy = {policy, Value(std::move(settings))};
    DramBench bench(params);
    bench.access({0, false}, Time{});
    const std::size_t near = bench.access({64, false}, clocks(500));
    const std::size_t far = bench.access({128, false}, clocks(5000));
    const std::size_t other = bench.access({kRowApart, false}, clocks(5500));
    bench.run();
    return std::vector<std::int64_t>{bench.latency(near).ps() / 416, bench.latency(far).ps() / 416,
                                     bench.latency(other).ps() / 416};
  };
  constexpr std::int64_t kHit = 48;
  constexpr std::int64_t kMiss = 87;
  constexpr std::int64_t kConflict = 126;
  EXPECT_EQ(latencies("open"), (std::vector{kHit, kHit, kConflict}));
  EXPECT_EQ(latencies("closed"), (std::vector{kMiss, kMiss, kMiss}));
  EXPECT_EQ(latencies("timeout", {{"after", to_text(clocks(1000))}}), (std::vector{kHit, kMiss, kConflict}));
}

TEST(DramMedia, ThePredictorLearnsWhetherRowsAreUsedAgain) {
  const auto last_latency = [](bool reuse) {
    DramParams params = quiet_ddr5();
    params.row_policy.kind = "adaptive";
    DramBench bench(params);
    std::size_t last = 0;
    for (std::uint64_t i = 0; i < 20; ++i)
      last =
          bench.access({reuse ? i * 64 : i * kRowApart, false}, clocks(1000 * static_cast<std::int64_t>(i)));
    bench.run();
    return bench.latency(last).ps() / 416;
  };
  EXPECT_EQ(last_latency(true), 48);   // open
  EXPECT_EQ(last_latency(false), 87);  // closed in time
}

TEST(DramMedia, RefreshTakesItsShareAndIdleTimeCostsNoEvents) {
  DramParams params = DramBench::preset("test-D5");
  DramBench bench(params);
  bench.open_window(Time{});
  bench.access({0, false}, Time{});
  bench.run();
  const std::uint64_t events = bench.events();
  bench.access({0, false}, Time{1'000'000'000'000});  // a second later
  bench.run();
  EXPECT_LE(bench.events() - events, 3U);
  bench.close_window(bench.now());
  EXPECT_NEAR(bench.measure("refreshes"), 1e12 / 416 / 9375, 2);
  EXPECT_NEAR(bench.measure("refresh_share"), 710.0 / 9375, 1e-4);
}

TEST(DramMedia, PostponedRefreshesAreMadeUpForWhenIdle) {
  DramParams params = DramBench::preset("test-D5");
  params.refresh_postpone = 4;
  DramBench bench(params);
  bench.open_window(Time{});
  for (int i = 0; i < 1000; ++i) bench.access({static_cast<std::uint64_t>(i) * 64, false}, clocks(32 * i));
  bench.run();
  bench.close_window(bench.now());
  EXPECT_LT(bench.measure("refreshes"), 4);
  bench.run(clocks(9375 * 20));
  bench.close_window(clocks(9375 * 20 + 5000));
  EXPECT_EQ(bench.measure("refreshes"), 20);
}

TEST(DramMedia, PowerDownCostsItsExit) {
  DramParams params = quiet_ddr5();
  params.power_down = clocks(100);
  params.row_policy.kind = "closed";
  DramBench bench(params);
  bench.open_window(Time{});
  const std::size_t access = bench.access({0, false}, clocks(10'000));
  bench.run();
  bench.close_window(bench.now());
  EXPECT_EQ(bench.latency(access), clocks(18 + 87));  // tXP
  EXPECT_NEAR(bench.measure("power_down_share"), 9900.0 / 10'105, 1e-3);
}

TEST(DramMedia, PowerDownIsCountedToTheEdgesOfTheWindow) {
  DramParams params = quiet_ddr5();
  params.power_down = clocks(100);
  DramBench bench(params);
  bench.open_window(Time{});
  bench.close_window(clocks(10'000));
  EXPECT_NEAR(bench.measure("power_down_share"), 0.99, 1e-9);
  bench.open_window(clocks(15'000));
  bench.close_window(clocks(20'000));
  EXPECT_NEAR(bench.measure("power_down_share"), 1, 1e-9);
}

// Refreshes that go by in idle time are not simulated one by one, unless somebody sees them.
TEST(DramMedia, IsTheSameWhetherWatchedOrNot) {
  struct Blind final : DramCommandLog {
    void command(std::uint32_t, const DramCommandRecord&) override {}
  } blind;
  for (const DramDevice& device : dram_presets()) {
    for (const bool sleepy : {false, true}) {
      DramParams params = DramBench::preset(std::string(device.name));
      params.ranks = 2;
      if (device.standard == DramStandard::kDdr4 || device.standard == DramStandard::kDdr5) params.stack = 2;
      params.row_policy.kind = "adaptive";
      if (sleepy) params.power_down = Time{150'000};
      std::vector<std::vector<double>> measured;
      for (DramCommandLog* const log :
           {static_cast<DramCommandLog*>(nullptr), static_cast<DramCommandLog*>(&blind)}) {
        DramBench bench(params);
        bench.watch(log);
        bench.open_window(Time{});
        RandomStream random(1, "dram", "idle");
        Time now;
        for (int i = 0; i < 100; ++i) {  // a few accesses, then nothing for some refreshes
          now += Time{static_cast<std::int64_t>(random.below(i % 4 == 0 ? 40'000'000 : 100'000))};
          bench.run(now);
          bench.access({random.below(1U << 20U) * 64, random.chance(0.3), 64}, now);
        }
        bench.run();
        bench.close_window(now + Time{30'000'000});
        std::vector<double>& all = measured.emplace_back();
        for (const MeasureInfo& measure : DramMedia::measures())
          all.push_back(bench.measure(std::string(measure.name)));
        for (const Time done : bench.done_at) all.push_back(done.ns());
      }
      EXPECT_EQ(measured[0], measured[1]) << device.name << (sleepy ? ", with power-down" : "");
    }
  }
}

TEST(DramMedia, EnergyIsThatOfTheCountedCommands) {
  // One row opened and read twice in 10,000 clocks, without refresh; four devices.
  DramBench bench(quiet_ddr5());
  bench.open_window(Time{});
  bench.access({0, false}, Time{});
  bench.access({64, false}, clocks(200));
  bench.run();
  bench.close_window(clocks(10'000));
  const double scale = 1.1 * 0.416 * 4 * 1e-6;  // V x ns x devices, of mA to uJ
  const double open = (142.0 - 92.0) / 32;      // one bank of 32
  EXPECT_NEAR(bench.measure("energy_read_uj"), scale * 2 * (530 - 142) * 8, 1e-9);
  EXPECT_NEAR(bench.measure("energy_activate_uj"), scale * ((122 - 92) * 116 - open * 77), 1e-9);
  EXPECT_NEAR(bench.measure("energy_background_uj"), scale * (92.0 * 10'000 + open * 10'000), 1e-6);
  EXPECT_EQ(bench.measure("energy_refresh_uj"), 0);
  EXPECT_NEAR(bench.measure("power_mw"), bench.measure("energy_uj") * 1e6 / 4160, 1e-6);
}

TEST(DramMedia, DevicesForEccTakeEnergyAndMoveNothing) {
  const auto energy = [](std::uint32_t ecc_width) {
    DramParams params = DramBench::preset("DDR5-4800");
    params.ecc_width = ecc_width;
    DramBench bench(params);
    const DramRun run = bench.closed_loop(DramPattern("rand_mix21", 1ULL << 30U), 4000, 64);
    return std::pair{bench.measure("energy_uj"), run.gb_per_s};
  };
  const auto [plain, without] = energy(0);
  const auto [ecc, with] = energy(8);  // five devices of x8 instead of four
  EXPECT_NEAR(ecc / plain, 5.0 / 4.0, 1e-9);
  EXPECT_EQ(with, without);
}

// The larger page of x16 allows fewer activates, in the form of random reads as in the simulation.
TEST(DramMedia, ThePageOfADeviceLimitsItsActivates) {
  for (const char* preset : {"DDR4-3200", "DDR5-4800", "DDR5-5600"}) {
    double narrower = 1e9;
    for (const std::uint32_t width : {4U, 8U, 16U}) {
      DramParams params = one_channel(preset);
      params.device_width = width;
      params.read_queue = 512;
      DramBench bench(params);
      const Forms forms(bench.config());
      const std::uint32_t channels = bench.config().sub_channels;
      const DramRun run = bench.closed_loop(DramPattern("rand_r", 1ULL << 30U), 30'000, 600 * channels);
      const double form = channels * std::min(forms.random(), forms.sequential());
      EXPECT_LE(run.gb_per_s, narrower * 1.01) << preset << " x" << width;
      narrower = run.gb_per_s;
      if (forms.t.tFAW == 16) {         // DDR4 x4
        EXPECT_LT(run.gb_per_s, form);  // its sixteen banks are not free that often
        continue;
      }
      EXPECT_NEAR(run.gb_per_s / form, 1.0, 0.04) << preset << " x" << width;
    }
  }
}

// Reads that alternate between two dies follow each other as those of one do; between two ranks the bus takes a pause.
TEST(DramMedia, DiesOfAStackShareTheBusWithoutAPause) {
  const auto apart = [](std::uint32_t ranks, std::uint32_t stack) {
    DramParams params = DramBench::preset("DDR5-4800");
    params.ranks = ranks;
    params.stack = stack;
    params.refresh.kind = "off";
    params.mapping = "robabgchcora";  // line by line
    DramBench bench(params);
    for (const std::uint64_t line : {0U, 1U}) bench.access({line * 64, false}, Time{});  // opens the rows
    const std::size_t first = bench.access({0, false}, Time{1'000'000});
    const std::size_t second = bench.access({64, false}, Time{1'000'000});
    bench.run();
    return DramClock(bench.config().device.clock).edge_at(bench.done_at[second] - bench.done_at[first]);
  };
  EXPECT_EQ(apart(1, 2), 8);      // tCCD_DLR
  EXPECT_EQ(apart(2, 1), 8 + 2);  // the burst and tCS
}

TEST(DramMedia, AnAccessOfAnySizeIsDoneWithItsLastBurst) {
  DramBench bench(quiet_ddr5());
  const std::size_t whole = bench.access({0, false, 256}, Time{});
  bench.run();
  EXPECT_EQ(bench.latency(whole), clocks(39 + 3 * 12 + 40 + 8));  // tRCD, three times tCCD_L, CL, BL/2
  const std::size_t astride = bench.access({32 + 1024, false, 64}, clocks(10'000));
  bench.run();
  EXPECT_EQ(bench.latency(astride), clocks(12 + 40 + 8));
}

TEST(DramMedia, WritesInOneBankGroupAreAsFarApartAsTheyMust) {
  const auto rate = [](std::uint32_t wr2) {
    DramParams params = DramBench::preset("test-D5");
    params.mapping = "rochrababgco";
    params.timing.tCCD_L_WR2 = wr2;
    params.write_queue = 32;
    DramBench bench(params, Bytes{8ULL << 30U});
    return bench.closed_loop(DramPattern("seq_w"), 20'000, 128).gb_per_s;
  };
  // A queue of 32 spans up to two rows of a stream, and so one or two bank groups.
  const double group = 64 / (48 * 0.416) * (1 - 710.0 / 9375);
  EXPECT_GT(rate(48), 1.7 * group);
  EXPECT_LT(rate(48), 2.0 * group);
  EXPECT_GT(rate(12), 15.0);
}

// --- other simulators ------------------------------------------------------------------------------------------------

/// A row of the comparison: mean read latencies in DRAMsim3 and Ramulator 2, at one access each `gap` clocks,
/// with queues of 32 as they have by default.
struct Peers {
  const char* pattern;
  int gap;
  double dramsim3;
  double ramulator2;
  double row_hit_rate;
};

DramRun as_peers(const Peers& row) {
  DramParams params = DramBench::preset("test-D5");
  params.mapping = "rochrababgco";
  params.read_queue = params.write_queue = 32;
  DramBench bench(params, Bytes{8ULL << 30U});
  return bench.open_loop(DramPattern(row.pattern), 50'000, clocks(row.gap));
}

TEST(DramPeers, ReadsTakeAsLongAsInBothSimulators) {
  for (const Peers& row : std::vector<Peers>{{"seq_r", 64, 37.8, 37.26, 0.978},
                                             {"seq_r", 16, 54.52, 55.9, 0.983},
                                             {"seq_r", 12, 87.49, 92.4, 0.983},
                                             {"rand_r", 64, 70.69, 67.89, 0.0},
                                             {"rand_r", 20, 97.54, 94.59, 0.0}}) {
    const DramRun run = as_peers(row);
    EXPECT_NEAR(run.read_ns / row.dramsim3, 1.0, 0.06) << row.pattern << " " << row.gap;
    EXPECT_NEAR(run.read_ns / row.ramulator2, 1.0, 0.06) << row.pattern << " " << row.gap;
    EXPECT_NEAR(run.row_hit_rate, row.row_hit_rate, 0.02) << row.pattern << " " << row.gap;
  }
}

TEST(DramPeers, MixedTrafficLiesBetweenTheTwo) {
  for (const Peers& row : std::vector<Peers>{{"rand_mix21", 64, 74.26, 69.95, 0.0},
                                             {"rand_mix21", 32, 90.68, 79.2, 0.0},
                                             {"rand_mix21", 20, 145.35, 113.79, 0.0}}) {
    const DramRun run = as_peers(row);
    EXPECT_GE(run.read_ns, row.ramulator2 - 0.416) << row.gap;  // to one clock
    EXPECT_LE(run.read_ns, row.dramsim3 + 0.416) << row.gap;
    EXPECT_NEAR(run.row_hit_rate, 0.0, 0.02);
  }
}

// A line in one command of 32 beats: alone as fast as in two of 16, whose second follows tCCD_L after the first. At random the
// command bus takes ACT (2), RD (1) and PRE (1), as many clocks as the data, and no longer five.
TEST(DramMedia, ALineOfLpddr5InOneCommand) {
  DramParams two = DramBench::preset("LPDDR5-6400");
  DramParams one = two;
  one.burst_length = 32;
  for (const bool write : {false, true}) {
    two.posted_writes = one.posted_writes = false;
    DramBench a(two);
    DramBench b(one);
    a.access({0, write}, Time{});
    b.access({0, write}, Time{});
    a.run();
    b.run();
    EXPECT_EQ(a.latency(0), b.latency(0)) << write;
  }
  two.refresh.kind = one.refresh.kind = "off";
  const double of_two = DramBench(two).closed_loop(DramPattern("rand_r"), 20'000, 128).gb_per_s;
  const double of_one = DramBench(one).closed_loop(DramPattern("rand_r"), 20'000, 128).gb_per_s;
  EXPECT_LT(of_two, 10.24 * 1.01);  // 64 B / (5 x 1.25 ns)
  EXPECT_GT(of_one, 1.1 * of_two);
  EXPECT_LT(of_one, 12.8 * 1.001);
  const double stream = DramBench(one).closed_loop(DramPattern("seq_r"), 20'000, 128).gb_per_s;
  EXPECT_NEAR(stream, 12.8, 0.03 * 12.8);
}

// Each channel of any number gives what one gives.
TEST(DramMedia, BandwidthGoesWithTheNumberOfChannels) {
  DramParams params = DramBench::preset("DDR4-3200");
  const double one = DramBench(params).closed_loop(DramPattern("seq_r"), 8000, 64).gb_per_s;
  for (const std::uint32_t channels : {3U, 6U, 12U}) {
    for (const ChannelHash hash : {ChannelHash::kNone, ChannelHash::kFold}) {
      if (channels % 2 != 0 && hash == ChannelHash::kFold) continue;
      params.channels = channels;
      params.channel_hash = hash;
      const double all =
          DramBench(params).closed_loop(DramPattern("seq_r"), 8000 * channels, 64 * channels).gb_per_s;
      EXPECT_NEAR(all, channels * one, 0.03 * channels * one) << channels;
    }
  }
}

}  // namespace
}  // namespace cxloom
