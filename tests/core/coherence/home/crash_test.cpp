// A host that is the home of lines (HDM-H) crashes: what becomes of them, and of what it was asked for, to
// the picosecond: docs/model/failures.md.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/support/coherence_flows.hpp"
#include "core/support/failing_system.hpp"
#include "core/support/kept_run.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr Time kRequesterGivesUp = 3_us;
constexpr Time kHitOfDevice = kProcess + kCache;
/// The bus finds no way.
constexpr Time kNoWayAtBus = kProcess + kCache + kWay + kWay;

Value::Map crash_at(const std::string& at) { return fail_device(at, "home", "1us"); }

TEST(HomeCrash, CachesLoseItsLinesAtOnceAndLaterRequestsEndWithAnError) {
  const KeptRun played("hdm-h", {{0, 0, W}, {0, 0, R}, {1, 64, R}, {0, 0, R}, {1, 64, R}},
                       {crash_at("25us")});
  EXPECT_EQ(played.latency(1), kHitOfDevice);
  EXPECT_EQ(played.latency(2), kThere + kMemoryRead + kWay);
  EXPECT_EQ(played.latency(3), kNoWayAtBus);  // no hit any more
  EXPECT_EQ(played.latency(4), kNoWayAtBus);
  EXPECT_FALSE(played.failed(0) || played.failed(1) || played.failed(2));
  EXPECT_TRUE(played.failed(3) && played.failed(4));
  EXPECT_EQ(played.of("d0", "dirty_lines_lost"), 1.0);
}

// The home looks it up when it crashes, or snoops another cache.
TEST(HomeCrash, WhatTheHomeHasEndsWithTheTimeoutOfItsRequester) {
  for (const char* at : {"10.075us", "10.13us", "10.19us"}) {
    const KeptRun played("hdm-h", {{0, 0, W}, {1, 0, R}}, {crash_at(at)});
    EXPECT_EQ(played.latency(1), kRequesterGivesUp) << at;
    EXPECT_EQ(played.errors(), 1) << at;
    EXPECT_EQ(played.of_home("snoops_timed_out"), 0.0) << at;
  }
}

// What it has granted and has not come is in vain: the cache asks again.
TEST(HomeCrash, AGrantThatIsOnItsWayIsInVain) {
  const KeptRun played("hdm-h", {{0, 0, W}, {1, 0, R}}, {crash_at("10.2us")});
  EXPECT_EQ(played.latency(1), 200_ns + 1_us + kWay);
  EXPECT_TRUE(played.failed(1));
}

TEST(HomeCrash, ARequestBeforeTheCrashIsKnownWaitsForThat) {
  const KeptRun played("hdm-h", {{0, 0, R}, {1, 0, R}}, {crash_at("9.5us")});
  EXPECT_EQ(played.latency(1), 500_ns + kWay);
  EXPECT_TRUE(played.failed(1));
}

// Data that it has called for: of a whole line the writer was answered with the call, of a part it was not.
TEST(HomeCrash, DataThatItHasCalledForAreLost) {
  const KeptRun whole("hdm-h", {{1, 0, W}}, {crash_at("80ns")}, false);
  EXPECT_EQ(whole.latency(0), kProcess + kWay + kLookup + kWay);
  EXPECT_EQ(whole.errors(), 0);
  for (const char* at : {"80ns", "130ns", "190ns"}) {  // called for, on their way back, in memory
    const KeptRun part("hdm-h", {{1, 0, W, 8}}, {crash_at(at)}, false);
    EXPECT_EQ(part.latency(0), kRequesterGivesUp) << at;
    EXPECT_EQ(part.errors(), 1) << at;
  }
}

TEST(HomeCrash, TheLaterTheCrashTheMoreIsServed) {
  std::ptrdiff_t before = 9;
  for (const char* at : {"5us", "15us", "25us", "35us"}) {
    const KeptRun played("hdm-h", {{0, 0, W}, {1, 64, W}, {0, 128, R}, {1, 0, R}}, {crash_at(at)});
    EXPECT_LT(played.errors(), before) << at;
    before = played.errors();
  }
  EXPECT_EQ(before, 0);
}

// Lines of the memory of another device: it is there, and its home is not.
TEST(HomeCrash, MemoryOfOthersIsOutOfReachWithItsHome) {
  SpecBuilder system;
  system.device("home", "host", {{"home_agent", Value::Map{{"answer_timeout", "5us"}}}});
  system.device("d0", "accelerator", {{"cache", Value::Map{{"size", "1KiB"}, {"ways", 0}}}});
  system.device("sw", "switch");
  slow_memory(system).link("home", "sw").link("d0", "sw").link("mem", "sw");
  system.region({"mem"}, {{"coherence", "hdm-h"}, {"home", "home"}, {"size", "1MiB"}});
  std::vector<Access> accesses;
  for (std::int64_t i = 0; i < 4; ++i) {
    accesses.push_back(access_to(64, i == 0 ? W : R));
    accesses.back().timed = true;
    accesses.back().timestamp = 10_us * i;
  }
  system.replay("d0", accesses, {{"replay", "timestamps"}}).event(crash_at("15us"));
  Running run(system);
  run.to_end();
  EXPECT_EQ(run.number({"errors", "requests"}), 2.0);
  EXPECT_EQ(run.number({"per_requester", "d0", "dirty_lines_lost"}), 1.0);
  EXPECT_EQ(run.number({"coherence", "lines_poisoned"}), 1.0);
}

Value::Map boot_at(const std::string& at, bool cleared = false) {
  Value::Map repair{{"device", "home"}};
  if (cleared) repair.emplace_back("cleared", true);
  return {{"at", at}, {"repair", repair}};
}

constexpr Time kMissAtHome = kThere + kMemoryRead + kWay;

TEST(HomeCrash, ABootLeavesPoisonUntilALineIsWrittenAsAWhole) {
  const KeptRun played("hdm-h", {{0, 0, W}, {0, 64, R}, {1, 0, R}, {1, 0, W}, {0, 0, R}},
                       {crash_at("12us"), boot_at("15us")});
  EXPECT_EQ(played.latency(2), kMissAtHome);
  EXPECT_EQ(played.latency(3), kMissAtHome);  // nobody is snooped: the filter is empty
  EXPECT_EQ(played.latency(4), kThere + kSnoop + kWay);
  EXPECT_EQ(played.errors(), 1);
  EXPECT_EQ(played.of("d1", "poison_consumed"), 1.0);
}

TEST(HomeCrash, ABootThatClearsItsMemoryLeavesNone) {
  const KeptRun played("hdm-h", {{0, 0, W}, {0, 64, R}, {1, 0, R}},
                       {crash_at("12us"), boot_at("15us", true)});
  EXPECT_EQ(played.latency(2), kMissAtHome);
  EXPECT_EQ(played.errors(), 0);
}

TEST(HomeCrash, MemoryOfOthersIsAsItWasButForWhatACacheHadAlone) {
  SpecBuilder system;
  system.device("home", "host", {{"home_agent", Value::Map{{"answer_timeout", "5us"}}}});
  for (const char* name : {"d0", "d1"})
    system.device(name, "accelerator", {{"cache", Value::Map{{"size", "1KiB"}, {"ways", 0}}}});
  system.device("sw", "switch");
  slow_memory(system).link("home", "sw").link("d0", "sw").link("d1", "sw").link("mem", "sw");
  system.region({"mem"}, {{"coherence", "hdm-h"}, {"home", "home"}, {"size", "1MiB"}});
  const auto timed = [](std::uint64_t line, AccessKind kind, Time at) {
    Access access = access_to(line * kLineBytes, kind);
    access.timed = true;
    access.timestamp = at;
    return access;
  };
  system.replay("d0", {timed(1, W, 0_us), timed(2, R, 1_us), timed(3, R, 40_us)}, {{"replay", "timestamps"}});
  system.replay("d1", {timed(2, R, 2_us), timed(1, R, 20_us), timed(2, R, 21_us), timed(4, R, 40_us)},
                {{"replay", "timestamps"}});
  system.event(crash_at("5us")).event(boot_at("10us"));
  Running run(system);
  run.to_end();
  EXPECT_EQ(run.number({"errors", "requests"}), 1.0);  // of line 1, which d0 had written; 2 was shared
  EXPECT_EQ(run.number({"per_requester", "d1", "poison_consumed"}), 1.0);
  EXPECT_EQ(run.number({"coherence", "poisoned_lines"}), 1.0);
}

}  // namespace
}  // namespace cxloom::test
