// The age cap bounds for how long hits to an open row pass an older access to another row of the bank, and
// nothing else.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/support/dram_bench.hpp"
#include "memory/dram/device/clock.hpp"

namespace cxloom {
namespace {

using test::DramBench;

/// A preset without refresh, and its row at the top of the address.
DramParams quiet_with_cap(const DramDevice& device, Clock cap, const char* scheduler) {
  DramParams params = DramBench::preset(std::string(device.name));
  params.refresh.kind = "off";
  params.bank_hash = BankHash::kNone;
  params.scheduler = test::fr_fcfs(DramClock(device.clock).at(cap));
  params.scheduler.kind = scheduler;
  return params;
}

/// Clocks that an access to another row of a bank waits, behind `others` older ones to other rows, when hits
/// to the open row of the bank come without an end, as fast as one bank can take them.
Clock wait_behind_hits(const DramDevice& device, Clock cap, bool write, int others,
                       const char* scheduler = "fr-fcfs") {
  DramParams params = quiet_with_cap(device, cap, scheduler);
  params.posted_writes = false;
  DramBench bench(params);
  const DramClock clock(device.clock);
  const DramTiming& t = device.timing;
  const DramOrganisation& o = device.organisation;
  const std::uint64_t row = bench.config().capacity() / o.rows;
  // To the next one.
  const std::uint64_t bank_group = std::uint64_t{64} * bench.config().sub_channels * o.pseudo_channels;
  const std::uint64_t next_line = bank_group * o.bank_groups;  // of the same row
  const std::uint64_t lines = o.bursts_in_row() / (64 / o.burst_bytes());
  const Clock apart = (write ? t.tCCD_L_WR2 : t.tCCD_L) * static_cast<Clock>(64 / o.burst_bytes());

  const auto hit = [&](int i) { return static_cast<std::uint64_t>(i) % lines * next_line; };
  std::size_t victim = 0;
  const Clock start = 1000;  // the row is open already, and no hit waits
  const Clock end = start + (others + 2) * (cap + 1000);
  int i = 0;
  for (Clock at = 0; at < end; at += at < start ? 2 * apart : apart) {
    bench.run(clock.at(at));
    bench.access({hit(i++), write}, clock.at(at));
    if (at < start || victim != 0) continue;
    for (int k = 0; k <= others; ++k)
      victim = bench.access({row * static_cast<std::uint64_t>(1 + k), write}, clock.at(at));
  }
  bench.run();
  return clock.edge_at(bench.latency(victim)) - (write ? t.CWL : t.CL) - o.burst_clocks;
}

// What the oldest access of a bank waits at most: the cap, the hit that was on its way, and the commands that
// close one row and open the other. Each older one to a row of its own comes before it with the same.
TEST(DramAgeCap, BoundsTheWaitBehindAnEndlessStreamOfHits) {
  for (const DramDevice& device : dram_presets()) {
    const DramTiming& t = device.timing;
    const DramOrganisation& o = device.organisation;
    for (const bool write : {false, true}) {
      const Clock apart = (write ? t.tCCD_L_WR2 : t.tCCD_L) * static_cast<Clock>(64 / o.burst_bytes());
      const Clock close = write ? t.CWL + o.burst_clocks + t.tWR : t.tRTP;
      const Clock turn = 2 * apart + std::max(close, t.tRAS) + t.tRP + (write ? t.tRCD_WR : t.tRCD);
      for (const Clock cap : {Clock{0}, Clock{400}, Clock{2000}}) {
        for (const int others : {0, 2}) {
          for (const char* const scheduler : {"fr-fcfs", "bliss"}) {
            const Clock wait = wait_behind_hits(device, cap, write, others, scheduler);
            EXPECT_LE(wait, (others + 1) * (cap + turn))
                << scheduler << ", " << device.name << (write ? " writes, cap " : " reads, cap ") << cap;
            // Hits do pass it so long, if it is the next.
            if (others == 0) {
              EXPECT_GE(wait, cap) << scheduler << ", " << device.name << " cap " << cap;
            }
          }
        }
      }
    }
  }
}

// With the cap the access waits longer, and more hits find their row.
TEST(DramAgeCap, RaisesTheHitRateAndTheLongestWait) {
  for (const DramDevice& device : dram_presets()) {
    Clock shorter = 0;
    for (const Clock cap : {Clock{0}, Clock{200}, Clock{1000}, Clock{4000}}) {
      const Clock wait = wait_behind_hits(device, cap, false, 0);
      EXPECT_GT(wait, shorter) << device.name << " cap " << cap;
      shorter = wait;
    }
  }
}

// How long an access has waited outside the queue does not matter: hits go first there as well.
TEST(DramAgeCap, DoesNotCountTheTimeOutsideTheQueue) {
  DramParams params = DramBench::preset("test-D5");
  params.refresh.kind = "off";
  params.mapping = "rochrababgco";
  params.scheduler = test::fr_fcfs(Time{416} * 300);
  constexpr std::uint64_t kRow = 1ULL << 17U;
  DramBench bench(params);
  // A queue of 64 and much more behind it, of one bank: pairs of rows by turns. All are there from the
  // beginning.
  for (std::uint64_t i = 0; i < 2048; ++i) bench.access({i % 2 * kRow + i / 2 % 64 * 64, false}, Time{});
  bench.open_window(Time{});
  bench.run();
  bench.close_window(bench.now());
  EXPECT_GT(bench.measure("row_hit_rate"), 0.9);
}

}  // namespace
}  // namespace cxloom
