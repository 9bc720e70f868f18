// Links of a switch with virtual switches that fail: messages keep to theirs on new ways, to the picosecond.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/support/failing_system.hpp"
#include "core/support/system.hpp"
#include "device/switch/virtual_switches.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::fail_device;
using test::fail_link;
using test::repair_device;
using test::repair_link;
using test::Running;
using test::SpecBuilder;

const Value::Map kWire{{"bandwidth", "16GB/s"}, {"port_delay", "25ns"}};
const Value::Map kShortWire{{"bandwidth", "16GB/s"}, {"port_delay", "25ns"}, {"credits", 1}};

class VirtualSwitchFailures : public testing::TestWithParam<std::pair<const char*, bool>> {
 protected:
  static Value::Map vcs(Value::List virtual_switches) {
    return {{"queueing", GetParam().first}, {"vcs", std::move(virtual_switches)}};
  }
  static Value::Map vcs_of(const char* upstream, Value::List bound) {
    return {{"upstream", upstream}, {"bind", std::move(bound)}};
  }
  static const Value::Map& link() { return GetParam().second ? kShortWire : kWire; }

  /// The triangle of switches of event_player_test.cpp, with these virtual switches at sw0; another host
  /// there asks for nothing.
  static SpecBuilder triangle_with(std::size_t accesses, Value::List virtual_switches) {
    SpecBuilder system;
    system.device("host", "host", {{"queue", 1}, {"completion_timeout", "5us"}});
    system.device("sw0", "switch", vcs(std::move(virtual_switches)));
    for (const char* name : {"sw1", "sw2"})
      system.device(name, "switch", Value::Map{{"queueing", GetParam().first}});
    test::slow_memory(system);
    system.link("host", "sw0", link()).link("sw0", "sw1", link()).link("sw0", "sw2", link());
    system.link("sw2", "sw1", link()).link("sw1", "mem", link()).region({"mem"});
    system.device("other", "host", {}).link("other", "sw0", link());
    system.outputs({{"requests", true}});
    return system.replay("host", test::lines(accesses));
  }
};

INSTANTIATE_TEST_SUITE_P(OfQueues, VirtualSwitchFailures,
                         testing::Values(std::pair("output", false), std::pair("voq", false),
                                         std::pair("fifo", false), std::pair("voq", true),
                                         std::pair("fifo", true)),
                         [](const auto& tested) {
                           return std::string(tested.param.first) + (tested.param.second ? "_credits" : "");
                         });

TEST_P(VirtualSwitchFailures, LetMessagesLeaveByAnotherPortOfTheirVirtualSwitch) {
  Running run(triangle_with(4, {vcs_of("host", {"sw1", "sw2"}), vcs_of("other", {})})
                  .event(fail_link("50ns", "sw0", "sw1", "200ns"))
                  .event(repair_link("1.6us", "sw1", "sw0")));
  run.to_end();
  // No different from event_player_test.cpp, without virtual switches.
  EXPECT_EQ(run.latency(0), 250_ns + 541_ns);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 170_ns);
  EXPECT_EQ(run.latency(1), 621_ns);
  EXPECT_EQ(run.latency(3), 481_ns);
  EXPECT_EQ(run.number({"events", "50ns fail link sw0-sw1", "rerouted"}), 1.0);
  EXPECT_EQ(run.number({"errors", "requests"}), 0.0);
  EXPECT_EQ(run.number({"per_switch", "sw0", "isolation_errors"}), 0.0);
}

TEST_P(VirtualSwitchFailures, AnswerWithAnErrorWhereThePortBelongsToAnother) {
  for (const Value::List& others : {Value::List{}, Value::List{"sw2"}}) {
    Running run(triangle_with(6, {vcs_of("host", {"sw1"}), vcs_of("other", others)})
                    .event(fail_link("50ns", "sw0", "sw1", "200ns"))
                    .event(repair_link("500ns", "sw1", "sw0")));
    run.to_end();
    // What waits has no way on but by the port of sw2.
    EXPECT_EQ(run.latency(0), 250_ns + 51_ns);
    EXPECT_EQ(run.segment(0, Segment::kRetry), 170_ns);
    EXPECT_EQ(run.number({"events", "50ns fail link sw0-sw1", "failed"}), 1.0);
    EXPECT_EQ(run.number({"events", "50ns fail link sw0-sw1", "rerouted"}), 0.0);
    // What comes later is refused as ever; that which is made at 432 ns is at sw0 after the repair.
    EXPECT_EQ(run.latency(1), 80_ns + 51_ns);
    EXPECT_EQ(run.latency(2), 481_ns);
    EXPECT_EQ(run.latency(5), 481_ns);
    EXPECT_EQ(run.number({"per_switch", "sw0", "isolation_errors"}), 1.0);
    EXPECT_EQ(run.number({"errors", "requests"}), 2.0);
  }
}

TEST_P(VirtualSwitchFailures, AnswerWithAnErrorBehindASecondFailure) {
  // At 250 ns the request turns to sw2, whose link is down as well. At 460 ns the way by sw3 is left.
  SpecBuilder system = triangle_with(2, {vcs_of("host", {"sw1", "sw2"}), vcs_of("other", {"sw3"})});
  system.device("sw3", "switch", Value::Map{{"queueing", GetParam().first}});
  system.link("sw0", "sw3", link()).link("sw3", "sw1", link());
  Running run(
      system.event(fail_link("50ns", "sw0", "sw1", "200ns")).event(fail_link("60ns", "sw0", "sw2", "400ns")));
  run.to_end();
  EXPECT_EQ(run.latency(0), 460_ns + 51_ns);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 380_ns);
  EXPECT_EQ(run.latency(1), 80_ns + 51_ns);
  EXPECT_EQ(run.number({"per_switch", "sw0", "isolation_errors"}), 1.0);
  EXPECT_EQ(run.number({"errors", "requests"}), 2.0);
}

TEST_P(VirtualSwitchFailures, KeepWhatIsBoundThroughAFailureOfTheSwitch) {
  Running run(triangle_with(3, {vcs_of("host", {"sw1"}), vcs_of("other", {"sw2"})})
                  .event(fail_device("70ns", "sw0", "1us"))
                  .event(repair_device("1us", "sw0")));
  run.to_end();
  // The first is lost in the switch, and ends with its timeout.
  EXPECT_EQ(run.latency(0), 5_us);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 5_us - 80_ns);
  EXPECT_EQ(run.latency(1), 481_ns);
  EXPECT_EQ(run.latency(2), 481_ns);
}

TEST_P(VirtualSwitchFailures, MayFallTogetherWithBindings) {
  // While the request waits in sw0, sw2 comes to its virtual switch: at 250 ns it may leave by it.
  Running run(
      triangle_with(2, {vcs_of("host", {"sw1"}), vcs_of("other", {"sw2"})})
          .event(fail_link("50ns", "sw0", "sw1", "200ns"))
          .event({{"at", "100ns"}, {"unbind", Value::Map{{"switch", "sw0"}, {"vcs", 1}, {"vppb", 0}}}})
          .event({{"at", "100ns"},
                  {"bind", Value::Map{{"switch", "sw0"}, {"vcs", 0}, {"vppb", 1}, {"to", "sw2"}}}}));
  run.to_end();
  EXPECT_EQ(run.latency(0), 250_ns + 541_ns);
  EXPECT_EQ(run.latency(1), 621_ns);
  EXPECT_EQ(run.number({"errors", "requests"}), 0.0);
}

// An answer waits for the failed one of two links to its host while its device is removed.
TEST_P(VirtualSwitchFailures, MakeAnErrorOfAWaitingAnswerWhoseDeviceWasRemoved) {
  int waited = 0;
  for (const std::int64_t number : {1, 2}) {
    Value::Map pair = link();
    pair.emplace_back("count", 2);
    SpecBuilder system;
    system.device("host", "host", {{"queue", 1}, {"completion_timeout", "5us"}});
    system.device("sw0", "switch", vcs({vcs_of("host", {"mem"})}));
    test::slow_memory(system);
    system.link("host", "sw0", pair).link("sw0", "mem", link()).region({"mem"});
    system.outputs({{"requests", true}});
    Running run(
        system.replay("host", test::lines(2))
            .event({{"at", "60ns"},
                    {"fail",
                     Value::Map{
                         {"link", Value::List{"host", "sw0"}}, {"number", number}, {"reroute_time", "1us"}}}})
            .event({{"at", "900ns"},
                    {"unbind", Value::Map{{"switch", "sw0"}, {"vcs", 0}, {"vppb", 0}, {"surprise", true}}}}));
    run.to_end();
    const std::string event = "60ns fail link host-sw0#" + std::to_string(number);
    EXPECT_EQ(run.number({"events", event, "lost"}), 0.0);
    if (run.latency(0) < 1_us) continue;  // the answer takes the other link
    ++waited;
    EXPECT_EQ(run.number({"per_switch", "sw0", "removal_errors"}), 1.0);
    EXPECT_EQ(run.number({"errors", "requests"}), 2.0);
    EXPECT_EQ(run.latency(0), 60_ns + 1_us + 51_ns);
    EXPECT_EQ(run.number({"events", event, "rerouted"}), 1.0);
  }
  EXPECT_EQ(waited, 1);
}

}  // namespace
}  // namespace cxloom
