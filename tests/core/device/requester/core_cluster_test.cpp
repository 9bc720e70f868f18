#include "device/requester/core_cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"
#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::Running;
using test::System;

/// A cycle is 250 ps, and four instructions retire in one unless `params` have another width.
Value::Map core_with(Value::Map params) {
  params.emplace_back("clock", "4G/s");
  if (std::none_of(params.begin(), params.end(), [](const auto& entry) { return entry.first == "width"; }))
    params.emplace_back("width", 4);
  return params;
}

/// A host with a core and a memory that answers any number at once after exactly 100 ns.
System with_core(Value::Map core, Value::Map host = {}) {
  host.emplace_back("process_time", "0ns");
  host.emplace_back("core", core_with(std::move(core)));
  if (std::none_of(host.begin(), host.end(), [](const auto& entry) { return entry.first == "queue"; }))
    host.emplace_back("queue", 1024);
  return System()
      .device("host", "host", std::move(host))
      .device("mem", "memory",
              {{"controller_time", "0ns"},
               {"capacity", "1GiB"},
               {"media", Value::Map{{"kind", "fixed"}, {"latency", "100ns"}}}})
      .link("host", "mem")
      .region({"mem"});
}

/// Reads of different lines, each `gap` instructions after the one before.
std::vector<Access> reads_apart(std::size_t count, std::uint32_t gap) {
  std::vector<Access> accesses;
  for (std::size_t i = 0; i < count; ++i) {
    accesses.push_back(access_to(i * 64));
    accesses.back().instruction_gap = gap;
  }
  return accesses;
}

double core(const Running& run, std::string_view key) {
  return run.number({"per_requester", "host", "core", key});
}

void expect_parts_to_sum(const Running& run, std::string_view host = "host") {
  const Value summary = run.summary();
  const Value* core = summary.find("per_requester")->find(host)->find("core");
  double sum = 0;
  for (const char* part : {"busy_ns", "chain_ns", "mshr_ns", "idle_ns"}) sum += *core->find(part)->as_real();
  for (const auto& [name, value] : *core->find("memory_ns")->as_map()) sum += *value.as_real();
  if (const Value* walks = core->find("walk_ns")) sum += *walks->as_real();
  EXPECT_NEAR(sum, *core->find("time_ns")->as_real(), 1e-6 * sum + 1e-3);
}

TEST(CoreCluster, OneReadComesAfterTheInstructionsBeforeIt) {
  Running run(with_core({}).replay("host", reads_apart(1, 400)));
  run.to_end();
  EXPECT_EQ(run.created(0), 25_ns);  // 400 instructions of a quarter of 250 ps
  EXPECT_EQ(run.completed(0), 125_ns);
  EXPECT_EQ(core(run, "instructions"), 400);
  EXPECT_EQ(core(run, "busy_ns"), 25.0);
  EXPECT_EQ(core(run, "time_ns"), 125.0);
  expect_parts_to_sum(run);
}

TEST(CoreCluster, AChainOfReadsTakesALatencyAndItsComputingEach) {
  std::vector<Access> accesses = reads_apart(100, 8);
  for (std::size_t i = 1; i < accesses.size(); ++i) {
    accesses[i].dependence = 1;
    accesses[i].dependence_cycles = 20;  // 5 ns
  }
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  for (std::size_t k = 0; k < 100; ++k)
    EXPECT_EQ(run.created(k), Time{500 + 105'000 * static_cast<std::int64_t>(k)});
  EXPECT_NEAR(core(run, "time_ns"), 0.5 + 99 * 105 + 100, 1e-9);
  EXPECT_NEAR(core(run, "chain_ns"), 99 * 5, 99 * 0.5);  // in part hidden by its instructions
  expect_parts_to_sum(run);
}

TEST(CoreCluster, TheWindowLetsSoManyReadsOverlap) {
  // In a window of 128 instructions, a read in every 32: the read 128 instructions behind comes in as the
  // first retires. Four reads take the latency, and that the first of the next four is dispatched with it.
  for (const std::int64_t window : {32, 64, 128, 256, 512}) {
    const std::int64_t overlap = window / 32;
    Running run(with_core({{"window", window}}).replay("host", reads_apart(512, 32)));
    run.to_end();
    // The k-th is the (k % overlap)-th of its group; in a group they are 32 instructions apart, which is 2 ns.
    for (std::int64_t k = 0; k < 512; ++k)
      EXPECT_EQ(run.created(static_cast<std::size_t>(k)), 2_ns * (1 + k % overlap) + 100_ns * (k / overlap))
          << window << " " << k;
    expect_parts_to_sum(run);
  }
}

TEST(CoreCluster, WhereTheWindowIsLongEnoughInstructionsAloneTakeTime) {
  Running run(with_core({{"window", 2048}, {"mshrs", 64}})
                  .replay("host", reads_apart(512, 32)));  // 64 reads in the window, 128 ns
  run.to_end();
  for (std::size_t k = 0; k < 512; ++k) EXPECT_EQ(run.created(k), 2_ns * static_cast<std::int64_t>(k + 1));
  EXPECT_EQ(core(run, "busy_ns"), 1024.0);
  EXPECT_EQ(core(run, "time_ns"), 1124.0);  // to the last answer
  EXPECT_NEAR(core(run, "instructions_per_cycle"), 512 * 32 / (1124.0 * 4), 1e-12);
}

TEST(CoreCluster, MissRegistersBoundTheReadsUnderWay) {
  for (const std::int64_t mshrs : {1, 4, 16}) {
    Running run(with_core({{"window", 65536}, {"mshrs", mshrs}}).replay("host", reads_apart(64, 4)));
    run.to_end();
    for (std::int64_t k = 0; k < 64; ++k)
      EXPECT_EQ(run.created(static_cast<std::size_t>(k)), 250_ps * (1 + k % mshrs) + 100_ns * (k / mshrs));
    expect_parts_to_sum(run);
  }
}

TEST(CoreCluster, StoresHoldNothingUpUntilTheirBufferIsFull) {
  for (const std::int64_t room : {1, 2, 8, 64}) {
    std::vector<Access> accesses = reads_apart(64, 4);
    for (Access& access : accesses) access.role = AccessRole::kStoreFill;
    Running run(with_core({{"window", 4}, {"store_buffer", room}, {"mshrs", 1024}}).replay("host", accesses));
    run.to_end();
    for (std::int64_t k = 0; k < 64; ++k)
      EXPECT_EQ(run.created(static_cast<std::size_t>(k)), 250_ps * (1 + k % room) + 100_ns * (k / room));
    expect_parts_to_sum(run);
  }
}

TEST(CoreCluster, WriteBacksHoldNothingUp) {
  std::vector<Access> accesses = reads_apart(64, 4);
  for (Access& access : accesses) {
    access.kind = AccessKind::kWrite;
    access.role = AccessRole::kWriteBack;
  }
  Running run(with_core({{"window", 4}, {"store_buffer", 1}, {"mshrs", 1}}).replay("host", accesses));
  run.to_end();
  for (std::size_t k = 0; k < 64; ++k) EXPECT_EQ(run.created(k), 250_ps * static_cast<std::int64_t>(k + 1));
  EXPECT_EQ(core(run, "time_ns"), 16.0);
}

TEST(CoreCluster, AnAccessBehindAFenceWaitsForAllOfItsThread) {
  std::vector<Access> accesses = reads_apart(4, 4);
  accesses[0].role = AccessRole::kStoreFill;
  accesses[2].dependence = kAllBefore;
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(1), 500_ps);
  EXPECT_EQ(run.created(2), 100'500_ps);
  EXPECT_EQ(run.created(3), 100'750_ps);
}

TEST(CoreCluster, AReadThatWaitsLetsOthersBehindItPass) {
  std::vector<Access> accesses = reads_apart(3, 4);
  accesses[1].dependence = 1;
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(0), 250_ps);
  EXPECT_EQ(run.created(1), 750_ps);      // in the order of their making: the third access
  EXPECT_EQ(run.created(2), 100'250_ps);  // the second, when the first is answered
}

TEST(CoreCluster, ThreadsHaveCoresOfTheirOwn) {
  // Two chains, whose accesses alternate in the trace, take as long as one.
  std::vector<Access> accesses = reads_apart(100, 4);
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    accesses[i].thread = static_cast<std::uint32_t>(i % 2);
    if (i >= 2) accesses[i].dependence = 2;
  }
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(core(run, "threads"), 2);
  EXPECT_NEAR(core(run, "time_ns"), 2 * (0.25 + 50 * 100), 1e-9);
  expect_parts_to_sum(run);
}

// A read, 8 instructions; a branch that needs it, was predicted wrongly and takes 20 cycles; another read, 8 instructions later.
TEST(CoreCluster, WhatFollowsABranchWaitsForWhatTheBranchNeeds) {
  std::vector<Access> accesses = reads_apart(3, 8);
  accesses[1].role = AccessRole::kBranch;
  accesses[1].dependence = 1;
  accesses[1].dependence_cycles = 20;
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(0), Time{500});
  EXPECT_EQ(run.created(1), Time{100'500 + 5'000 + 500});
  EXPECT_EQ(core(run, "time_ns"), 100.5 + 5 + 0.5 + 100);
  EXPECT_EQ(core(run, "chain_ns"), 5.0);
  expect_parts_to_sum(run);
}

// What the branch needs needs another read: both are waited for, one behind the other.
TEST(CoreCluster, ABranchBehindAChainWaitsForEachOfItsReads) {
  std::vector<Access> accesses = reads_apart(4, 8);
  accesses[1].dependence = 1;
  accesses[2].role = AccessRole::kBranch;
  accesses[2].dependence = 1;
  accesses[2].dependence_cycles = 20;
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(2), Time{200'500 + 5'000 + 500});
  EXPECT_EQ(core(run, "time_ns"), 200.5 + 5 + 0.5 + 100);
  EXPECT_EQ(core(run, "chain_ns"), 5.0);
  expect_parts_to_sum(run);
}

TEST(CoreCluster, ABranchWhoseDataAreThereHoldsNothingUp) {
  std::vector<Access> accesses = reads_apart(3, 8);
  accesses[1].role = AccessRole::kBranch;
  accesses[1].dependence = 1;
  accesses[1].instruction_gap = 1608;  // 100.5 ns
  Running run(with_core({{"window", 4096}}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(1), Time{500 + 100'500 + 500});
  expect_parts_to_sum(run);
}

TEST(CoreCluster, CyclesOfATraceTakeThePlaceOfThoseOfItsInstructions) {
  std::vector<Access> accesses = reads_apart(10, 4);
  for (Access& access : accesses) access.cycles = 40;
  Running run(with_core({{"cycles_per_instruction", 3.0}}).replay("host", accesses));
  run.to_end();
  for (std::size_t k = 0; k < 10; ++k) EXPECT_EQ(run.created(k), 10_ns * static_cast<std::int64_t>(k + 1));
}

TEST(CoreCluster, AccessesOfAPatternAreAnInstructionEach) {
  System system = with_core({{"window", 16}});
  system.work("host", {{"pattern", "sequential"}, {"requests", 160}, {"footprint", "1MiB"}});
  Running run(system);
  run.to_end();
  EXPECT_EQ(core(run, "instructions"), 160);
  // 16 at a time; the first of the next 16 is dispatched with the first answer.
  EXPECT_NEAR(run.completed(159).ns(), 1000.0 + 16 * 0.0625, 0.01);
}

// ---- Page walks

std::vector<Access> walks(std::size_t count, std::uint32_t gap) {
  std::vector<Access> accesses = reads_apart(count, gap);
  for (Access& access : accesses) access.role = AccessRole::kPageWalk;
  return accesses;
}

Value::Map walkers(std::int64_t count) { return {{"tlb", Value::Map{{"walkers", count}}}}; }

TEST(CoreCluster, AnAccessWaitsForItsWalkAndTheWalkIsACause) {
  // The read of an entry, and the read of the data on its page, three cycles later.
  std::vector<Access> accesses = walks(2, 4);
  accesses[1].role = AccessRole::kDemand;
  accesses[1].instruction_gap = 0;
  accesses[1].dependence = 1;
  accesses[1].dependence_cycles = 3;
  Running run(with_core(walkers(4)).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(0), 250_ps);
  EXPECT_EQ(run.created(1), 100'250_ps + 750_ps);
  EXPECT_EQ(core(run, "walk_ns"), 100.0);
  EXPECT_EQ(core(run, "time_ns"), 0.25 + 100 + 0.75 + 100);
  expect_parts_to_sum(run);
}

TEST(CoreCluster, CyclesWithoutADependenceDelayAnAccess) {
  std::vector<Access> accesses = reads_apart(2, 4);
  accesses[1].dependence_cycles = 20;
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(0), 250_ps);
  EXPECT_EQ(run.created(1), 500_ps + 5_ns);
}

TEST(CoreCluster, WalkersBoundTheWalksUnderWay) {
  for (const std::int64_t count : {1, 4, 16}) {
    Value::Map params = walkers(count);
    params.emplace_back("window", 65536);
    Running run(with_core(params).replay("host", walks(64, 4)));
    run.to_end();
    for (std::int64_t k = 0; k < 64; ++k)
      EXPECT_EQ(run.created(static_cast<std::size_t>(k)), 250_ps * (1 + k % count) + 100_ns * (k / count));
    EXPECT_EQ(core(run, "walk_ns"), core(run, "time_ns") - core(run, "busy_ns"));
    expect_parts_to_sum(run);
  }
}

TEST(CoreCluster, AWalkerGoesOnWithItsWalk) {
  // Two walks of three loads each, and one walker: one behind the other. With two they are side by side.
  std::vector<Access> accesses = walks(6, 0);
  for (const std::size_t first : {0U, 3U}) {
    accesses[first].instruction_gap = 4;
    accesses[first + 1].dependence = accesses[first + 2].dependence = 1;
  }
  for (const bool alone : {true, false}) {
    Running run(with_core(walkers(alone ? 1 : 2)).replay("host", accesses));
    run.to_end();
    std::vector<Time> made;
    for (std::size_t k = 0; k < 6; ++k) made.push_back(run.created(k));
    const std::vector<Time> in_turn{250_ps, 100'250_ps, 200'250_ps, 300'250_ps, 400'250_ps, 500'250_ps};
    const std::vector<Time> beside{250_ps, 500_ps, 100'250_ps, 100'500_ps, 200'250_ps, 200'500_ps};
    EXPECT_EQ(made, alone ? in_turn : beside);
  }
}

// Walks of one to four loads, as they come, to whichever walker is free first.
TEST(CoreCluster, RandomWalksTakeTheWalkerThatIsFreeFirst) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomStream random(seed, "walks", "test");
    const std::uint64_t count = 1 + random.below(5);
    std::vector<Access> accesses;
    std::vector<Time> expected;
    std::vector<Time> free(count);
    Time now;
    for (int i = 0; i < 40; ++i) {
      const std::uint64_t loads = 1 + random.below(4);
      const auto gap = static_cast<std::uint32_t>(4 * (1 + random.below(400)));
      now += 250_ps * static_cast<std::int64_t>(gap / 4);
      const auto walker = std::min_element(free.begin(), free.end());
      const Time start = std::max(now, *walker);
      for (std::uint64_t load = 0; load < loads; ++load) {
        Access& access = accesses.emplace_back(access_to(accesses.size() * 64));
        access.role = AccessRole::kPageWalk;
        access.instruction_gap = load == 0 ? gap : 0;
        access.dependence = load == 0 ? 0 : 1;
        expected.push_back(start + 100_ns * static_cast<std::int64_t>(load));
      }
      *walker = start + 100_ns * static_cast<std::int64_t>(loads);
    }
    Value::Map params = walkers(static_cast<std::int64_t>(count));
    params.emplace_back("window", 1 << 20);
    Running run(with_core(params).replay("host", accesses));
    run.to_end();
    std::sort(expected.begin(), expected.end());
    for (std::size_t k = 0; k < expected.size(); ++k)
      ASSERT_EQ(run.created(k), expected[k]) << seed << " " << k;
    expect_parts_to_sum(run);
  }
}

TEST(CoreCluster, AWalkTakesAMissRegister) {
  std::vector<Access> accesses = walks(3, 4);
  accesses[2].role = AccessRole::kDemand;
  Value::Map params = walkers(4);
  params.emplace_back("mshrs", 2);
  Running run(with_core(params).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(1), 500_ps);
  EXPECT_EQ(run.created(2), 100'250_ps);
}

// The store buffer lets a store go on without its line, but not without the place of its page.
TEST(CoreCluster, AStoreRetiresWhenItsPageIsKnown) {
  for (const bool walked : {false, true}) {
    std::vector<Access> accesses = reads_apart(3, 4);
    accesses[0].role = walked ? AccessRole::kPageWalk : AccessRole::kStoreFill;
    accesses[1].role = AccessRole::kStoreFill;
    if (walked) {
      accesses[1].instruction_gap = 0;
      accesses[1].dependence = 1;
    }
    accesses[2].instruction_gap = 128;  // a window behind
    Running run(with_core({{"window", 128}}).replay("host", accesses));
    run.to_end();
    EXPECT_EQ(run.created(2), walked ? 100'250_ps : 8'500_ps) << walked;
    expect_parts_to_sum(run);
  }
}

TEST(CoreCluster, WithoutATlbNothingIsSaidOfWalks) {
  Running run(with_core({}).replay("host", reads_apart(1, 4)));
  run.to_end();
  const Value summary = run.summary();
  EXPECT_EQ(summary.find("per_requester")->find("host")->find("core")->find("walk_ns"), nullptr);
}

/// A record that is no access: the call of a number, or going on behind it.
Access call(std::uint32_t thread, AccessRole role, std::uint64_t number) {
  Access access = access_to(number);
  access.thread = thread;
  access.role = role;
  return access;
}

struct Path {
  double time;
  double busy;
  double idle;
  std::int64_t instructions;
};

/// The critical path, and its time in threads 1, 2, ...
void expect_path(const Running& run, const Path& path, const std::vector<double>& stays) {
  const auto of_path = [&](std::string_view key) {
    return run.number({"per_requester", "host", "core", "critical_path", key});
  };
  EXPECT_EQ(of_path("time_ns"), path.time);
  EXPECT_EQ(of_path("busy_ns"), path.busy);
  EXPECT_EQ(of_path("idle_ns"), path.idle);
  EXPECT_EQ(of_path("instructions"), static_cast<double>(path.instructions));
  for (std::size_t i = 0; i < stays.size(); ++i) {
    EXPECT_EQ(
        run.number({"per_requester", "host", "core", "per_thread", std::to_string(i + 1), "on_path_ns"}),
        stays[i])
        << i + 1;
  }
  const Value summary = run.summary();
  const Value* const core = summary.find("per_requester")->find("host")->find("core");
  double sum = of_path("busy_ns") + of_path("chain_ns") + of_path("mshr_ns") + of_path("idle_ns");
  for (const auto& [name, value] : *core->find("critical_path")->find("memory_ns")->as_map())
    sum += *value.as_real();
  EXPECT_NEAR(sum, path.time, 1e-6);  // picoseconds are thousandths
  EXPECT_EQ(of_path("time_ns"), *core->find("longest_ns")->as_real());
}

TEST(CoreCluster, OneThreadHasNoPath) {
  Running run(with_core({}).replay("host", reads_apart(2, 400)));
  run.to_end();
  const Value summary = run.summary();
  EXPECT_EQ(summary.find("per_requester")->find("host")->find("core")->find("critical_path"), nullptr);
}

TEST(CoreCluster, AThreadThatSleepsIsNotOnThePathOfThoseThatRun) {
  // Thread 2 begins with the call at 10 ns, runs for 5 ns, and waits for good. Thread 1 runs for 100 ns, then
  // thread 3, which has waited for that from the start, for 20 ns.
  std::vector<Access> accesses;
  const auto run_for = [&](std::uint32_t thread, std::uint32_t ns) {
    accesses.push_back(call(thread, AccessRole::kProgress, 0));
    accesses.back().instruction_gap = ns * 16;
  };
  run_for(1, 10);
  accesses.push_back(call(1, AccessRole::kCall, 5));
  accesses.push_back(call(2, AccessRole::kGoOn, 5));
  run_for(2, 5);
  accesses.push_back(call(2, AccessRole::kWait, 0));
  run_for(1, 90);
  accesses.push_back(call(1, AccessRole::kCall, 9));
  accesses.push_back(call(3, AccessRole::kGoOn, 9));
  run_for(3, 20);
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  expect_path(run, {.time = 120, .busy = 120, .idle = 0, .instructions = 1920}, {100, 0, 20});
  EXPECT_EQ(run.number({"per_requester", "host", "core", "per_thread", "2", "begun_ns"}), 10.0);
  EXPECT_EQ(run.number({"per_requester", "host", "core", "per_thread", "3", "begun_ns"}), 100.0);
}

TEST(CoreCluster, ThePathIsThatWhichLeadsBackFromTheEnd) {
  // Threads that only run, call and go on behind calls of each other. The end of a thread is walked back: to the latest time at which it
  // waited, from there to the thread that made that call, and so forth. All of it are instructions.
  constexpr std::uint32_t kThreads = 6;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, "paths", "test");
    struct Wait {
      std::int64_t at;
      std::uint32_t of;
    };
    std::vector<std::int64_t> now(kThreads + 1, 0);
    std::vector<std::vector<Wait>> waits(kThreads + 1);
    struct Made {
      std::uint64_t number;
      std::int64_t at;
      std::uint32_t by;
    };
    std::vector<Made> made;
    std::vector<Access> accesses;
    for (std::uint64_t number = 1; number < 400; ++number) {
      const auto thread = static_cast<std::uint32_t>(1 + random.below(kThreads));
      const auto ns = static_cast<std::uint32_t>(1 + random.below(50));
      accesses.push_back(call(thread, AccessRole::kProgress, 0));
      accesses.back().instruction_gap = ns * 16;
      now[thread] += ns;
      if (made.empty() || random.below(2) == 0) {
        accesses.push_back(call(thread, AccessRole::kCall, number));
        made.push_back({number, now[thread], thread});
      } else {
        const Made& other = made[made.size() - 1 - random.below(std::min<std::uint64_t>(made.size(), 8))];
        accesses.push_back(call(thread, AccessRole::kGoOn, other.number));
        if (other.at > now[thread]) {
          now[thread] = other.at;
          waits[thread].push_back({other.at, other.by});
        }
      }
    }
    if (std::ranges::count(now, std::ranges::max(now)) > 1) continue;  // two ends, and two paths
    Running run(with_core({{"window", 65536}}).replay("host", accesses));
    run.to_end();
    auto thread = static_cast<std::uint32_t>(std::ranges::max_element(now) - now.begin());
    std::int64_t until = now[thread];
    const auto longest = static_cast<double>(until);
    std::vector<double> stays(kThreads, 0);
    while (until > 0) {
      const auto latest = std::find_if(waits[thread].rbegin(), waits[thread].rend(),
                                       [&](const Wait& wait) { return wait.at <= until; });
      const std::int64_t from = latest == waits[thread].rend() ? 0 : latest->at;
      stays[thread - 1] += static_cast<double>(until - from);
      until = from;
      if (until > 0) thread = latest->of;
    }
    expect_path(run,
                {.time = longest,
                 .busy = longest,
                 .idle = 0,
                 .instructions = static_cast<std::int64_t>(longest) * 16},
                stays);
  }
}

TEST(CoreCluster, AThreadGoesOnBehindTheCallThatItWaitsFor) {
  // Thread 1 reads for 100 ns, and calls; thread 2, which has read for as long, goes on with another read
  // then. So does thread 3, which waits for a call that nobody made, at once.
  std::vector<Access> accesses = reads_apart(5, 400);  // 25 ns each
  accesses[0].thread = accesses[1].thread = 1;
  accesses[2].thread = accesses[3].thread = 2;
  accesses[4].thread = 3;
  accesses[1].dependence = 1;
  accesses.insert(accesses.begin() + 2, call(1, AccessRole::kCall, 77));
  accesses.insert(accesses.begin() + 4, call(2, AccessRole::kGoOn, 77));
  accesses.insert(accesses.begin() + 6, call(3, AccessRole::kGoOn, 66));
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  ASSERT_EQ(run.table().rows(), 5U);
  // Thread 1: from 25 to 125 and from there to 225 ns. Thread 2: from 25 to 125, and from 225 + 25 on. Thread 3: at 25.
  std::vector<Time> made;
  for (std::size_t k = 0; k < 5; ++k) made.push_back(run.created(k));
  EXPECT_EQ(made, (std::vector{25_ns, 25_ns, 25_ns, 125_ns, 250_ns}));
  EXPECT_EQ(core(run, "idle_ns"), 100.0);
  EXPECT_EQ(core(run, "longest_ns"), 350.0);
  EXPECT_EQ(run.number({"requests"}), 5);
  expect_parts_to_sum(run);
  // The run takes 350 ns: up to 225 thread 1 (800 instructions in 50 ns, answers), then thread 2 (25 ns, an answer).
  expect_path(run, {.time = 350, .busy = 75, .idle = 0, .instructions = 1200}, {225, 125, 0});
}

// Here the thread that goes on had told that it waits; it does what it was woken for, and waits for good.
TEST(CoreCluster, AThreadThatWaitsIsIdleUntilItGoesOn) {
  std::vector<Access> accesses = reads_apart(3, 400);
  accesses[0].thread = accesses[1].thread = 1;
  accesses[2].thread = 2;
  accesses[1].dependence = 1;
  accesses.insert(accesses.begin(), call(2, AccessRole::kWait, 55));
  accesses.insert(accesses.begin() + 3, call(1, AccessRole::kCall, 77));
  accesses.insert(accesses.begin() + 4, call(2, AccessRole::kGoOn, 77));
  accesses.push_back(call(2, AccessRole::kWait, 0));
  Running run(with_core({}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(0), 25_ns);
  EXPECT_EQ(run.created(1), 125_ns);
  EXPECT_EQ(run.created(2), 250_ns);  // at 225 the call is made
  EXPECT_EQ(core(run, "idle_ns"), 225.0);
  expect_parts_to_sum(run);
  expect_path(run, {.time = 350, .busy = 75, .idle = 0, .instructions = 1200}, {225, 125});
}

// It said that it might wait, and did not: its time goes on where it was, however late that becomes known.
TEST(CoreCluster, AThreadThatDidNotWaitGoesOnAtItsOwnCall) {
  std::vector<Access> accesses = reads_apart(6, 400);
  for (Access& access : accesses) access.thread = 1;
  accesses[5].thread = 2;
  accesses.insert(accesses.begin(), call(2, AccessRole::kWait, 55));
  accesses.insert(accesses.begin() + 6, call(2, AccessRole::kGoOn, 55));
  Running run(with_core({{"window", 400}}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(run.created(0), 25_ns);
  EXPECT_EQ(core(run, "idle_ns"), 0.0);
  expect_parts_to_sum(run);
}

TEST(CoreCluster, ProgressIsTimeWithoutAnAccess) {
  std::vector<Access> accesses = reads_apart(1, 400);
  accesses.push_back(call(0, AccessRole::kProgress, 0));
  accesses.back().thread = accesses.front().thread;
  accesses.back().instruction_gap = 4000;  // 250 ns
  Running run(with_core({{"window", 8192}}).replay("host", accesses));
  run.to_end();
  EXPECT_EQ(core(run, "busy_ns"), 275.0);
  EXPECT_EQ(core(run, "time_ns"), 275.0);
  EXPECT_EQ(core(run, "instructions"), 4400);
  expect_parts_to_sum(run);
}

// A thread that chases 1000 times for each of the other's records, which come as fast as they are known.
TEST(CoreCluster, SoManyRecordsAreReadBeforeTheOldestIsAnswered) {
  constexpr std::size_t kApart = 1000;
  constexpr std::size_t kRounds = 300;
  static_assert(kApart * kRounds > CoreCluster::kMostHeld);
  std::vector<Access> accesses;
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (Access& access : reads_apart(kApart, 1)) {
      access.thread = 1;
      access.dependence = accesses.empty() ? 0 : accesses.back().thread == 1 ? 1 : 2;
      accesses.push_back(access);
    }
    accesses.push_back(reads_apart(1, 1).front());
    accesses.back().thread = 2;
  }
  Running run(with_core({{"window", 4096}, {"mshrs", 4096}}, {{"queue", 8192}}).replay("host", accesses));
  run.to_end();
  // The second thread makes as many of its reads at once as there are in the first so many records; the others later.
  const auto at_once = static_cast<std::int64_t>(CoreCluster::kMostHeld / (kApart + 1));
  std::int64_t early = 0;
  for (std::size_t k = 0; k < run.table().rows() && run.created(k) < 100_ns; ++k) ++early;
  EXPECT_NEAR(static_cast<double>(early), static_cast<double>(at_once + 1), 2);
  // No step of the chase is forgotten, however far the other was ahead.
  EXPECT_NEAR(core(run, "longest_ns"), 100.0 * kApart * kRounds, 200);
  expect_parts_to_sum(run);
}

/// The rules applied to every instruction: dispatch in order, `width` retire per cycle and in order.
std::vector<Time> by_instruction(const std::vector<Access>& accesses, std::int64_t window) {
  constexpr std::int64_t kSlot = 125;  // picoseconds: two instructions per cycle
  constexpr std::int64_t kLatency = 100'000;
  std::vector<std::int64_t> retired{0};  // of instructions, from 1
  std::vector<std::int64_t> done(accesses.size());
  std::vector<std::int64_t> made(accesses.size());
  std::int64_t dispatched = 0;
  std::int64_t last_retired = -kLatency;
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    for (std::uint32_t i = 0; i < accesses[k].instruction_gap; ++i) {
      dispatched += kSlot;
      const auto number = static_cast<std::int64_t>(retired.size());
      if (number > window)
        dispatched = std::max(dispatched, retired[static_cast<std::size_t>(number - window)]);
      std::int64_t complete = dispatched;
      if (i + 1 == accesses[k].instruction_gap) {
        std::int64_t ready = dispatched;
        if (accesses[k].dependence != 0) ready = std::max(ready, done[k - accesses[k].dependence]);
        made[k] = ready;
        complete = done[k] = ready + kLatency;
      }
      last_retired = std::max(last_retired + kSlot, complete);
      retired.push_back(last_retired);
    }
  }
  std::vector<Time> times;
  for (const std::int64_t time : made) times.emplace_back(time);
  return times;
}

TEST(CoreCluster, AgreesWithAModelOfEachInstruction) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, "core", "test");
    const std::int64_t window = std::int64_t{1} << random.below(10);
    std::vector<Access> accesses = reads_apart(60, 1);
    for (std::size_t k = 0; k < accesses.size(); ++k) {
      accesses[k].instruction_gap = static_cast<std::uint32_t>(1 + random.below(100));
      if (random.below(3) == 0)
        accesses[k].dependence = static_cast<std::uint32_t>(random.below(std::min<std::uint64_t>(k, 9) + 1));
    }
    Running run(
        with_core({{"window", window}, {"width", 2}, {"cycles_per_instruction", 0.5}, {"mshrs", 1024}})
            .replay("host", accesses));
    run.to_end();
    std::vector<Time> expected = by_instruction(accesses, window);
    std::sort(expected.begin(), expected.end());
    for (std::size_t k = 0; k < accesses.size(); ++k)
      EXPECT_EQ(run.created(k), expected[k]) << seed << " " << k << " window " << window;
    expect_parts_to_sum(run);
  }
}

}  // namespace
}  // namespace cxloom
