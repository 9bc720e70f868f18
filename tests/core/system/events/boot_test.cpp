// Hosts and accelerators that crash and boot again during a run, to the picosecond: docs/model/failures.md.
// tests/core/coherence/home/crash_test.cpp has those that are homes of lines.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/support/errors.hpp"
#include "core/support/failing_system.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

/// A read alone: 10 ns at the host, then 331 ns until it is answered.
constexpr Time kOneRead = 341_ns;

Value::Map boot(const std::string& at, const char* device, const char* with = nullptr) {
  Value::Map repair{{"device", device}};
  if (with) repair.emplace_back(with, true);
  return {{"at", at}, {"repair", repair}};
}

SpecBuilder one_after_another(const std::string& crash, std::size_t reads = 8) {
  return host_switch_memory(lines(reads), {{"bandwidth", "16GB/s"}, {"port_delay", "25ns"}})
      .event(fail_device(crash, "host", "1us"));
}

TEST(Boot, WorkGoesOnWithTheNextRequest) {
  Running run(one_after_another("500ns").event(boot("2us", "host", "restart")));
  run.to_end();
  ASSERT_EQ(run.table().rows(), 8U);
  EXPECT_EQ(run.latency(0), kOneRead);
  EXPECT_EQ(run.latency(1), 1500_ns - kOneRead);  // its answer is lost when no way leads to the host
  EXPECT_EQ(run.table().error[1], 1);
  EXPECT_EQ(run.created(2), 2_us);
  for (std::size_t row = 2; row < 8; ++row) EXPECT_EQ(run.latency(row), kOneRead);
  EXPECT_EQ(run.number({"errors", "requests"}), 1.0);
  EXPECT_EQ(run.number({"events", "500ns fail device host", "never_made"}), 0.0);
  EXPECT_EQ(run.number({"events", "2us repair device host", "away_ns"}), 1500.0);
}

// Its links are trained anew: the answer that waits in front of one is lost.
TEST(Boot, ABootBeforeTheCrashIsKnownLosesWhatWaits) {
  Running run(one_after_another("500ns").event(boot("800ns", "host", "restart")));
  run.to_end();
  EXPECT_EQ(run.latency(1), 800_ns - kOneRead);
  EXPECT_EQ(run.table().error[1], 1);
  EXPECT_EQ(run.created(2), 800_ns);
  EXPECT_EQ(run.latency(2), kOneRead);
}

TEST(Boot, WithoutARestartTheRestOfTheWorkIsLost) {
  Running run(one_after_another("500ns").event(boot("2us", "host")));
  run.to_end();
  EXPECT_EQ(run.table().rows(), 2U);
  EXPECT_EQ(run.number({"events", "500ns fail device host", "never_made"}), 6.0);
}

TEST(Boot, TheLaterItCrashesTheLessIsLost) {
  double before = 9;
  for (const char* crash : {"100ns", "500ns", "1us", "2us"}) {
    Running run(one_after_another(crash));
    run.to_end();
    const double lost = run.number({"events", std::string(crash) + " fail device host", "never_made"});
    EXPECT_LT(lost, before) << crash;
    before = lost;
  }
}

// The requests that filled it are over, though their timeouts are not.
TEST(Boot, ItsQueueIsEmpty) {
  SpecBuilder system;
  system.device("host", "host", {{"queue", 4}}).device("sw", "switch");
  slow_memory(system).link("host", "sw").link("sw", "mem").region({"mem"}).outputs({{"requests", true}});
  system.replay("host", lines(12));
  system.event(fail_device("20ns", "host", "100ns")).event(boot("1us", "host", "restart"));
  Running run(system);
  run.to_end();
  ASSERT_EQ(run.table().rows(), 12U);
  std::size_t at_boot = 0;
  for (std::size_t row = 0; row < 12; ++row) at_boot += run.created(row) == 1_us ? 1 : 0;
  EXPECT_EQ(at_boot, 4U);
  EXPECT_EQ(run.number({"errors", "requests"}), 4.0);
}

TEST(Boot, ItCrashesAgain) {
  Running run(one_after_another("500ns")
                  .event(boot("2us", "host", "restart"))
                  .event(fail_device("2.5us", "host", "1us"))
                  .event(boot("5us", "host", "restart")));
  run.to_end();
  EXPECT_EQ(run.table().rows(), 8U);
  EXPECT_EQ(run.number({"errors", "requests"}), 2.0);
  EXPECT_EQ(run.created(4), 5_us);
}

/// h1 reads a line of h0's memory at 0, 10 and 20 us; h0 is away from 5 to 15 us.
Running reads_memory_of(const char* with) {
  SpecBuilder system;
  system.device("h0", "host", {{"memory", Value::Map{{"capacity", "1MiB"}}}});
  system.device("h1", "host").device("sw", "switch").link("h0", "sw").link("h1", "sw");
  system.region({"h0"}).outputs({{"requests", true}});
  std::vector<Access> accesses = lines(3);
  for (std::size_t i = 0; i < 3; ++i) {
    accesses[i].address = Address{0};
    accesses[i].timed = true;
    accesses[i].timestamp = 10_us * static_cast<std::int64_t>(i);
  }
  system.replay("h1", accesses, {{"replay", "timestamps"}});
  system.event(fail_device("5us", "h0", "1us")).event(boot("15us", "h0", with));
  return Running(system);
}

TEST(Boot, ItsMemoryIsPoisonUnlessItIsCleared) {
  Running lost = reads_memory_of(nullptr);
  lost.to_end();
  EXPECT_EQ(lost.number({"errors", "requests"}), 2.0);
  EXPECT_EQ(lost.number({"per_requester", "h1", "poison_consumed"}), 1.0);
  EXPECT_EQ(lost.latency(2), lost.latency(0));  // it takes the time of data
  Running cleared = reads_memory_of("cleared");
  cleared.to_end();
  EXPECT_EQ(cleared.number({"errors", "requests"}), 1.0);
}

TEST(Boot, IsRefusedForWhatMakesNoRequests) {
  SpecBuilder sw = host_switch_memory(lines(1), {});
  sw.event(fail_device("1us", "sw", "1us")).event(boot("2us", "sw", "restart"));
  EXPECT_EQ(input_error([&] { Running run(sw); }).path(), "events[1].repair.restart");
  SpecBuilder idle = host_switch_memory(lines(1), {});
  idle.device("other", "host").link("other", "sw");
  idle.event(fail_device("1us", "other", "1us")).event(boot("2us", "other", "restart"));
  EXPECT_EQ(input_error([&] { Running run(idle); }).path(), "events[1].repair.restart");
}

}  // namespace
}  // namespace cxloom::test
