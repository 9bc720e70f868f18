#include "memory/dram/controller/media.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/support/dram_bench.hpp"

namespace cxloom {
namespace {

using test::DramBench;
using test::DramPattern;
using test::DramRun;

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
  return bench.open_loop(DramPattern(row.pattern), 50'000, Time{416} * row.gap);
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

}  // namespace
}  // namespace cxloom
