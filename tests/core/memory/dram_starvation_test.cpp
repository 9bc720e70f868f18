// Nobody starves: a probe with one access on its way beside neighbours that want more than there is. Each wait is below what follows
// from the rules alone, whatever the preset, the scheduler, and the depths of the queues.
// A slice in every run of the tests; all of it with CXLOOM_DRAM_DEPTHS=all (make dram-check).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/dram_bench.hpp"
#include "memory/dram_clock.hpp"

namespace cxloom {
namespace {

using test::DramAccess;
using test::DramBench;

bool everything() {
  const char* const wanted = std::getenv("CXLOOM_DRAM_DEPTHS");
  return wanted && std::string(wanted) == "all";
}

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
  for (const std::size_t number : numbers) {
    const Clock latency = clock.edge_at(bench.latency(number));
    EXPECT_GE(bench.segment(number, Segment::kMedia), Time{});
    EXPECT_GE(bench.segment(number, Segment::kMediaQueue), Time{});
    found.longest = std::max(found.longest, latency);
    found.mean += static_cast<double>(latency) / static_cast<double>(numbers.size());
    ++found.probes;
  }
  return found;
}

/// A burst holds up the next by no more than the whole cycle of its bank: it is sent, its row closed, another opened.
Clock longest_burst(const DramTiming& t, Clock burst, bool write) {
  const Clock used = write ? t.CWL + burst + t.tWR : t.tRTP;
  return std::max(t.tRAS, used + std::max(t.tRCD, t.tRCD_WR)) + t.tRP + t.tCCD_L_WR;
}

/// What an access alone of its direction waits at most: a run of the other, a burst of each direction whose row is open and not
/// used, the bus that turns twice, the cycle of its own bank, its own bursts; and the refreshes in all that time, each of which
/// closes the banks first, and the next of which may be due when it is over.
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

TEST(DramStarvation, AProbeWaitsForOneRunOfTheOtherDirectionAtMost) {
  const bool all = everything();
  std::size_t n = 0;
  for (const DramDevice& device : dram_presets()) {
    for (const char* const scheduler : {"fr-fcfs", "fcfs", "bliss"}) {
      for (const std::uint32_t queue : {1U, 2U, 16U, 64U, 256U}) {
        for (const bool write : {false, true}) {  // writes that are posted wait for nobody
          for (const Where where : {Where::kAnywhere, Where::kInSequence, Where::kOneBank}) {
            if (n++ % 7 != 0 && !all) continue;
            DramParams params = DramBench::preset(std::string(device.name));
            params.scheduler.kind = scheduler;
            params.read_queue = params.write_queue = queue;
            params.posted_writes = !write;
            const Meeting meeting{.probe_writes = write,
                                  .neighbour_writes = !write,
                                  .where = where,
                                  .count = all ? 100'000U : 4'000U};
            const Waits found = waits(params, meeting);
            const DramBench bench(params);
            const std::string name = std::string(device.name) + ' ' + scheduler + ", queues of " +
                                     std::to_string(queue) + (write ? ", writes " : ", reads ") +
                                     std::to_string(static_cast<int>(where));
            EXPECT_LE(found.longest, longest_wait(bench.config(), bench.config().turn, write)) << name;
            EXPECT_GE(found.probes, 10U) << name;
          }
        }
      }
    }
  }
}

// Where banks work side by side, a burst at random takes tFAW / 4 or its clocks, and a run hardly more than as many of them.
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

// The longer a run may be, the longer the wait; the more writes are on their way, the longer it is as well, up to a run.
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
  for (const std::uint64_t depth : {1U, 4U, 16U, 64U, 256U}) {
    const double mean = waits(params, {.depth = depth, .count = 20'000}).mean;
    EXPECT_GT(mean, 0.97 * before) << depth;
    before = mean;
  }
}

// Threads of one requester: its runs are longer, but they end.
TEST(DramStarvation, AThreadBesideItsOwnWritesWaitsForALongerRun) {
  DramParams params = DramBench::preset("DDR4-3200");
  double before = 0;
  for (const std::uint32_t longest : {128U, 1024U}) {
    params.longest_turn = longest;
    const DramBench bench(params);
    const Waits found = waits(params, {.one_requester = true, .count = 60'000});
    EXPECT_LE(found.longest, longest_wait(bench.config(), longest, false));
    EXPECT_GE(found.probes, 30U);
    EXPECT_GT(found.mean, before);
    before = found.mean;
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
  return bench.loop(place, 30'000, depth).gb_per_s;
}

// The bound costs a requester by itself nothing: its runs end by themselves, or are so long that a turn does not count.
TEST(DramStarvation, ARequesterAloneKeepsItsBandwidth) {
  const bool all = everything();
  std::size_t n = 0;
  for (const DramDevice& device : dram_presets()) {
    for (const bool posted : {true, false}) {
      for (const bool anywhere : {true, false}) {
        for (const double writes : {0.0, 0.1, 0.5, 0.9, 0.95, 1.0}) {
          for (const std::uint64_t depth : {16U, 64U, 256U}) {
            if (n++ % 97 != 0 && !all) continue;
            DramParams params = DramBench::preset(std::string(device.name));
            params.posted_writes = posted;
            const double bound = bandwidth(params, writes, anywhere, depth);
            params.longest_turn = 100'000'000;
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
