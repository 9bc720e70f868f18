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
  const double while_busy = bench.measure("refreshes");
  EXPECT_LT(while_busy, 4);
  bench.open_window(bench.now());
  bench.run(clocks(9375 * 20));
  bench.close_window(clocks(9375 * 20 + 5000));
  EXPECT_EQ(while_busy + bench.measure("refreshes"), 20);
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

// Reads that alternate between two dies follow each other as those of one do; between two ranks the bus takes
// a pause.
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

// A line in one command of 32 beats: alone as fast as in two of 16, whose second follows tCCD_L after the
// first. At random the command bus takes ACT (2), RD (1) and PRE (1), as many clocks as the data, and no
// longer five.
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
