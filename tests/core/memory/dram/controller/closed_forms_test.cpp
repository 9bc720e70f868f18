#include "memory/dram/controller/media.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/support/dram_bench.hpp"
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
    const Clock rows = device.activate_clocks() + device.other_clocks();
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
                         testing::Values("test-D5", "DDR3-1600", "DDR4-2400", "DDR4-3200", "DDR5-4800",
                                         "DDR5-5600", "DDR5-8000", "LPDDR5-6400", "HBM2-2000", "HBM3-5200",
                                         "HBM3-6400"),
                         [](const auto& preset) {
                           std::string name = preset.param;
                           for (char& letter : name) letter = letter == '-' ? '_' : letter;
                           return name;
                         });

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

}  // namespace
}  // namespace cxloom
