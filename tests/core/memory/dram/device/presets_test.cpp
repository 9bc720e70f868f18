// Every preset as it is shipped, nothing overridden: the bandwidths and latencies that follow from its own
// numbers.
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

/// What the numbers of a preset allow, of all its sub-channels, in accesses of 64 bytes.
class Limits {
 public:
  explicit Limits(const DramConfig& config)
      : config_(config),
        t_(config.device.timing),
        o_(config.device.organisation),
        bursts_(64 / o_.burst_bytes()) {}

  double gb_per_s(Clock clocks_for_a_line) const {
    const double cycle = DramClock(config_.device.clock).cycle_ns();
    return 64.0 * config_.sub_channels / (static_cast<double>(clocks_for_a_line) * cycle);
  }
  double peak() const { return o_.pseudo_channels * gb_per_s(bursts_ * o_.burst_clocks); }
  /// Activates, the command bus, or the data bus: one ACT, one PRE and the bursts for each line.
  double banks() const { return o_.ranks * o_.banks_in_rank() * gb_per_s(t_.tRAS + t_.tRP); }
  double random() const {
    const DramDevice& device = config_.device;
    const Clock rows = device.activate_clocks() + device.other_clocks();
    const Clock columns = bursts_ * device.column_clocks();
    const Clock bus = device.split_command_bus ? std::max(rows, columns) : rows + columns;
    const double activates = o_.pseudo_channels * std::min(4 * gb_per_s(t_.tFAW), gb_per_s(t_.tRRD_S));
    return std::min({peak(), banks(), activates, gb_per_s(bus)});
  }
  /// Share of time in which no refresh stops a stream, at least.
  double stream_available() const {
    const bool same = config_.refresh_scope == DramRefreshScope::kSet;
    const double hit = !same ? 1.0
                       : config_.device.refresh_set == RefreshSet::kBankOfEveryGroup
                           ? 1.0 / o_.banks
                           : (config_.device.refresh_set == RefreshSet::kTwoBanks ? 2.0 : 1.0) *
                                 o_.bank_groups / o_.banks_in_rank();
    const Clock stop = (same ? t_.tRFC_SB : t_.tRFC) + t_.tRP + t_.tRCD;
    // A stream goes through the stack ids by turns, and may wait for each.
    return 1 - o_.stack * hit * static_cast<double>(stop) / static_cast<double>(refresh_interval());
  }
  /// Share of time in which no refresh keeps a rank from activates.
  double rank_available() const {
    const Clock stop = config_.refresh_scope == DramRefreshScope::kSet ? t_.tREFSB_ACT : t_.tRFC;
    return 1 - static_cast<double>(stop) / static_cast<double>(refresh_interval());
  }
  /// Share of time in which a bank is not being refreshed.
  double bank_available() const {
    if (config_.refresh_scope != DramRefreshScope::kSet) return 1;
    const auto sets = static_cast<double>(config_.device.refresh_sets(DramRefreshScope::kSet));
    return 1 - static_cast<double>(t_.tRFC_SB) / (sets * static_cast<double>(t_.tREFI_SB));
  }
  Clock refresh_interval() const {
    return config_.refresh_scope == DramRefreshScope::kSet ? t_.tREFI_SB : t_.tREFI;
  }
  Clock hit() const { return t_.CL + (bursts_ - 1) * t_.tCCD_L + o_.burst_clocks; }

 private:
  const DramConfig& config_;
  const DramTiming& t_;
  const DramOrganisation& o_;
  Clock bursts_;
};

TEST(DramPresets, StreamThePeakLessRefresh) {
  for (const DramDevice& device : dram_presets()) {
    DramBench bench(DramBench::preset(std::string(device.name)));
    const Limits limits(bench.config());
    const DramRun run =
        bench.closed_loop(DramPattern("seq_r", 1ULL << 30U), 30'000, 64 * bench.config().sub_channels);
    EXPECT_LE(run.gb_per_s, limits.peak()) << device.name;
    EXPECT_GE(run.gb_per_s, 0.97 * limits.peak() * limits.stream_available()) << device.name;
  }
}

TEST(DramPresets, ReadAtRandomWhatActivatesAndTheCommandBusAllow) {
  for (const DramDevice& device : dram_presets()) {
    DramBench bench(DramBench::preset(std::string(device.name)));
    const Limits limits(bench.config());
    const DramRun run = bench.closed_loop(DramPattern("rand_r", 1ULL << 30U), 30'000, 512);
    EXPECT_LE(run.gb_per_s, 1.005 * limits.random()) << device.name;
    // Where banks are busy for most of the time a queue of 64 lacks one that is free now and then.
    const double found = limits.banks() > 1.25 * limits.random() ? 0.9 : 0.75 * limits.bank_available();
    EXPECT_GE(run.gb_per_s, found * limits.random() * limits.rank_available()) << device.name;
  }
}

TEST(DramPresets, AnswerIdleReadsExactly) {
  for (const DramDevice& device : dram_presets()) {
    DramParams params = DramBench::preset(std::string(device.name));
    params.bank_hash = BankHash::kNone;  // for the next row of a bank
    DramBench bench(params);
    const DramConfig& config = bench.config();
    const Limits limits(config);
    const DramTiming& t = device.timing;
    const DramClock clock(device.clock);
    const std::uint64_t row = config.capacity() / device.organisation.rows;
    const Clock apart = t.tRCD + t.tRAS + limits.hit();  // all before the first refresh
    const std::size_t miss = bench.access({0, false}, clock.at(2));
    const std::size_t hit = bench.access({0, false}, clock.at(2 + apart));
    const std::size_t conflict = bench.access({row, false}, clock.at(2 + 2 * apart));
    bench.run();
    // Edges are rounded down to picoseconds, so that a difference of two may be one short or over.
    const auto clocks = [&](std::size_t access) { return clock.edge_at(bench.latency(access) - Time{1}); };
    EXPECT_EQ(clocks(miss), t.tRCD + limits.hit()) << device.name;
    EXPECT_EQ(clocks(hit), limits.hit()) << device.name;
    EXPECT_EQ(clocks(conflict), t.tRP + t.tRCD + limits.hit()) << device.name;
  }
}

// In a round of refreshes of sets each bank is refreshed once; a round takes tREFI, of DDR5 half of it
// (tREFI2).
TEST(DramPresets, RefreshEachBankOnceInARound) {
  for (const DramDevice& device : dram_presets()) {
    if (!device.refreshes(DramRefreshScope::kSet)) continue;
    const Clock round = device.refresh_sets(DramRefreshScope::kSet) * device.timing.tREFI_SB;
    const int rounds = device.refresh_set == RefreshSet::kBankOfEveryGroup ? 2 : 1;
    EXPECT_NEAR(static_cast<double>(rounds * round) / static_cast<double>(device.timing.tREFI), 1.0, 0.005)
        << device.name;
  }
}

// DDR5, GDDR7: activates, reads and writes (JESD79-5, table of commands). LPDDR5: ACT-1 and ACT-2
// (JESD209-5). HBM: activates.
TEST(DramPresets, TakeTheCommandBusAsLongAsTheirStandardSays) {
  for (const DramDevice& device : dram_presets()) {
    const bool ddr5 = device.name.starts_with("DDR5") || device.name.starts_with("MRDIMM") ||
                      device.name.starts_with("GDDR7");
    const bool one = device.name.starts_with("GDDR6") || device.name.starts_with("DDR3") ||
                     device.name.starts_with("DDR4") || device.name == "test-D5";
    const bool lpddr6 = device.name.starts_with("LPDDR6");  // each command two, ACT-1 and ACT-2 together four
    EXPECT_EQ(device.activate_clocks(), one ? 1 : lpddr6 ? 4 : 2) << device.name;
    EXPECT_EQ(device.column_clocks(), ddr5 || lpddr6 ? 2 : 1) << device.name;
    EXPECT_EQ(device.other_clocks(), lpddr6 ? 2 : 1) << device.name;
  }
}

}  // namespace
}  // namespace cxloom
