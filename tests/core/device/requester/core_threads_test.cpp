#include "device/requester/core_cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "core/support/core_bench.hpp"
#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::core;
using test::expect_parts_to_sum;
using test::reads_apart;
using test::Running;
using test::with_core;

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
  // Threads that only run, call and go on behind calls of each other. The end of a thread is walked back: to
  // the latest time at which it waited, from there to the thread that made that call, and so forth. All of it
  // are instructions.
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
  // Thread 1: from 25 to 125 and from there to 225 ns. Thread 2: from 25 to 125, and from 225 + 25 on. Thread
  // 3: at 25.
  std::vector<Time> made;
  for (std::size_t k = 0; k < 5; ++k) made.push_back(run.created(k));
  EXPECT_EQ(made, (std::vector{25_ns, 25_ns, 25_ns, 125_ns, 250_ns}));
  EXPECT_EQ(core(run, "idle_ns"), 100.0);
  EXPECT_EQ(core(run, "longest_ns"), 350.0);
  EXPECT_EQ(run.number({"requests"}), 5);
  expect_parts_to_sum(run);
  // The run takes 350 ns: up to 225 thread 1 (800 instructions in 50 ns, answers), then thread 2 (25 ns, an
  // answer).
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
  // The second thread makes as many of its reads at once as there are in the first so many records; the
  // others later.
  const auto at_once = static_cast<std::int64_t>(CoreCluster::kMostHeld / (kApart + 1));
  std::int64_t early = 0;
  for (std::size_t k = 0; k < run.table().rows() && run.created(k) < 100_ns; ++k) ++early;
  EXPECT_NEAR(static_cast<double>(early), static_cast<double>(at_once + 1), 2);
  // No step of the chase is forgotten, however far the other was ahead.
  EXPECT_NEAR(core(run, "longest_ns"), 100.0 * kApart * kRounds, 200);
  expect_parts_to_sum(run);
}

}  // namespace
}  // namespace cxloom
