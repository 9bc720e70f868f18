// Presets against figures worked out by hand from the tables of their standards, of one sub-channel in
// accesses of 64 bytes: peak, activates, banks, idle hits and conflicts. A typing error in a preset moves one
// of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/support/dram_bench.hpp"
#include "memory/dram/device/clock.hpp"

namespace cxloom {
namespace {

using test::DramBench;
using test::DramPattern;
using test::DramRun;

/// Rates in GB/s, latencies in ns, all of them before refresh.
struct Worked {
  const char* preset;
  double peak;
  double available;  ///< 1 - tRFC / tREFI
  double random;     ///< what activates and the command bus allow, at most the peak
  double banks;      ///< 64 B x banks / tRC
  double hit;
  double conflict;
  double random_ratio = 1.0;  ///< measured of the smallest of peak, random and banks, with all-bank refresh
  double stream_ratio = 1.0;  ///< measured of the peak
};

const std::vector<Worked> kWorked{
    {"DDR3-1600", 12.8, .967, 8.5, 10.5, 18.8, 46.2},
    {"DDR4-2666", 21.3, .955, 12.2, 22.0, 17.2, 45.8},
    {"DDR4-2933", 23.5, .955, 12.1, 22.1, 17.0, 45.7},
    {"DDR5-4400", 17.6, .924, 17.6, 42.1, 20.0, 52.7},
    {"DDR5-5600", 22.4, .924, 22.4, 42.5, 19.3, 51.4},
    {"DDR5-6400", 25.6, .924, 25.6, 42.3, 18.8, 51.2, .99, .99},
    {"DDR5-7200", 28.8, .924, 28.8, 42.4, 18.3, 50.6, .99, .99},
    {"DDR5-8000", 32.0, .924, 32.0, 42.7, 18.0, 50.0, .98, .99},
    {"DDR5-8800", 35.2, .924, 35.2, 42.5, 18.2, 50.5},
    // Both pseudo channels of a sub-channel, each as a sub-channel of its chips.
    {"MRDIMM-8800", 35.2, .924, 35.2, 84.2, 20.0, 52.7, .98},
    {"MRDIMM-12800", 51.2, .924, 51.2, 84.6, 18.8, 51.2, .98},
    {"LPDDR5X-8533", 17.1, .928, 13.7, 16.8, 27.2, 64.7},
    {"LPDDR5X-9600", 19.2, .928, 15.4, 16.8, 26.7, 63.3, .95},
    // The page of facts has 16.2 for the banks, with the tRP of all banks.
    {"LPDDR6-10667", 14.2, .903, 14.2, 17.0, 27.0, 85.1, .90},
    {"HBM2E-3600", 28.8, .910, 14.4, 20.9, 17.8, 46.7},
    // At random one stack id goes on while the other is refreshed; a stream may wait for both.
    {"HBM3E-9600", 38.4, .897, 17.1, 45.94, 15.8, 51.7, 1.08, .96},
    {"HBM4-8000", 32.0, .885, 17.1, 45.5, 13.5, 49.5, 1.08, .89},
    {"GDDR6-14", 28.07, .937, 14.04, 22.45, 17.1, 47.9, .97},
    {"GDDR7-28", 28.0, .905, 28.0, 19.9, 17.1, 51.4, .90},
};

class PublishedForms {
 public:
  explicit PublishedForms(const DramDevice& device)
      : t_(device.timing),
        o_(device.organisation),
        device_(device),
        cycle_(DramClock(device.clock).cycle_ns()),
        bursts_(o_.bursts_in_line()) {}

  double ns(Clock clocks) const { return static_cast<double>(clocks) * cycle_; }
  double peak() const { return o_.pseudo_channels * 64.0 / ns(bursts_ * o_.burst_clocks); }
  double available() const { return 1 - static_cast<double>(t_.tRFC) / static_cast<double>(t_.tREFI); }
  double random() const {
    const Clock rows = device_.activate_clocks() + device_.other_clocks();
    const Clock columns = bursts_ * device_.column_clocks();
    const Clock bus = device_.split_command_bus ? std::max(rows, columns) : rows + columns;
    const double activates = o_.pseudo_channels * 4 * 64.0 / ns(std::max(t_.tFAW, 4 * t_.tRRD_S));
    return std::min({peak(), activates, 64.0 / ns(bus)});
  }
  double banks() const { return 64.0 * o_.ranks * o_.banks_in_rank() / ns(t_.tRAS + t_.tRP); }
  double hit() const { return ns(t_.CL + (bursts_ - 1) * t_.tCCD_L + o_.burst_clocks); }
  double conflict() const { return ns(t_.tRP + t_.tRCD) + hit(); }

 private:
  const DramTiming& t_;
  const DramOrganisation& o_;
  const DramDevice& device_;
  double cycle_;
  Clock bursts_;
};

class DramWorked : public testing::TestWithParam<Worked> {};

TEST_P(DramWorked, FiguresAreThoseOfThePreset) {
  const Worked& worked = GetParam();
  const DramConfig config = resolve(DramBench::preset(worked.preset), Bytes{1ULL << 30U});
  const PublishedForms forms(config.device);
  EXPECT_NEAR(forms.peak(), worked.peak, 0.07);
  EXPECT_NEAR(forms.available(), worked.available, 0.0006);
  EXPECT_NEAR(forms.random(), worked.random, 0.07);
  EXPECT_NEAR(forms.banks(), worked.banks, 0.06);
  EXPECT_NEAR(forms.hit(), worked.hit, 0.06);
  EXPECT_NEAR(forms.conflict(), worked.conflict, 0.08);
}

// With all-bank refresh, of which the figures are. A queue of 256 has always a bank to go to.
TEST_P(DramWorked, BandwidthsAreMeasured) {
  const Worked& worked = GetParam();
  DramParams params = DramBench::preset(worked.preset);
  params.refresh.kind = "all-bank";
  params.read_queue = 256;
  const auto measured = [&](const char* pattern) {
    DramBench bench(params);
    const std::uint32_t channels = bench.config().sub_channels;
    const DramRun run = bench.closed_loop(DramPattern(pattern, 1ULL << 30U), 40'000, 512 * channels);
    return run.gb_per_s / channels;
  };
  const double random = std::min({worked.peak, worked.random, worked.banks}) * worked.available;
  EXPECT_NEAR(measured("rand_r") / random, worked.random_ratio, 0.03);
  EXPECT_NEAR(measured("seq_r") / (worked.peak * worked.available), worked.stream_ratio, 0.03);
}

TEST_P(DramWorked, LatenciesAreMeasured) {
  const Worked& worked = GetParam();
  DramParams params = DramBench::preset(worked.preset);
  params.refresh.kind = "off";
  params.bank_hash = BankHash::kNone;  // for the next row of a bank
  DramBench bench(params);
  const DramConfig& config = bench.config();
  const std::uint64_t row = config.capacity() / config.device.organisation.rows;
  bench.access({0, false}, Time{});
  const std::size_t hit = bench.access({0, false}, Time{1'000'000});
  const std::size_t conflict = bench.access({row, false}, Time{2'000'000});
  bench.run();
  const double cycle = DramClock(config.device.clock).cycle_ns();
  EXPECT_NEAR(bench.latency(hit).ns(), worked.hit, cycle);
  EXPECT_NEAR(bench.latency(conflict).ns(), worked.conflict, cycle + 0.05);
}

INSTANTIATE_TEST_SUITE_P(Presets, DramWorked, testing::ValuesIn(kWorked), [](const auto& worked) {
  std::string name = worked.param.preset;
  std::ranges::replace_if(name, [](char letter) { return letter == '-' || letter == '.'; }, '_');
  return name;
});

}  // namespace
}  // namespace cxloom
