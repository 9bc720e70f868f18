#include "device/requester/sequencer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

#include "base/random.hpp"
#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::Running;
using test::SpecBuilder;

/// A host with a memory that answers any number at once after exactly `round_trip`.
SpecBuilder host_and_memory(Value::Map host, const char* round_trip = "100ns") {
  if (std::none_of(host.begin(), host.end(),
                   [](const auto& entry) { return entry.first == "process_time"; })) {
    host.emplace_back("process_time", "0ns");
  }
  return SpecBuilder()
      .device("host", "host", std::move(host))
      .device("mem", "memory",
              {{"controller_time", "0ns"},
               {"capacity", "64MiB"},
               {"media", Value::Map{{"kind", "fixed"}, {"latency", round_trip}}}})
      .link("host", "mem")
      .region({"mem"});
}

std::vector<Access> reads_of_one_line(std::size_t count) { return std::vector<Access>(count, access_to(0)); }

TEST(Sequencer, AClosedLoopKeepsExactlyItsQueueInFlight) {
  // q requests each 100 ns: request k starts at (k / q) x 100 ns.
  for (const std::int64_t queue : {1, 3, 64}) {
    Running run(host_and_memory({{"queue", queue}}).replay("host", reads_of_one_line(192)));
    run.to_end();
    ASSERT_EQ(run.table().rows(), 192U);  // whole rounds
    for (std::size_t k = 0; k < 192; ++k)
      EXPECT_EQ(run.created(k), 100_ns * static_cast<std::int64_t>(k / static_cast<std::size_t>(queue)));
    EXPECT_NEAR(run.number({"per_requester", "host", "in_flight_mean"}), static_cast<double>(queue), 1e-9);
    EXPECT_EQ(run.number({"latency_ns", "mean"}), 100.0);
  }
}

TEST(Sequencer, TheIssueIntervalSpacesIssues) {
  Running run(host_and_memory({{"issue_interval", "7ns"}}).replay("host", reads_of_one_line(50)));
  run.to_end();
  for (std::size_t k = 0; k < 50; ++k) EXPECT_EQ(run.created(k), 7_ns * static_cast<std::int64_t>(k));
}

TEST(Sequencer, InstructionGapsSpaceIssues) {
  std::vector<Access> accesses = reads_of_one_line(5);
  for (std::uint32_t i = 0; i < 5; ++i) accesses[i].instruction_gap = i * 10;
  Running run(host_and_memory({{"instruction_time", "250ps"}}).replay("host", accesses));
  run.to_end();
  std::int64_t gaps = 0;
  for (std::size_t k = 0; k < 5; ++k) {
    gaps += static_cast<std::int64_t>(k) * 10;
    EXPECT_EQ(run.created(k), Time{250 * gaps});
  }
}

TEST(Sequencer, AnOpenLoopOfFixedRateDoesNotDrift) {
  // 3 requests in 1000 ps x 10^6 / ...: every 333.333 ps, the k-th at floor(k x 1000 / 3).
  SpecBuilder system = host_and_memory({{"queue", 1024}}, "1ns");
  system.work("host", {{"pattern", "random"}, {"requests", 3000}, {"footprint", "1MiB"}, {"rate", "3G/s"}});
  Running run(system);
  run.to_end();
  for (std::size_t k = 0; k < run.table().rows(); ++k) {
    EXPECT_EQ(run.table().created_ps[k], static_cast<std::int64_t>(run.table().id[k] * 1000 / 3));
    EXPECT_EQ(run.latency(k), 1_ns);
  }
}

TEST(Sequencer, PoissonArrivalsHaveExponentialGaps) {
  SpecBuilder system = host_and_memory({{"queue", 65536}}, "1ns");
  system.work("host", {{"pattern", "random"},
                       {"requests", 100000},
                       {"footprint", "1MiB"},
                       {"rate", "100M/s"},
                       {"arrivals", "poisson"}});
  Running run(system);
  run.to_end();
  const auto& created = run.table().created_ps;
  double sum = 0.0;
  double squares = 0.0;
  const auto n = static_cast<double>(created.size() - 1);
  for (std::size_t k = 1; k < created.size(); ++k) {
    const double gap = static_cast<double>(created[k] - created[k - 1]) / 10'000.0;  // mean 10 ns
    sum += gap;
    squares += gap * gap;
  }
  EXPECT_NEAR(sum / n, 1.0, 5.0 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 2.0, 5.0 * std::sqrt(20.0 / n));
}

TEST(Sequencer, TheClockOfAnOpenLoopStartsWhenTheRequestIsDue) {
  // One slot of 100 ns, a request every 40 ns: request k is issued at 100 k and has waited since 40 k.
  SpecBuilder system = host_and_memory({{"queue", 1}});
  system.work("host", {{"pattern", "random"}, {"requests", 20}, {"footprint", "1MiB"}, {"rate", "25M/s"}});
  Running run(system);
  run.to_end();
  for (std::size_t k = 0; k < 20; ++k) {
    const auto id = static_cast<std::int64_t>(k);
    EXPECT_EQ(run.created(k), 40_ns * id);
    EXPECT_EQ(run.segment(k, Segment::kRequesterQueue), 60_ns * id);
    EXPECT_EQ(run.completed(k), 100_ns * (id + 1));
  }
}

TEST(Sequencer, TimestampsAreKept) {
  std::vector<Access> accesses = reads_of_one_line(4);
  const std::int64_t at[] = {5, 5, 70, 300};
  for (std::size_t i = 0; i < 4; ++i) accesses[i].timed = true, accesses[i].timestamp = 1_ns * at[i];
  Running run(host_and_memory({}).replay("host", accesses, {{"replay", "timestamps"}}));
  run.to_end();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(run.created(i), 1_ns * at[i]);
    EXPECT_EQ(run.completed(i), 1_ns * at[i] + 100_ns);
  }
  accesses[2].timed = false;
  Running bad(host_and_memory({}).replay("host", accesses, {{"replay", "timestamps"}}));
  EXPECT_THROW(bad.to_end(), InputError);
}

TEST(Sequencer, ADependentAccessWaitsForItsAnswer) {
  // 0 and 1 at once, 2 needs 0 (two back), 3 needs 2 (one back), 4 needs nothing but its turn.
  std::vector<Access> accesses = reads_of_one_line(5);
  accesses[2].dependence = 2;
  accesses[3].dependence = 1;
  Running run(host_and_memory({}).replay("host", accesses));
  run.to_end();
  const std::int64_t issued[] = {0, 0, 100, 200, 200};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(run.created(i), 1_ns * issued[i]);
}

TEST(Sequencer, DependencesBeyondTheStartOrLongAnsweredDoNotWait) {
  std::vector<Access> accesses = reads_of_one_line(5000);
  for (Access& access : accesses) access.dependence = 3000;
  accesses[1].dependence = 7;
  Running run(host_and_memory({{"queue", 4}}, "1ns").replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.completed(4999), 1_ns * 1250);
}

TEST(Sequencer, APointerChaseHasOneRequestAtATime) {
  SpecBuilder system = host_and_memory({{"queue", 64}});
  system.work("host", {{"pattern", "pointer-chase"}, {"requests", 50}, {"footprint", "1MiB"}});
  Running run(system);
  run.to_end();
  for (std::size_t k = 0; k < 50; ++k) EXPECT_EQ(run.created(k), 100_ns * static_cast<std::int64_t>(k));
}

TEST(Sequencer, WarmupIsExtraAndTheWindowClosesWhenTheWorkIsDone) {
  // Queue 1: requests 10 ... 29 are measured, from 1000 ns to 3000 ns.
  SpecBuilder system = host_and_memory({{"queue", 1}});
  system.work("host", {{"pattern", "random"}, {"requests", 20}, {"footprint", "1MiB"}})
      .run_with({{"warmup", 10}});
  Running run(system);
  run.to_end();
  EXPECT_EQ(run.table().rows(), 20U);
  EXPECT_EQ(run.table().id.front(), 10U);
  EXPECT_EQ(run.simulation().window_start(), 1_us);
  EXPECT_EQ(run.simulation().window_end(), 3_us);
  EXPECT_EQ(run.number({"bandwidth_gb_per_s"}), 0.64);
}

TEST(Sequencer, ATraceThatEndsDuringTheWarmupIsRefused) {
  for (const std::size_t length : {3U, 10U}) {
    Running run(host_and_memory({}).replay("host", reads_of_one_line(length)).run_with({{"warmup", 10}}));
    EXPECT_THROW(run.to_end(), InputError) << length;
  }
  Running enough(host_and_memory({}).replay("host", reads_of_one_line(11)).run_with({{"warmup", 10}}));
  enough.to_end();
  EXPECT_EQ(enough.table().rows(), 1U);
}

TEST(Sequencer, ATraceShorterThanItsRequestsEndsTheRun) {
  Running run(host_and_memory({}).replay("host", reads_of_one_line(8), {{"requests", 20}}));
  run.to_end();
  EXPECT_EQ(run.table().rows(), 8U);
  EXPECT_EQ(run.simulation().state(), Simulation::State::kFinished);
}

TEST(Sequencer, AnAddressThatNobodyHoldsIsTheUsersMistake) {
  Running run(host_and_memory({}).replay("host", {access_to(1ULL << 40U)}));
  EXPECT_THROW(run.to_end(), InputError);
}

// --- the cache ---

const Value::Map kSmallCache{{"size", "512B"}, {"ways", 2}, {"access_time", "12ns"}};  // 4 sets of 2

TEST(RequesterCache, HitsMissesAndWriteBacksAgreeWithANaiveLruCache) {
  // One request at a time, so the order is that of the trace.
  RandomStream random(3, "requester", "cache");
  std::vector<Access> accesses;
  for (int i = 0; i < 4000; ++i) {
    accesses.push_back(access_to(random.below(24) * 64 + random.below(8) * 8,
                                 random.chance(0.3) ? AccessKind::kWrite : AccessKind::kRead));
    accesses.back().size = 8;
  }
  Running run(host_and_memory({{"queue", 1}, {"process_time", "10ns"}, {"cache", kSmallCache}})
                  .replay("host", accesses));
  run.to_end();
  struct Line {
    std::uint64_t number;
    bool dirty;
  };
  std::vector<std::deque<Line>> sets(4);  // most recently used first
  std::uint64_t misses = 0;
  std::uint64_t write_backs = 0;
  ASSERT_EQ(run.table().rows(), accesses.size());
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const std::uint64_t number = accesses[i].address.value() / 64;
    auto& set = sets[number % 4];
    const auto found =
        std::find_if(set.begin(), set.end(), [&](const Line& line) { return line.number == number; });
    Line line{number, accesses[i].kind == AccessKind::kWrite};
    const bool hit = found != set.end();
    if (hit) {
      line.dirty |= found->dirty;
      set.erase(found);
    } else {
      ++misses;
      if (set.size() == 2) {
        write_backs += set.back().dirty ? 1 : 0;
        set.pop_back();
      }
    }
    set.push_front(line);
    ASSERT_EQ(run.latency(i), hit ? 22_ns : 122_ns) << i;
    ASSERT_EQ(run.table().target[i], hit ? 0U : 1U);
  }
  EXPECT_EQ(run.number({"per_memory", "mem", "reads"}), static_cast<double>(misses));
  EXPECT_GT(write_backs, 100U);
  EXPECT_NEAR(run.number({"write_backs"}), static_cast<double>(write_backs),
              1.0);  // the last may be under way at the end
  EXPECT_NEAR(run.number({"per_requester", "host", "cache_hit_rate"}),
              1.0 - static_cast<double>(misses) / 4000.0, 1e-12);
}

TEST(RequesterCache, MissesToOneLineShareOneFetch) {
  // Four accesses to a line at 0, 5, 10, 15 ns; the line comes at 0 + 12 + 100 ns: the later ones wait less
  // in mshr.
  std::vector<Access> accesses(4, access_to(64));
  accesses[2].kind = AccessKind::kWrite;
  Running run(host_and_memory({{"issue_interval", "5ns"}, {"cache", kSmallCache}}).replay("host", accesses));
  run.to_end();
  for (std::size_t i = 0; i < 4; ++i) {
    const Time issued = 5_ns * static_cast<std::int64_t>(i);
    EXPECT_EQ(run.created(i), issued);
    EXPECT_EQ(run.completed(i), 112_ns);
    EXPECT_EQ(run.segment(i, Segment::kMshr), i == 0 ? 0_ns : 100_ns - issued);
    EXPECT_EQ(run.table().target[i], 1U);
  }
  EXPECT_EQ(run.number({"per_memory", "mem", "reads"}), 1.0);
  EXPECT_NEAR(run.number({"bandwidth_gb_per_s"}), 64.0 / 112.0, 1e-12);  // one line has moved, once
}

TEST(RequesterCache, AMergedWriteMakesTheLineDirty) {
  // Read and write of line 0 share a fetch; lines 4 and 8 of the same set push it out: it must come back.
  std::vector<Access> accesses{access_to(0), access_to(0, AccessKind::kWrite), access_to(256), access_to(512),
                               access_to(768)};
  accesses[2].dependence = 1;
  accesses[3].dependence = 1;
  accesses[4].dependence = 1;
  Running run(host_and_memory({{"cache", kSmallCache}}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.number({"per_requester", "host", "write_backs"}), 1.0);
}

TEST(RequesterCache, ALookupThatIsStillGoingOnEndsBeforeTheRequestDoes) {
  // The second access comes 1 ns before the line: its own lookup ends 11 ns after that.
  std::vector<Access> accesses(2, access_to(0));
  Running run(
      host_and_memory({{"issue_interval", "111ns"}, {"cache", kSmallCache}}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.completed(0), 112_ns);
  EXPECT_EQ(run.completed(1), 123_ns);
  EXPECT_EQ(run.segment(1, Segment::kMshr), 0_ns);
}

}  // namespace
}  // namespace cxloom
