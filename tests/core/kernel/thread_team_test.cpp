#include "kernel/thread_team.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <ctime>
#include <vector>

namespace cxloom {
namespace {

double cpu_seconds_of_process() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

TEST(ThreadTeam, EachDoesEveryWorkOnceAndAllHaveEnded) {
  constexpr int kRounds = 500;
  ThreadTeam team(3);
  std::vector<int> done(3);
  for (int round = 1; round <= kRounds; ++round) {
    team.run([&](std::size_t index) { ++done[index]; });
    EXPECT_EQ(done, std::vector<int>(3, round));
  }
}

// Threads that have one processor in turn wait for one another in each round: to spin is in vain, and only
// keeps the processor from whom they wait for. They try it now and then, and not in each of these rounds.
TEST(ThreadTeam, DoesNotSpinForWhoCannotRun) {
  if (available_processors() < 2) GTEST_SKIP() << "they would not spin at all";
  cpu_set_t before{};
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  ThreadTeam team(2);  // as if each had a processor
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one{};
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);  // threads that start have what this one has

  constexpr int kRounds = 2000;
  std::atomic<int> works = 0;
  const double begin = cpu_seconds_of_process();
  for (int round = 0; round < kRounds; ++round) team.run([&](std::size_t /*index*/) { ++works; });
  const double used = cpu_seconds_of_process() - begin;
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(works, 2 * kRounds);
  EXPECT_LT(used, kRounds * 100e-6);  // a spin in vain takes some hundred microseconds
}

}  // namespace
}  // namespace cxloom
