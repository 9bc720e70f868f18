// Coherent memory behind virtual CXL switches: docs/model/virtual_switch.md. The way of a snoop is that of
// any message, and nobody holds a line of what is not bound to the virtual switch in front of it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/support/coherence_flows.hpp"
#include "core/support/coherent_pool.hpp"
#include "core/support/errors.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

TEST(CoherentVirtualSwitches, TakeNoTimeFromReadsAndSnoops) {
  const std::vector<PoolStep> steps{{"h0", 0, R}, {"h0", 0, R}, {"h1", 0, R}, {"h1", 0, W}, {"h0", 0, R}};
  for (const Value::List& switches : {Value::List{}, kTwoSwitches}) {
    const Played played(pool(steps, switches), steps.size());
    EXPECT_EQ(played.latency[0], kFarMiss);
    EXPECT_EQ(played.latency[1], kProcess + kCache);
    EXPECT_EQ(played.latency[2], kFarMiss + kFarSnoop);
    EXPECT_EQ(played.latency[3], kFarUpgrade);
    EXPECT_EQ(played.latency[4], kFarMiss + kFarSnoop + kFarWriteBack);
    EXPECT_EQ(std::vector(5, false), played.failed);
  }
}

TEST(CoherentVirtualSwitches, ShareNothingThatIsBoundToOne) {
  const std::vector<PoolStep> steps{{"h0", 0, W},       {"h2", 0, R},       {"h2", 0, W}, {"h2", 0, A},
                                    {"h2", kSecond, W}, {"h0", kSecond, R}, {"h0", 0, R}, {"h2", kSecond, R}};
  Played played(pool(steps, kTwoSwitches), steps.size());
  const std::vector<bool> refused{false, true, true, true, false, true, false, false};
  EXPECT_EQ(played.failed, refused);
  for (const std::size_t step : {1U, 2U, 3U}) EXPECT_EQ(played.latency[step], kRefused) << step;
  EXPECT_EQ(played.latency[5], kProcess + kCache + kFar + kSwitch + kPorts);
  for (const std::size_t step : {6U, 7U}) EXPECT_EQ(played.latency[step], kProcess + kCache) << "a hit";
  for (const char* home : {"mem0", "mem1"})
    EXPECT_EQ(played.run.number({"per_home", home, "bisnp_sent"}), 0.0) << home;
  EXPECT_EQ(played.run.number({"per_switch", "sw", "isolation_errors"}), 4.0);
}

TEST(CoherentVirtualSwitches, GiveLinesFromTheBindingOn) {
  const std::vector<PoolStep> steps{{"h0", 0, R}, {"h0", 0, R}, {"h1", 0, W}};
  const Value::Map bind{{"switch", "sw"}, {"vcs", 0}, {"vppb", 0}, {"to", "mem0"}};
  SpecBuilder system = pool(steps, {vcs("up", {}), vcs("h2", {"mem1"})});
  const Played played(system.event({{"at", "9us"}, {"bind", bind}}), steps.size());
  const std::vector<bool> refused{true, false, false};
  EXPECT_EQ(played.failed, refused);
  EXPECT_EQ(played.latency[1], kFarMiss) << "the error has left nothing behind";
  EXPECT_EQ(played.latency[2], kFarMiss + kFarSnoop);
}

TEST(CoherentVirtualSwitches, TakeBackWhatIsUnbound) {
  // At 20 us h0 has a modified line, h1 another one alone. The home asks both at once, and h2 waits for h0's.
  const std::vector<PoolStep> steps{{"h0", 0, W}, {"h1", 64, R}, {"h2", 0, R}, {"h0", 0, R}, {"h1", 64, R}};
  Played played(moved(pool(steps, kTwoSwitches), "20us", "20us"), steps.size());
  const std::vector<bool> refused{false, false, false, true, true};
  EXPECT_EQ(played.failed, refused);
  EXPECT_EQ(played.latency[2], kFarSnoop + kFarWriteBack + kMemoryRead + kToSwitch);
  for (const std::size_t step : {3U, 4U}) EXPECT_EQ(played.latency[step], kRefusedFar) << "no hit";
  EXPECT_EQ(played.run.number({"per_home", "mem0", "bisnp_sent"}), 2.0);
  EXPECT_EQ(played.run.number({"coherence", "lines_invalidated_live"}), 2.0);
  EXPECT_EQ(played.run.number({"per_switch", "sw", "removal_errors"}), 0.0);
}

TEST(CoherentVirtualSwitches, TakeBackWhatWasGrantedSince) {
  // h0's read is beyond the switch, and not yet answered, as mem0 leaves.
  const std::vector<PoolStep> steps{{"h1", 128, R}, {"h0", 0, R}, {"h0", 0, R}, {"h2", 0, W}};
  const Played played(moved(pool(steps, kTwoSwitches), "10100ns", "25us"), steps.size());
  const std::vector<bool> refused{false, false, true, false};
  EXPECT_EQ(played.failed, refused);
  EXPECT_EQ(played.latency[1], kFarMiss);
  EXPECT_EQ(played.latency[2], kRefusedFar) << "no hit";
  EXPECT_EQ(played.latency[3], kProcess + kCache + kToSwitch + kLookup + kMemoryRead + kToSwitch);
}

TEST(CoherentVirtualSwitches, LoseTheLinesOfWhatIsRemovedBySurprise) {
  // At 40 us h0 has a modified line, h1 one alone that is clean, and both share a third.
  const std::vector<PoolStep> steps{{"h0", 0, W},   {"h1", 64, R}, {"h0", 128, R}, {"h1", 128, R},
                                    {"h2", 0, R},   {"h2", 64, R}, {"h2", 128, R}, {"h2", 0, W},
                                    {"h0", 128, R}, {"h2", 0, R}};
  Played played(moved(pool(steps, kTwoSwitches), "40us", "40us", true), steps.size());
  const std::vector<bool> failed{false, false, false, false, true, true, false, false, true, false};
  EXPECT_EQ(played.failed, failed) << "a modified line and one that might be are poison, until it is written";
  const Time near = kProcess + kCache + kToSwitch + kLookup + kMemoryRead + kToSwitch;
  for (const std::size_t step : {4U, 5U, 6U}) EXPECT_EQ(played.latency[step], near) << "nobody is asked";
  EXPECT_EQ(played.latency[8], kRefusedFar) << "it has lost its copy";
  EXPECT_EQ(played.latency[9], kProcess + kCache);
  EXPECT_EQ(played.run.number({"per_home", "mem0", "lines_poisoned"}), 2.0);
  EXPECT_EQ(played.run.number({"per_home", "mem0", "lines_reclaimed"}), 2.0);
  EXPECT_EQ(played.run.number({"per_home", "mem0", "poison_delivered"}), 3.0) << "to who overwrites it, too";
  const std::string_view name = "40us unbind sw vcs 0 vppb 0";
  EXPECT_EQ(played.run.number({"events", name, "requesters", "h0", "dirty_lines_lost"}), 1.0);
  EXPECT_EQ(played.run.number({"events", name, "requesters", "h1", "dirty_lines_lost"}), 0.0);
}

TEST(CoherentVirtualSwitches, MakeErrorsOfWhatIsUnderWay) {
  // The answer is in the switch 60 ns before it is at h0, and goes on as an error: both parts are.
  std::vector<PoolStep> steps{{"h1", 128, R}, {"h0", 0, R}, {"h2", 0, R}};
  steps.resize(9, {"h1", 128, R});  // refused, until h2 is answered
  const Played played(moved(pool(steps, kTwoSwitches), "10100ns", "10101ns", true), steps.size());
  EXPECT_FALSE(played.failed[0]);
  EXPECT_TRUE(played.failed[1]);
  EXPECT_TRUE(played.failed[2]) << "poison";
  EXPECT_EQ(played.latency[1], kFarMiss);
  // The home has granted the line after it took all back: it asks h0 in vain.
  const Time timeout = 50_us;
  EXPECT_EQ(played.latency[2], kProcess + kCache + kToSwitch + kLookup + timeout + kMemoryRead + kToSwitch);
}

TEST(CoherentVirtualSwitches, LetThoseHaveLinesAgainWhoseMemoryIsBack) {
  const std::vector<PoolStep> steps{{"h0", 0, W}, {"h0", 0, R}, {"h0", 0, R}, {"h1", 0, R}};
  SpecBuilder system = pool(steps, kTwoSwitches);
  const Value::Map place{{"switch", "sw"}, {"vcs", 0}, {"vppb", 0}};
  Value::Map back = place;
  back.emplace_back("to", "mem0");
  system.event({{"at", "5us"}, {"unbind", place}}).event({{"at", "6us"}, {"bind", back}});
  const Played played(system, steps.size());
  EXPECT_EQ(played.failed, std::vector(4, false));
  EXPECT_EQ(played.latency[1], kFarMiss);
  EXPECT_EQ(played.latency[2], kProcess + kCache) << "it has kept the line";
  EXPECT_EQ(played.latency[3], kFarMiss + kFarSnoop);
}

TEST(CoherentVirtualSwitches, RefuseAHomeThatDoesNotReachItsMemory) {
  const auto bound = [](const Value::List& to) {
    SpecBuilder system;
    system.device("h", "host", {{"home_agent", Value::Map{}}})
        .device("mem", "memory", {{"capacity", "1MiB"}});
    system.device("sw", "switch", {{"vcs", Value::List{vcs("h", to)}}}).link("h", "sw").link("sw", "mem");
    system.region({"mem"}, {{"coherence", "hdm-h"}, {"home", "h"}});
    return system.work("h", {{"pattern", "random"}, {"requests", 10}, {"footprint", "4KiB"}});
  };
  EXPECT_EQ(input_error([&] { Running run(bound({})); }).path(), "devices.h");
  Running run(bound({"mem"}));
  run.to_end();
  EXPECT_EQ(run.number({"errors", "requests"}), 0.0);
}

TEST(CoherentVirtualSwitches, LetADeviceByBiasAskNobodyOfAnotherOne) {
  const auto questions = [](const char* upstream_of_it) {
    SpecBuilder system;
    const Value::Map memory{{"capacity", "1MiB"}, {"bias", Value::Map{{"initial", "host"}}}};
    system.device("acc", "accelerator", {{"memory", memory}});
    const Value::Map cache{{"size", "4KiB"}};
    system.device("h0", "host", {{"cache", cache}}).device("h1", "host");
    Value::List switches;
    for (const char* host : {"h0", "h1"})
      switches.emplace_back(
          vcs(host, std::string(host) == upstream_of_it ? Value::List{"acc"} : Value::List{}));
    system.device("sw", "switch", {{"vcs", switches}});
    for (const char* name : {"acc", "h0", "h1"}) system.link(name, "sw");
    system.region({"acc"}, {{"coherence", "hdm-d"}});
    system.work("acc", {{"pattern", "random"}, {"requests", 50}, {"footprint", "4KiB"}});
    Running run(system);
    run.to_end();
    EXPECT_EQ(run.number({"errors", "requests"}), 0.0);
    return run.number({"per_home", "acc", "snoops_sent"});
  };
  EXPECT_GT(questions("h0"), 0.0);
  EXPECT_EQ(questions("h1"), 0.0) << "h0, which caches, is elsewhere";
}

}  // namespace
}  // namespace cxloom::test
