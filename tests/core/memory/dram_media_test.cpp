#include "memory/dram_media.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/support/dram_bench.hpp"
#include "core/support/errors.hpp"
#include "memory/dram_clock.hpp"

namespace cxloom {
namespace {

using test::DramAccess;
using test::DramBench;
using test::DramPattern;
using test::DramRun;

/// The closed forms of a configuration, of one sub-channel with accesses of 64 bytes.
struct Forms {
  explicit Forms(const DramConfig& config)
      : t(config.device.timing),
        organisation(config.device.organisation),
        cycle(DramClock(config.device.clock).cycle_ns()),
        bursts(64.0 / organisation.burst_bytes()),
        available(1.0 - static_cast<double>(t.tRFC) / static_cast<double>(t.tREFI)) {}

  double ns(Clock clocks) const { return static_cast<double>(clocks) * cycle; }
  double peak() const { return organisation.burst_bytes() / ns(organisation.burst_clocks); }
  double sequential() const { return 64.0 / bursts / ns(t.tCCD_S) * available; }
  /// Limited by activates, or by the bursts of a line in one bank group and its precharge.
  double random() const { return 4 * 64.0 / ns(std::max(t.tFAW, 4 * t.tRRD_S)) * available; }
  double one_bank() const {
    const Clock rest = static_cast<Clock>(bursts - 1) * t.tCCD_L;  // of the bursts of a line
    return 64.0 / ns(std::max(t.tRAS, t.tRCD + rest + t.tRTP) + t.tRP) * available;
  }
  double hit() const {
    return ns(t.CL + static_cast<Clock>(bursts - 1) * t.tCCD_L + organisation.burst_clocks);
  }
  double conflict() const { return ns(t.tRP + t.tRCD) + hit(); }

  DramTiming t;
  DramOrganisation organisation;
  double cycle;
  double bursts;
  double available;
};

/// One sub-channel's worth of the preset with all-bank refresh, and streams spread over the bank groups.
DramParams one_channel(const std::string& preset) {
  DramParams params = DramBench::preset(preset);
  params.refresh = RefreshMode::kAllBank;
  params.two_cycle_commands = false;
  return params;
}

class DramClosedForms : public testing::TestWithParam<const char*> {};

TEST_P(DramClosedForms, OfSequentialReadsIsThePeakWithoutRefresh) {
  DramBench bench(one_channel(GetParam()));
  const Forms forms(bench.media.config());
  const double channels = bench.media.config().sub_channels;
  const DramRun run =
      bench.closed_loop(DramPattern("seq_r", 1ULL << 30U), 40'000, 64 * bench.media.config().sub_channels);
  EXPECT_NEAR(run.gb_per_s / (channels * forms.sequential()), 1.0, 0.03);
  EXPECT_NEAR(bench.measure("data_bus_utilisation"), run.gb_per_s / channels / forms.peak(), 0.02);
  EXPECT_GT(run.row_hit_rate, 0.95);
}

TEST_P(DramClosedForms, OfRandomReadsIsFourActivatesAWindow) {
  DramParams params = one_channel(GetParam());
  params.read_queue = 256;  // so that there is always a bank to go to
  DramBench bench(params);
  const Forms forms(bench.media.config());
  const double channels = bench.media.config().sub_channels;
  const DramRun run =
      bench.closed_loop(DramPattern("rand_r", 1ULL << 30U), 40'000, 512 * bench.media.config().sub_channels);
  EXPECT_NEAR(run.gb_per_s / (channels * std::min(forms.random(), forms.sequential())), 1.0, 0.03);
}

TEST_P(DramClosedForms, OfOneBankIsARowEachTime) {
  DramBench bench(one_channel(GetParam()));
  const DramConfig& config = bench.media.config();
  const Forms forms(config);
  // Always the first bank: the row is at the top of the address.
  const std::uint64_t rows = config.device.organisation.rows;
  const std::uint64_t stride = config.capacity() / config.device.organisation.ranks / rows;
  for (std::uint64_t i = 0; i < 4000; ++i) bench.access({i * 7 % (rows / 16) * stride, false}, Time{});
  bench.media.open_window(Time{});
  bench.run();
  const double gb_per_s = 4000 * 64.0 / bench.kernel.now().ns();
  EXPECT_NEAR(gb_per_s / forms.one_bank(), 1.0, 0.03);
}

TEST_P(DramClosedForms, OfIdleLatenciesAreExactToTheClock) {
  DramParams params = one_channel(GetParam());
  params.refresh = RefreshMode::kOff;
  DramBench bench(params);
  const DramConfig& config = bench.media.config();
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

}  // namespace
}  // namespace cxloom
