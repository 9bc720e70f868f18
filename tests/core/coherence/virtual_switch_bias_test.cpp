// A device that keeps its memory coherent by bias (HDM-D) and leaves a virtual switch:
// docs/model/virtual_switch.md, docs/model/bias.md, to the picosecond.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/support/coherence_flows.hpp"
#include "core/support/coherent_pool.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr Time kToDevice = kPorts + kSwitch + kPorts;  // from a host
constexpr Time kHostMiss = kProcess + kCache + kToDevice + kLookup + kMemoryRead + kToDevice;
constexpr Time kNotBound = kProcess + kCache + kPorts + kSwitch + kPorts;
constexpr Time kOwnMiss = kProcess + kCache + kLookup + kMemoryRead;  // of the device
// A question to a host, which has the line modified.
constexpr Time kQuestion = kToDevice + kCache + kToDevice;
constexpr Time kWithData = kQuestion + kToDevice + kLookup + kMemoryWrite + kToDevice;

/// `acc`, with pages of two lines, is bound to the virtual switch of `h`; `x` has the other one. It moves
/// there at these times, if it does.
SpecBuilder by_bias(const std::vector<PoolStep>& steps, const char* leaves, const char* comes,
                    bool surprise = false, int back_to = 1, std::optional<std::int64_t> fails = {}) {
  SpecBuilder system;
  const Value::List switches{Value::Map{{"upstream", "h"}, {"vppbs", 1}, {"bind", Value::List{"acc"}}},
                             Value::Map{{"upstream", "x"}, {"vppbs", 1}}};
  system.device("sw", "switch", {{"switching_time", "5ns"}, {"vcs", switches}});
  const Value::Map cache{{"access_time", "12ns"}, {"ways", 0}, {"size", "4KiB"}};
  const Value::Map memory{
      {"capacity", "1MiB"},
      {"controller_time", "40ns"},
      {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "60ns"}}},
      {"bias", Value::Map{{"lookup_time", "7ns"}, {"page", "128B"}, {"initial", "device"}}}};
  std::uint64_t last = 0x8000;
  for (const char* name : {"acc", "h", "x"}) {
    const bool device = *name == 'a';
    Value::Map params{{"process_time", "10ns"}, {"cache", cache}};
    if (device) params.emplace_back("memory", memory);
    Value::Map link{{"port_delay", "25ns"}};
    if (fails && *name == 'h') link.emplace_back("count", 2);
    system.device(name, device ? "accelerator" : "host", params).link(name, "sw", link);
    system.replay(name, steps_of(steps, name, last), {{"replay", "timestamps"}});
    last += 0x80;
  }
  system.region({"acc"}, {{"coherence", "hdm-d"}});
  const auto place = [](int vcs) { return Value::Map{{"switch", "sw"}, {"vcs", vcs}, {"vppb", 0}}; };
  Value::Map from = place(0);
  from.emplace_back("surprise", surprise);
  Value::Map to = place(back_to);
  to.emplace_back("to", "acc");
  if (fails) {
    const Value::Map part{{"link", Value::List{"h", "sw"}}, {"number", *fails}, {"reroute_time", "1us"}};
    system.event({{"at", "10200ns"}, {"fail", part}});
  }
  system.event({{"at", leaves}, {"unbind", from}});
  if (comes) system.event({{"at", comes}, {"bind", to}});
  return system.outputs({{"requests", true}});
}

double of_device(Played& played, std::string_view measure) {
  return played.run.number({"per_home", "acc", measure});
}

TEST(CoherentVirtualSwitchBias, TakesBackThePagesOfItsHost) {
  // One page has a modified line; the host may have lines of another. All lines of both are asked for at
  // once.
  const std::vector<PoolStep> steps{{"h", 0, W},   {"h", 128, R}, {"x", 0, R},
                                    {"x", 128, R}, {"h", 0, R},   {"x", 0, R}};
  Played played(by_bias(steps, "20us", "20us"), steps.size());
  EXPECT_EQ(played.latency[2], kWithData + kMemoryRead + kToDevice);
  EXPECT_EQ(played.latency[3], kHostMiss);
  EXPECT_EQ(played.latency[4], kNotBound) << "no hit";
  EXPECT_EQ(played.latency[5], kProcess + kCache);
  EXPECT_EQ(played.failed, (std::vector{false, false, false, false, true, false}));
  EXPECT_EQ(of_device(played, "snoops_sent"), 4.0);
  EXPECT_EQ(of_device(played, "bias_flips_to_device"), 2.0);
}

TEST(CoherentVirtualSwitchBias, AsksNobodyThatItIsNotBoundTo) {
  const std::vector<PoolStep> steps{
      {"h", 0, W}, {"h", 128, R}, {"acc", 0, R}, {"acc", 128, W}, {"acc", 512, R}};
  Played played(by_bias(steps, "15us", nullptr), steps.size());
  for (const std::size_t step : {2U, 3U, 4U}) EXPECT_EQ(played.latency[step], kOwnMiss) << step;
  EXPECT_EQ(played.failed, std::vector(5, false));
  EXPECT_EQ(of_device(played, "snoops_sent"), 4.0) << "as it left";
}

TEST(CoherentVirtualSwitchBias, AsksWhileItLeavesAndWaitsForTheEnd) {
  const std::vector<PoolStep> steps{{"h", 0, W}, {"x", 512, R}, {"acc", 0, R}};
  Played played(by_bias(steps, "20us", nullptr), steps.size());
  EXPECT_EQ(played.latency[2], kWithData + kMemoryRead);
  EXPECT_FALSE(played.failed[2]);
}

TEST(CoherentVirtualSwitchBias, TakesBackWhatItHasGrantedSince) {
  // The read of h is beyond the switch, as the device leaves; x asks for the same line behind it.
  const std::vector<PoolStep> steps{{"x", 512, R}, {"h", 0, R}, {"h", 0, R}, {"x", 0, W}, {"h", 64, R}};
  Played played(by_bias(steps, "10100ns", "10101ns"), steps.size());
  EXPECT_EQ(played.latency[1], kHostMiss);
  EXPECT_EQ(played.latency[2], kNotBound) << "no hit";
  EXPECT_EQ(played.latency[3], kHostMiss);
  EXPECT_EQ(played.failed, (std::vector{true, false, true, false, true}));
}

TEST(CoherentVirtualSwitchBias, ServesItsHostAgainWhereItComesBack) {
  const std::vector<PoolStep> steps{{"h", 0, W},   {"h", 64, R}, {"h", 0, R},
                                    {"acc", 0, R}, {"h", 0, W},  {"acc", 0, R}};
  Played played(by_bias(steps, "15us", "16us", false, 0), steps.size());
  EXPECT_EQ(played.latency[2], kHostMiss) << "it was written back";
  EXPECT_EQ(played.latency[5], kOwnMiss + kWithData) << "asked again";
  EXPECT_EQ(played.failed, std::vector(6, false));
}

TEST(CoherentVirtualSwitchBias, LosesWhatItsHostHadAloneBySurprise) {
  const std::vector<PoolStep> steps{{"h", 0, W}, {"h", 128, R},   {"x", 0, R}, {"x", 0, W},
                                    {"x", 0, R}, {"acc", 128, R}, {"h", 0, R}};
  Played played(by_bias(steps, "20us", "20us", true), steps.size());
  EXPECT_EQ(played.latency[2], kHostMiss) << "nobody is asked";
  EXPECT_EQ(played.latency[4], kProcess + kCache);
  EXPECT_EQ(played.latency[5], kOwnMiss);
  EXPECT_EQ(played.latency[6], kNotBound);
  EXPECT_EQ(played.failed, (std::vector{false, false, true, false, false, true, true}));
  EXPECT_EQ(of_device(played, "lines_poisoned"), 2.0);
  EXPECT_EQ(of_device(played, "snoops_sent"), 0.0);
}

TEST(CoherentVirtualSwitchBias, WaitsForNoAnswerThatBecameAnErrorInTheSwitch) {
  // The answers of step 1 wait for the failed link as the device is removed. Its question in step 3 does not
  // wait for their numbers.
  const std::vector<PoolStep> steps{{"x", 512, R}, {"h", 0, R}, {"h", 0, R}, {"acc", 0, W}};
  int waited = 0;
  for (const std::int64_t number : {1, 2}) {
    Played played(by_bias(steps, "10500ns", "12us", true, 0, number), steps.size());
    if (played.latency[1] == kHostMiss) continue;  // by the other link
    ++waited;
    EXPECT_EQ(played.latency[1], 1'200_ns + kPorts);
    EXPECT_EQ(played.latency[2], kHostMiss);
    EXPECT_EQ(played.latency[3], kOwnMiss + kQuestion);
    EXPECT_EQ(played.failed, (std::vector{true, true, true, false})) << "it was granted alone: poison";
  }
  EXPECT_EQ(waited, 1);
}

}  // namespace
}  // namespace cxloom::test
