#include "device/requester/core_cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
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

}  // namespace
}  // namespace cxloom
