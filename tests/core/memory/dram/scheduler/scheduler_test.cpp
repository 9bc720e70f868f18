// What each DRAM scheduler promises: its order, the requests that it favours, and the longest wait.
#include "memory/dram/scheduler/scheduler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "core/support/dram_bench.hpp"
#include "core/support/errors.hpp"
#include "memory/dram/refresh/policy.hpp"
#include "memory/dram/row_policy/row_policy.hpp"
#include "memory/media/registry.hpp"

namespace cxloom {
namespace {

using test::DramAccess;
using test::DramBench;

constexpr std::uint64_t kNextRow = 1ULL << 17U;    // to the next row of a bank
constexpr std::uint64_t kNextGroup = 1ULL << 12U;  // to the next bank group
const NodeId kFirst{0};
const NodeId kSecond{1};

/// One sub-channel, its row at the top of the address, without refresh.
DramParams quiet_with(const KindSpec& scheduler) {
  DramParams params = DramBench::preset("test-D5");
  params.mapping = "rochrababgco";
  params.refresh.kind = "off";
  params.scheduler = scheduler;
  return params;
}

KindSpec kind(std::string name, Value::Map params = {}) {
  return {std::move(name), Value(std::move(params))};
}

/// Clocks of each read; all are there at the beginning.
std::vector<Clock> latencies(const KindSpec& scheduler, const std::vector<std::uint64_t>& addresses) {
  DramBench bench(quiet_with(scheduler));
  for (const std::uint64_t address : addresses) bench.access({address, false}, Time{});
  bench.run();
  std::vector<Clock> clocks;
  const DramClock clock(bench.config().device.clock);
  for (std::size_t i = 0; i < addresses.size(); ++i) clocks.push_back(clock.edge_at(bench.latency(i)));
  return clocks;
}

// --- FCFS ------------------------------------------------------------------------------------------------

// Each row conflict takes a whole turn of the bank, though the third access finds the first one's row if it
// goes before the second.
TEST(Fcfs, ClosesARowForAnOlderAccess) {
  const DramTiming t = DramBench(quiet_with(kind("fcfs"))).config().device.timing;
  const Clock first = t.tRCD + t.CL + 8;
  const Clock turn = t.tRAS + t.tRP;
  EXPECT_EQ(latencies(kind("fcfs"), {0, kNextRow, 64}), (std::vector{first, first + turn, first + 2 * turn}));
  EXPECT_EQ(latencies(kind("fr-fcfs"), {0, kNextRow, 64}),
            (std::vector{first, first + turn, first + t.tCCD_L}));
}

// No bank is prepared while an older access waits: its ACT follows the RD before it.
TEST(Fcfs, PreparesNoBankForTheNext) {
  const DramTiming t = DramBench(quiet_with(kind("fcfs"))).config().device.timing;
  const Clock data = t.CL + 8;
  EXPECT_EQ(
      latencies(kind("fcfs"), {0, kNextGroup, 2 * kNextGroup, 3 * kNextGroup}),
      (std::vector{t.tRCD + data, 2 * t.tRCD + 1 + data, 3 * t.tRCD + 2 + data, 4 * t.tRCD + 3 + data}));
  EXPECT_EQ(latencies(kind("fr-fcfs"), {0, kNextGroup, 2 * kNextGroup, 3 * kNextGroup}),
            (std::vector{t.tRCD + data, t.tRCD + t.tRRD_S + data, t.tRCD + 2 * t.tRRD_S + data,
                         t.tRCD + 3 * t.tRRD_S + data}));
}

// Reads and writes keep it, also where a bank is being refreshed and others are not.
TEST(Fcfs, KeepsTheOrderOfArrival) {
  for (const char* const scheduler : {"fcfs", "fr-fcfs"}) {
    DramParams params = DramBench::preset("LPDDR5-6400");
    params.scheduler = kind(scheduler);
    params.posted_writes = false;
    DramBench bench(params);
    RandomStream random(1, "dram", "order");
    std::vector<bool> write;
    Time now;
    for (int i = 0; i < 4000; ++i) {
      now += Time{static_cast<std::int64_t>(random.below(60'000))};
      bench.run(now);
      write.push_back(random.chance(0.3));
      // Writes where nobody reads, so that none is answered from the queue.
      bench.access({(write.back() ? 1ULL << 28U : 0) + random.below(1U << 20U) * 64, write.back()}, now);
    }
    bench.run();
    int overtaken = 0;
    Time last[2];
    for (std::size_t i = 0; i < write.size(); ++i) {
      overtaken += bench.done_at[i] < last[write[i]];
      last[write[i]] = std::max(last[write[i]], bench.done_at[i]);
    }
    EXPECT_EQ(overtaken == 0, std::string(scheduler) == "fcfs") << scheduler << ": " << overtaken;
  }
}

// --- BLISS -----------------------------------------------------------------------------------------------

/// A scheduler by itself, with the queue and the timers that it looks at.
struct Rig {
  explicit Rig(const KindSpec& named) : scheduler(test::media_kinds().schedulers.make(named, context)) {}

  void arrive(NodeId requester, std::uint32_t bank, std::uint32_t row) {
    DramBurst burst;
    burst.bank = bank;
    burst.row = row;
    burst.requester = requester;
    scheduler->arrived(queue.add({burst}, order++), 0);
  }
  DramPick pick(std::uint32_t bank, Clock now) {
    return scheduler->pick(queue.oldest(bank, false), timers.bank(bank).row, now);
  }
  /// Serves what the bank serves next; returns what the scheduler wants to be asked about.
  std::uint32_t serve(std::uint32_t bank, Clock now) {
    const DramQueue::Slot slot = pick(bank, now).slot;
    const std::uint32_t again = scheduler->served(slot, now);
    queue.remove(slot);
    return again;
  }

  const DramDevice device = resolve(DramBench::preset("test-D5"), {}).device;
  DramQueue queue{32, 64};
  DramTimers timers{device.organisation, device.timing};
  DramSchedulerContext context{queue, timers, DramClock(device.clock), 32};
  std::unique_ptr<DramScheduler> scheduler;
  std::uint64_t order = 0;
};

TEST(Bliss, BlacklistsAfterFourInARowUntilTheIntervalEnds) {
  Rig rig(kind("bliss"));
  for (int i = 0; i < 3; ++i) rig.arrive(kFirst, 0, 1);
  rig.arrive(kSecond, 1, 1);
  for (int i = 0; i < 5; ++i) rig.arrive(kFirst, 0, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rig.serve(0, 100), DramScheduler::kNoBank);
  EXPECT_EQ(rig.serve(1, 100), DramScheduler::kNoBank);  // another in between: the count begins anew
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rig.serve(0, 100), DramScheduler::kNoBank);
  EXPECT_EQ(rig.pick(0, 100).priority, 0);
  EXPECT_EQ(rig.scheduler->due(), kNeverClock);
  EXPECT_EQ(rig.serve(0, 12'345), DramScheduler::kEveryBank);
  EXPECT_EQ(rig.pick(0, 12'345).priority, 1);
  EXPECT_EQ(rig.scheduler->due(), 20'000);

  // In a bank the other goes first now, though its access is younger and to another row.
  rig.timers.activate(0, 1, 12'345);
  rig.arrive(kSecond, 0, 7);
  const DramPick pick = rig.pick(0, 12'345);
  EXPECT_EQ(rig.queue.at(pick.slot).burst.row, 7U);
  EXPECT_EQ(pick.priority, 0);

  EXPECT_EQ(rig.scheduler->wake(20'000), DramScheduler::kEveryBank);
  EXPECT_EQ(rig.scheduler->due(), kNeverClock);
  EXPECT_EQ(rig.queue.at(rig.pick(0, 20'000).slot).burst.row, 1U);
}

// An access of several bursts is one access.
TEST(Bliss, CountsAccesses) {
  Rig rig(kind("bliss", {{"threshold", 2}}));
  for (int i = 0; i < 4; ++i) {
    DramBurst burst;
    burst.requester = kFirst;
    burst.first = i % 2 == 0;
    rig.queue.add({burst}, rig.order++);
  }
  EXPECT_EQ(rig.serve(0, 0), DramScheduler::kNoBank);
  EXPECT_EQ(rig.serve(0, 0), DramScheduler::kNoBank);
  EXPECT_EQ(rig.serve(0, 0), DramScheduler::kEveryBank);
}

/// Mean latencies in ns of a requester that streams and of one that reads at random, side by side.
struct Pair {
  double stream = 0;
  double random = 0;
};

Pair side_by_side(const KindSpec& scheduler) {
  DramParams params = DramBench::preset("test-D5");
  params.scheduler = scheduler;
  DramBench bench(params);
  RandomStream random(1, "dram", "side by side");
  std::vector<bool> at_random;
  std::uint64_t line = 0;
  const auto stream = [&] {
    at_random.push_back(false);
    return DramAccess{line++ * 64 % (1ULL << 28U), false, 64, kFirst};
  };
  const auto scattered = [&] {
    at_random.push_back(true);
    return DramAccess{(1ULL << 28U) + random.below(1U << 22U) * 64, false, 64, kSecond};
  };
  // The stream has 60 on their way and the other four.
  std::vector<std::function<DramAccess()>> patterns(16, stream);
  patterns.back() = scattered;
  bench.hosts(patterns, 20'000, 64);
  Pair sum;
  double count[2] = {};
  for (std::size_t i = 0; i < at_random.size(); ++i) {
    (at_random[i] ? sum.random : sum.stream) += bench.latency(i).ns();
    ++count[at_random[i]];
  }
  return {sum.stream / count[0], sum.random / count[1]};
}

TEST(Bliss, ServesARandomReaderSoonerBesideAStream) {
  const Pair before = side_by_side(kind("fr-fcfs"));
  const Pair after = side_by_side(kind("bliss"));
  EXPECT_LT(after.random, 0.8 * before.random) << "was " << before.random;
  EXPECT_GT(after.stream, before.stream);
  // Nobody is ever blacklisted.
  const Pair never = side_by_side(kind("bliss", {{"threshold", 1'000'000}}));
  EXPECT_EQ(never.random, before.random);
  EXPECT_EQ(never.stream, before.stream);
  // The longer the interval, the longer the stream stands behind, as long as the other is not blacklisted,
  // too.
  double sooner = before.random;
  for (const int interval : {100, 1000}) {
    const double random = side_by_side(kind("bliss", {{"clearing_interval", interval}})).random;
    EXPECT_LT(random, sooner) << interval;
    sooner = random;
  }
}

// --- nobody starves --------------------------------------------------------------------------------------

// Three requesters keep the data bus busy with hits, by turns, so that none of them is blacklisted; a fourth
// one is, and wants a row of its own.
TEST(Bliss, KeepsTheBlacklistedWaitingForAnIntervalAtMost) {
  const auto wait = [](int interval) {
    DramBench bench(quiet_with(kind("bliss", {{"clearing_interval", interval}, {"age_cap", "0ns"}})));
    const DramClock clock(bench.config().device.clock);
    std::size_t victim = 0;
    for (Clock i = 0; i < 8000; ++i) {
      const Clock at = i * 8;
      bench.run(clock.at(at));
      // Groups one to six, whose rows stay open; more than the bus can take from the beginning on.
      for (int k = 0; k < (i < 40 ? 2 : 1); ++k) {
        const auto n = static_cast<std::uint64_t>(i);
        bench.access({(1 + n % 6) * kNextGroup + n / 6 % 64 * 64, false, 64,
                      NodeId{1 + static_cast<std::uint32_t>(n % 3)}},
                     clock.at(at));
      }
      if (i == 1000) {
        for (std::uint64_t k = 0; k < 4; ++k) bench.access({k * 64, false, 64, NodeId{0}}, clock.at(at));
      }
      if (i == 1100) victim = bench.access({7 * kNextGroup, false, 64, NodeId{0}}, clock.at(at));
    }
    bench.run();
    return clock.edge_at(bench.latency(victim));
  };
  for (const int interval : {2000, 8000, 32'000}) EXPECT_LE(wait(interval), interval + 2000) << interval;
}

/// Lets an access go once it has waited for some clocks; 0: never.
class Holding final : public DramScheduler {
 public:
  struct Params {
    std::uint32_t clocks = 0;
    static void describe(Schema<Params>& schema) {
      schema.doc("Holds accesses back.");
      schema.field("clocks", &Params::clocks).doc("For so long.");
    }
  };
  Holding(const Params& params, const DramSchedulerContext& /*context*/) : clocks_(params.clocks) {}

  DramPick pick(DramQueue::Slot oldest, std::int64_t /*row*/, Clock now) override {
    return {clocks_ != 0 && now >= from_ ? oldest : DramQueue::kNone};
  }
  std::uint32_t arrived(DramQueue::Slot /*slot*/, Clock now) override {
    from_ = now + clocks_;
    if (clocks_ != 0) set_due(from_);
    return kNoBank;
  }
  std::uint32_t wake(Clock /*now*/) override {
    set_due(kNeverClock);
    return kEveryBank;
  }

 private:
  Clock clocks_;
  Clock from_ = 0;
};

MediaRegistry with_holding() {
  MediaRegistry kinds("media");
  register_schedulers(kinds.schedulers);
  register_row_policies(kinds.row_policies);
  register_refresh_policies(kinds.refresh_policies);
  kinds.schedulers.add<Holding>("holding");
  return kinds;
}

// Also an access that nobody disturbs.
TEST(DramScheduler, MayHoldBackTheOnlyAccess) {
  const MediaRegistry kinds = with_holding();
  DramBench bench(quiet_with(kind("holding", {{"clocks", 1000}})), Bytes{1ULL << 30U}, kinds);
  const DramTiming& t = bench.config().device.timing;
  bench.access({0, false}, Time{});
  bench.run();
  const DramClock clock(bench.config().device.clock);
  EXPECT_EQ(clock.edge_at(bench.latency(0)), 1000 + t.tRCD + t.CL + 8);
}

// Where every command is shown, what is still queued at the end has to go out.
TEST(DramScheduler, ThatPicksNothingIsNamed) {
  struct Deaf final : DramCommandLog {
    void command(std::uint32_t /*sub_channel*/, const DramCommandRecord& /*record*/) override {}
  } log;
  for (const char* const refresh : {"off", "all-bank"}) {
    const MediaRegistry kinds = with_holding();
    DramParams params = quiet_with(kind("holding"));
    params.refresh.kind = refresh;
    DramBench bench(params, Bytes{1ULL << 30U}, kinds);
    bench.watch(&log);
    for (std::uint64_t i = 0; i < 3; ++i) bench.access({i * 64, true}, Time{});
    bench.run();
    try {
      bench.drain();
      ADD_FAILURE() << "nothing thrown";
    } catch (const SimulationError& error) {
      EXPECT_EQ(
          std::string(error.what()),
          "deadlock: the DRAM scheduler 'holding' of 'mem' has picked none of 3 bursts for 64ms: they are "
          "missing from the trace of commands");
    }
  }
}

TEST(DramScheduler, IsRefusedByItsName) {
  const InputError error = test::input_error([] { const DramBench bench(quiet_with(kind("fr-fcsf"))); });
  EXPECT_EQ(error.path(), "scheduler.kind");
  EXPECT_EQ(error.detail().suggestion, "fr-fcfs");
}

}  // namespace
}  // namespace cxloom
