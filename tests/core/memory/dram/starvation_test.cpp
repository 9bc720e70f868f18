// Nobody starves: a probe with one access on its way beside neighbours that want more than there is. Each
// wait is below what follows from the rules alone, whatever the preset, the scheduler, and the depths of the
// queues. A slice in every run of the tests; all of it with CXLOOM_DRAM_DEPTHS=all (make dram-check).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/dram_bench.hpp"
#include "memory/dram/device/clock.hpp"

namespace cxloom {
namespace {

using test::DramAccess;
using test::DramBench;
using test::whole_dram_tables;

/// Where the neighbours go. Rows of one bank by turns: every access closes the row of the one before.
enum class Where : std::uint8_t { kAnywhere, kInSequence, kOneBank };

/// A neighbour that reads or writes with so many accesses on its way, and a probe with one.
struct Meeting {
  bool probe_writes = false;
  bool neighbour_writes = true;
  bool one_requester = false;  ///< both are threads of one
  Where where = Where::kAnywhere;
  std::uint64_t depth = 256;
  std::uint64_t count = 4000;
};

/// What the probe waited, in clocks.
struct Waits {
  std::uint64_t probes = 0;
  Clock longest = 0;
  Clock p999 = 0;
  double mean = 0;
};

Waits waits(const DramParams& params, const Meeting& meeting) {
  DramBench bench(params);
  const std::uint64_t lines = bench.config().capacity() / 64;
  const std::uint64_t row = lines / bench.config().device.organisation.rows;
  RandomStream random(1, "dram", "probe");
  std::uint64_t next = 0;
  std::vector<std::size_t> numbers;
  const auto neighbour = [&] {
    const std::uint64_t line = meeting.where == Where::kAnywhere     ? random.below(lines)
                               : meeting.where == Where::kInSequence ? next++ % lines
                                                                     : next++ * row % lines;
    return DramAccess{line * 64, meeting.neighbour_writes, 64, NodeId{0}};
  };
  std::vector<std::function<DramAccess()>> hosts(meeting.depth, neighbour);
  hosts.emplace_back([&] {
    numbers.push_back(bench.done_at.size());
    return DramAccess{random.below(lines) * 64, meeting.probe_writes, 64,
                      NodeId{meeting.one_requester ? 0U : 1U}};
  });
  bench.hosts(hosts, meeting.count, hosts.size());
  const DramClock clock(bench.config().device.clock);
  Waits found;
  std::vector<Clock> latencies;
  for (const std::size_t number : numbers) {
    const Clock latency = clock.edge_at(bench.latency(number));
    EXPECT_GE(bench.segment(number, Segment::kMedia), Time{});
    EXPECT_GE(bench.segment(number, Segment::kMediaQueue), Time{});
    latencies.push_back(latency);
    found.longest = std::max(found.longest, latency);
    found.mean += static_cast<double>(latency) / static_cast<double>(numbers.size());
    ++found.probes;
  }
  std::sort(latencies.begin(), latencies.end());
  if (!latencies.empty()) found.p999 = latencies[latencies.size() * 999 / 1000];
  return found;
}

/// A burst holds up the next by no more than the whole cycle of its bank: it is sent, its row closed, another
/// opened.
Clock longest_burst(const DramTiming& t, Clock burst, bool write) {
  const Clock used = write ? t.CWL + burst + t.tWR : t.tRTP;
  return std::max(t.tRAS, used + std::max(t.tRCD, t.tRCD_WR)) + t.tRP + t.tCCD_L_WR;
}

/// What an access alone of its direction waits at most: a run of the other, a burst of each direction whose
/// row is open and not used, the bus that turns twice, the cycle of its own bank, its own bursts; and the
/// refreshes in all that time, each of which closes the banks first, and the next of which may be due when it
/// is over.
Clock longest_wait(const DramConfig& config, std::uint32_t run, bool write) {
  const DramTiming& t = config.device.timing;
  const DramOrganisation& o = config.device.organisation;
  const Clock turn = t.CWL + o.burst_clocks + t.tWTR_L + t.tRTW;
  const Clock own = longest_burst(t, o.burst_clocks, write);
  const Clock work = (run + 1) * longest_burst(t, o.burst_clocks, !write) + 2 * turn +
                     (o.bursts_in_line() + 1) * own + std::max(t.CL, t.CWL) + o.burst_clocks;
  const Clock close = t.tRAS + t.CWL + t.tWR + t.tRP;
  const bool rank = config.device.usual_refresh == DramRefreshScope::kRank;
  const Clock refresh = close + (rank ? t.tRFC : t.tRFC_SB);
  const Clock left = std::max((rank ? t.tREFI : t.tREFI_SB) - refresh, own);
  return work + (work / left + 1) * refresh;
}

/// What it waits at most for others of its own direction: all that are in the queue before it, one after the
/// other, of which each may be passed for the age cap once it is the oldest of its bank; with FCFS, which
/// admits in order, all that are on their way. For a bank by itself that is long. Where neighbours go
/// anywhere, or in sequence, a bank has its share of them.
Clock longest_wait_of_own(const DramConfig& config, std::uint64_t before, bool one_bank, Clock cap,
                          bool write) {
  const DramTiming& t = config.device.timing;
  const Clock own = longest_burst(t, config.device.organisation.burst_clocks, write);
  const auto bursts = static_cast<Clock>(before * config.device.organisation.bursts_in_line());
  return longest_wait(config, 0, write) + bursts * own + (one_bank ? bursts : 8) * cap;
}

/// The table: a probe that reads, or writes, beside what a neighbour reads, or writes. `visit` gets each
/// case, or each so-and-so-many of the slice.
template <class Visit>
void each_case(std::size_t stride, Visit visit) {
  std::size_t n = 0;
  for (const DramDevice& device : dram_presets()) {
    for (const char* const scheduler : {"fr-fcfs", "fcfs", "bliss"}) {
      for (const std::uint32_t queue : {1U, 2U, 16U, 64U, 256U}) {
        for (const bool write : {false, true}) {
          for (const Where where : {Where::kAnywhere, Where::kInSequence, Where::kOneBank}) {
            if (n++ % stride != 0 && !whole_dram_tables()) continue;
            DramParams params = DramBench::preset(std::string(device.name));
            params.scheduler.kind = scheduler;
            params.read_queue = params.write_queue = queue;
            params.posted_writes = !write;  // writes that are posted wait for nobody
            visit(params, where, write,
                  std::string(device.name) + ' ' + scheduler + ", queues of " + std::to_string(queue) +
                      (write ? ", writes " : ", reads ") + std::to_string(static_cast<int>(where)));
          }
        }
      }
    }
  }
}

TEST(DramStarvation, AProbeWaitsForOneRunOfTheOtherDirectionAtMost) {
  each_case(11, [](const DramParams& params, Where where, bool write, const std::string& name) {
    const Meeting meeting{.probe_writes = write,
                          .neighbour_writes = !write,
                          .where = where,
                          .count = whole_dram_tables() ? 100'000U : 4'000U};
    const Waits found = waits(params, meeting);
    const DramBench bench(params);
    EXPECT_LE(found.longest, longest_wait(bench.config(), bench.config().turn, write)) << name;
    EXPECT_GE(found.probes, 5U) << name;
  });
}

// A thread beside those of its own requester: the run is a lull, as nobody else comes in its direction.
TEST(DramStarvation, AThreadWaitsForALullAtMost) {
  each_case(37, [](const DramParams& params, Where where, bool write, const std::string& name) {
    const Meeting meeting{.probe_writes = write,
                          .neighbour_writes = !write,
                          .one_requester = true,
                          .where = where,
                          .count = whole_dram_tables() ? 100'000U : 12'000U};
    const Waits found = waits(params, meeting);
    const DramBench bench(params);
    EXPECT_LE(found.longest, longest_wait(bench.config(), bench.config().lull, write)) << name;
    EXPECT_GE(found.probes, 5U) << name;
  });
}

// Reads beside reads, and writes beside writes.
TEST(DramStarvation, AProbeWaitsForTheQueueBeforeItAtMost) {
  each_case(23, [](const DramParams& params, Where where, bool write, const std::string& name) {
    const Meeting meeting{.probe_writes = write,
                          .neighbour_writes = write,
                          .where = where,
                          .count = whole_dram_tables() ? 100'000U : 4'000U};
    const Waits found = waits(params, meeting);
    const DramBench bench(params);
    const bool fcfs = params.scheduler.kind == "fcfs";
    const Clock cap = fcfs ? 0 : DramClock(bench.config().device.clock).edge_at(Time{1'000'000});
    const std::uint64_t before = fcfs ? meeting.depth + params.read_queue : params.read_queue;
    EXPECT_LE(found.p999, longest_wait_of_own(bench.config(), before, where == Where::kOneBank, cap, write))
        << name;
    EXPECT_GE(found.probes, 5U) << name;
  });
}

// Where banks work side by side, a burst at random takes tFAW / 4 or its clocks, and a run hardly more than
// as many of them.
TEST(DramStarvation, ARunAtRandomTakesItsShareOfTheBus) {
  for (const char* const preset : {"DDR4-3200", "DDR5-4800", "HBM3-6400"}) {
    for (const bool write : {false, true}) {
      DramParams params = DramBench::preset(preset);
      params.posted_writes = !write;
      const DramBench bench(params);
      const DramConfig& config = bench.config();
      const DramTiming& t = config.device.timing;
      const DramOrganisation& o = config.device.organisation;
      const Clock bursts = std::max(t.tFAW / 4 / o.bursts_in_line(), Clock{o.burst_clocks});
      const Clock run = config.turn * bursts * 3 / 2;
      const Clock around = 4 * longest_burst(t, o.burst_clocks, true) + t.tRFC;
      const Waits found = waits(params, {.probe_writes = write, .neighbour_writes = !write, .count = 20'000});
      EXPECT_LE(found.longest, run + around) << preset << (write ? " writes" : " reads");
    }
  }
}

// The longer a run may be, the longer the wait; the more writes are on their way, the longer it is as well,
// up to a run.
TEST(DramStarvation, TheWaitRisesWithTheRunAndWithTheLoad) {
  DramParams params = DramBench::preset("DDR4-3200");
  double before = 0;
  for (const std::uint32_t turn : {16U, 64U, 256U}) {
    params.turn = turn;
    const double mean = waits(params, {.count = 20'000}).mean;
    EXPECT_GT(mean, 1.5 * before) << turn;
    before = mean;
  }
  params.turn.reset();
  before = 0;
  for (const std::uint32_t lull : {128U, 512U}) {
    params.lull = lull;
    const double mean = waits(params, {.one_requester = true, .count = 40'000}).mean;
    EXPECT_GT(mean, 1.5 * before) << lull;
    before = mean;
  }
  params.lull.reset();
  before = 0;
  for (const std::uint64_t depth : {1U, 4U, 16U, 64U, 256U}) {
    const double mean = waits(params, {.depth = depth, .count = 20'000}).mean;
    EXPECT_GT(mean, 0.97 * before) << depth;
    before = mean;
  }
}

// Threads of one requester, which reads one line in ten: more reads come before a run is a lull, so that its
// end is `longest_turn`.
TEST(DramStarvation, TheReadsOfAMixWaitForTheLongestRunAtMost) {
  DramParams params = DramBench::preset("DDR4-3200");
  Clock before = 0;
  for (const std::uint32_t longest : {768U, 2048U}) {
    params.longest_turn = longest;
    DramBench bench(params);
    RandomStream random(1, "dram", "mix");
    std::vector<std::size_t> reads;
    const auto mix = [&] {
      const bool write = random.chance(0.95);
      if (!write) reads.push_back(bench.done_at.size());
      return DramAccess{random.below(1U << 24U) * 64, write};
    };
    bench.loop(mix, 40'000, 256);
    Clock found = 0;
    for (const std::size_t number : reads)
      found = std::max(found, DramClock(bench.config().device.clock).edge_at(bench.latency(number)));
    // The run, and all reads that gathered in it.
    EXPECT_LE(found, longest_wait(bench.config(), longest + 256, false)) << longest;
    EXPECT_GT(found, before) << longest;
    before = found;
  }
}

/// A requester alone, of whose accesses a share are writes.
double bandwidth(const DramParams& params, double writes, bool anywhere, std::uint64_t depth) {
  DramBench bench(params);
  const std::uint64_t lines = bench.config().capacity() / 64;
  RandomStream random(1, "dram", "mix");
  std::uint64_t next = 0;
  const auto place = [&] {
    const bool write = random.uniform() < writes;
    return DramAccess{(anywhere ? random.below(lines) : next++ % lines) * 64, write};
  };
  // The whole table compares runs to 1 %: as many turns for each sub-channel.
  const std::uint64_t channels = whole_dram_tables() ? bench.config().sub_channels : 1;
  return bench.loop(place, 30'000 * channels, depth).gb_per_s;
}

// The bound costs a requester by itself nothing: its runs end by themselves, or are so long that a turn does
// not count.
TEST(DramStarvation, ARequesterAloneKeepsItsBandwidth) {
  const bool all = whole_dram_tables();
  std::size_t n = 0;
  for (const DramDevice& device : dram_presets()) {
    for (const bool posted : {true, false}) {
      for (const bool anywhere : {true, false}) {
        for (const double writes : {0.0, 0.1, 0.5, 0.9, 0.95, 0.98, 1.0}) {
          for (const std::uint64_t depth : {16U, 64U, 256U}) {
            if (n++ % 113 != 0 && !all) continue;
            DramParams params = DramBench::preset(std::string(device.name));
            params.posted_writes = posted;
            const double bound = bandwidth(params, writes, anywhere, depth);
            params.lull = params.longest_turn = 100'000'000;
            const double unbound = bandwidth(params, writes, anywhere, depth);
            EXPECT_GT(bound, 0.99 * unbound) << device.name << (posted ? ", posted, " : ", ") << writes
                                             << (anywhere ? " at random, " : " in sequence, ") << depth;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace cxloom
