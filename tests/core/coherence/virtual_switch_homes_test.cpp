// Virtual switches that homes apart from their memory, these memories, and devices which cache leave:
// docs/model/virtual_switch.md, to the picosecond. The homes are a device of its own (hdm-db) and a host
// (hdm-h).
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/support/coherence_flows.hpp"
#include "core/support/coherent_pool.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr Time kUp = kPorts + kSwitch;               // between a host and the switch, and through it
constexpr Time kAcross = kPorts + kSwitch + kPorts;  // between the host and an accelerator below the switch
constexpr Time kRefusedBySwitch = kProcess + kCache + kUp + kPorts;

/// `h` keeps the lines of `mem`, or `home` does, beside `mem` below the switch. `h` is upstream of virtual
/// switch 0, to which mem, home and nic, which caches, are bound in this order; `x` has the other one.
SpecBuilder apart(const std::vector<PoolStep>& steps, bool by_host, const std::vector<Value::Map>& events,
                  bool has_memory = true) {
  SpecBuilder system;
  const Value::Map near{{"port_delay", "0ns"}};
  const Value::Map far{{"port_delay", "25ns"}};
  const Value::Map agent{{"lookup_time", "7ns"}};
  const auto bound = !has_memory ? Value::List{"nic"}
                     : by_host   ? Value::List{"mem", "nic"}
                                 : Value::List{"mem", "nic", "home"};
  const Value::List switches{Value::Map{{"upstream", "h"}, {"vppbs", 3}, {"bind", bound}},
                             Value::Map{{"upstream", "x"}, {"vppbs", 3}}};
  system.device("sw", "switch", {{"switching_time", "5ns"}, {"vcs", switches}});
  system.device("mem", "memory",
                {{"capacity", "1MiB"},
                 {"controller_time", "40ns"},
                 {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "60ns"}}}});
  system.link("sw", "mem", near);
  if (!by_host) system.device("home", "dcoh", agent).link("sw", "home", near);
  system.region({"mem"}, {{"coherence", by_host ? "hdm-h" : "hdm-db"}, {"home", by_host ? "h" : "home"}});
  for (const char* name : {"h", "nic", "x"}) {
    Value::Map params{{"process_time", "10ns"},
                      {"cache", Value::Map{{"access_time", "12ns"}, {"ways", 0}, {"size", "4KiB"}}}};
    if (by_host && *name == 'h') params.emplace_back("home_agent", agent);
    if (*name == 'n') params.emplace_back("memory", Value::Map{{"capacity", "1MiB"}});
    system.device(name, *name == 'n' ? "accelerator" : "host", params).link(name, "sw", far);
    system.replay(name, steps_of(steps, name, 0x8000), {{"replay", "timestamps"}});
  }
  system.region({"nic"});
  for (const Value::Map& event : events) system.event(event);
  return system.outputs({{"requests", true}});
}

Value::Map leaves(const char* at, int place, int vcs = 0) {
  return {{"at", at}, {"unbind", Value::Map{{"switch", "sw"}, {"vcs", vcs}, {"vppb", place}}}};
}
Value::Map comes(const char* at, const char* what, int vcs, int place) {
  return {{"at", at}, {"bind", Value::Map{{"switch", "sw"}, {"vcs", vcs}, {"vppb", place}, {"to", what}}}};
}

constexpr int kMemPlace = 0;
constexpr int kNicPlace = 1;
constexpr int kHomePlace = 2;

// ---- The home is a host: w to the accelerator is kAcross, and its memory is kUp away

constexpr Time kHostReads = kUp + kMemoryRead + kUp;
constexpr Time kHostWrites = kUp + kMemoryWrite + kUp;

TEST(CoherentVirtualSwitchHomes, AHostTakesBackTheLinesOfMemoryThatLeaves) {
  // Both it and the accelerator have a modified line at 20 us.
  const std::vector<PoolStep> steps{{"nic", 0, W}, {"h", 64, W},   {"h", 0, R}, {"h", 64, R},
                                    {"nic", 0, R}, {"nic", 64, R}, {"h", 0, R}};
  Played played(apart(steps, true, {leaves("20us", kMemPlace), comes("45us", "mem", 0, 0)}), steps.size());
  for (const std::size_t step : {2U, 3U})
    EXPECT_EQ(played.latency[step], kProcess + kCache) << "refused at home";
  EXPECT_EQ(played.latency[4], kProcess + kCache + kAcross + kAcross) << "without a lookup";
  // Bound again: nobody has a line, and memory has the latest.
  EXPECT_EQ(played.latency[5], kProcess + kCache + kAcross + kLookup + kHostReads + kAcross);
  EXPECT_EQ(played.latency[6], kProcess + kCache + kLookup + kHostReads);
  EXPECT_EQ(played.failed, (std::vector{false, false, true, true, true, false, false}));
  EXPECT_EQ(played.run.number({"per_home", "h", "snoops_sent"}), 2.0);
  EXPECT_EQ(played.run.number({"per_switch", "sw", "isolation_errors"}), 1.0) << "the last read of x";
}

TEST(CoherentVirtualSwitchHomes, WhoAsksMeanwhileWaitsForTheData) {
  // It is back in the same instant: the line is on its way to memory.
  const std::vector<PoolStep> steps{{"nic", 0, W}, {"x", 0x8080, R}, {"h", 0, R}};
  Played played(apart(steps, true, {leaves("20us", kMemPlace), comes("20us", "mem", 0, 0)}), steps.size());
  EXPECT_EQ(played.latency[2], kAcross + kCache + kAcross + kHostWrites + kHostReads);
  EXPECT_FALSE(played.failed[2]);
}

TEST(CoherentVirtualSwitchHomes, MemoryIsUselessWithoutItsHome) {
  const std::vector<PoolStep> steps{{"h", 0, W}, {"x", 0x8080, R}, {"x", 0, R}, {"h", 0, R}};
  Played played(apart(steps, true, {leaves("15us", kMemPlace), comes("16us", "mem", 1, 0)}), steps.size());
  EXPECT_EQ(played.latency[2], kRefusedBySwitch) << "its home is in the other virtual switch";
  EXPECT_EQ(played.latency[3], kProcess + kCache);
  EXPECT_EQ(played.failed, (std::vector{false, true, true, true}));
}

TEST(CoherentVirtualSwitchHomes, AHostTakesBackWhatADeviceThatLeavesHas) {
  const std::vector<PoolStep> steps{
      {"nic", 0, W}, {"x", 0x8080, R}, {"h", 0, R}, {"nic", 0, R}, {"nic", 0, R}};
  Played played(apart(steps, true, {leaves("20us", kNicPlace), comes("35us", "nic", 0, 1)}), steps.size());
  EXPECT_EQ(played.latency[2], kAcross + kCache + kAcross + kHostWrites + kHostReads);
  EXPECT_EQ(played.latency[3], kRefusedBySwitch) << "no hit";
  EXPECT_EQ(played.latency[4], kProcess + kCache + kAcross + kLookup + kCache + kHostReads + kAcross)
      << "of h";
  EXPECT_EQ(played.failed, (std::vector{false, true, false, true, false}));
}

TEST(CoherentVirtualSwitchHomes, ADeviceMayWriteBackWhileItLeaves) {
  // The eviction is under way: its data are called for, and come.
  std::vector<PoolStep> steps{{"nic", 0, W}};
  for (std::uint64_t i = 1; i <= 64; ++i) steps.push_back({"nic", 64 * i, R});  // the last one evicts
  steps.push_back({"h", 0, R});
  const std::string at = std::to_string(64 * 10'000 + 130) + "ns";
  Played played(apart(steps, true, {leaves(at.c_str(), kNicPlace)}), steps.size());
  EXPECT_FALSE(played.failed[65]);
  EXPECT_EQ(played.latency[65], kProcess + kCache + kLookup + kHostReads);
}

TEST(CoherentVirtualSwitchHomes, MemoryMayComeLater) {
  const std::vector<PoolStep> steps{{"h", 0, R}, {"nic", 0, R}, {"h", 0, W}, {"nic", 0, R}};
  Played played(apart(steps, true, {comes("15us", "mem", 0, 2)}, false), steps.size());
  EXPECT_EQ(played.latency[0], kProcess + kCache) << "refused at home";
  EXPECT_EQ(played.latency[1], kProcess + kCache + kAcross + kAcross);
  EXPECT_EQ(played.latency[2], kProcess + kCache + kLookup + kHostReads);
  EXPECT_EQ(played.latency[3], kProcess + kCache + kAcross + kLookup + kCache + kAcross)
      << "of h, which has it modified";
  EXPECT_EQ(played.failed, (std::vector{true, true, false, false}));
}

// ---- The home is a device of its own: w to a host is kUp, and its memory is kSwitch away

constexpr Time kReads = kSwitch + kMemoryRead + kSwitch;
constexpr Time kWrites = kSwitch + kMemoryWrite + kSwitch;
constexpr Time kMissOfAgent = kProcess + kCache + kUp + kLookup + kReads + kUp;
constexpr Time kTakenBack =
    kUp + kCache + kUp + kLookup + kWrites + kUp + kUp;  // a modified line, since its snoop

TEST(CoherentVirtualSwitchHomes, AnAgentAndItsMemoryMoveTogether) {
  const std::vector<PoolStep> steps{{"h", 0, W}, {"h", 64, R}, {"x", 0, R}, {"x", 64, R}, {"h", 0, R}};
  for (const bool home_first : {false, true}) {
    std::vector<Value::Map> events{leaves("20us", home_first ? kHomePlace : kMemPlace),
                                   leaves("20us", home_first ? kMemPlace : kHomePlace)};
    events.push_back(comes("20us", home_first ? "mem" : "home", 1, 0));
    events.push_back(comes("20us", home_first ? "home" : "mem", 1, 1));
    Played played(apart(steps, false, events), steps.size());
    EXPECT_EQ(played.latency[2], kTakenBack + kReads + kUp);
    EXPECT_EQ(played.latency[3], kMissOfAgent);
    EXPECT_EQ(played.latency[4], kRefusedBySwitch);
    EXPECT_EQ(played.failed, (std::vector{false, false, false, false, true}));
  }
}

TEST(CoherentVirtualSwitchHomes, AnAgentRefusesWhatItsMemoryHasLeft) {
  const std::vector<PoolStep> steps{{"h", 0, W}, {"h", 64, R}, {"h", 0, R},
                                    {"x", 0, R}, {"h", 0, R},  {"h", 64, R}};
  Played played(apart(steps, false,
                      {leaves("15us", kMemPlace), comes("16us", "mem", 1, 0), leaves("35us", 0, 1),
                       comes("36us", "mem", 0, 0)}),
                steps.size());
  EXPECT_EQ(played.latency[2], kProcess + kCache + kUp + kUp) << "no hit, and no lookup";
  EXPECT_EQ(played.latency[3], kRefusedBySwitch);
  for (const std::size_t step : {4U, 5U}) EXPECT_EQ(played.latency[step], kMissOfAgent) << "bound again";
  EXPECT_EQ(played.failed, (std::vector{false, false, true, true, false, false}));
  EXPECT_EQ(played.run.number({"per_home", "home", "snoops_sent"}), 2.0);
}

TEST(CoherentVirtualSwitchHomes, AHomeEndsWhatItHasBegun) {
  // The read is in the home, and not looked up yet, as its memory leaves.
  for (const bool by_host : {false, true}) {
    const char* const reader = by_host ? "nic" : "h";
    const Time way = by_host ? kAcross : kUp;
    const std::vector<PoolStep> steps{{"x", 0x8080, R}, {reader, 0, R}, {reader, 0, R}};
    Played played(apart(steps, by_host, {leaves(by_host ? "10130ns" : "10080ns", kMemPlace)}), steps.size());
    EXPECT_EQ(played.latency[1], kProcess + kCache + way + kLookup + (by_host ? kHostReads : kReads) + way);
    EXPECT_EQ(played.latency[2], kProcess + kCache + way + way) << "no hit: taken back behind the grant";
    EXPECT_EQ(played.failed, (std::vector{true, false, true}));
  }
}

TEST(CoherentVirtualSwitchHomes, NobodyIsServedByAnAgentElsewhere) {
  const std::vector<PoolStep> steps{{"h", 0, W}, {"x", 0, R}, {"x", 0, R}, {"h", 0, R}};
  Played played(apart(steps, false, {leaves("15us", kHomePlace), comes("16us", "home", 1, 0)}), steps.size());
  EXPECT_EQ(played.latency[2], kProcess + kCache + kUp + kUp) << "the memory is not bound there";
  EXPECT_EQ(played.latency[3], kRefusedBySwitch) << "no hit";
  EXPECT_EQ(played.failed, (std::vector{false, true, true, true}));
}

}  // namespace
}  // namespace cxloom::test
