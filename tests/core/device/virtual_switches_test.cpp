// Virtual CXL switches: who may reach what, while devices come and go.
#include "device/virtual_switches.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/support/errors.hpp"
#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::input_error;
using test::Running;
using test::System;

const Value::Map kLink{{"bandwidth", "16GB/s"}, {"port_delay", "25ns"}};

Value::Map vcs(const char* upstream, const Value::List& bound = {}) {
  return {{"upstream", upstream}, {"vppbs", 2}, {"bind", bound}};
}

/// Two hosts, each with a virtual switch of its own, and two memories; one access at a time, 341 ns each (event_player_test.cpp).
/// Only host0 has work: `accesses` reads in a row of mem0.
System two_hosts(std::size_t accesses, const Value::List& virtual_switches, Value::Map sw = {}) {
  System system;
  for (const char* host : {"host0", "host1"}) system.device(host, "host", {{"queue", 1}});
  sw.emplace_back("vcs", virtual_switches);
  system.device("sw", "switch", std::move(sw));
  for (const char* name : {"mem0", "mem1"}) {
    system.device(name, "memory",
                  {{"capacity", "1MiB"},
                   {"controller_time", "40ns"},
                   {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}});
  }
  for (const char* name : {"host0", "host1", "mem0", "mem1"}) system.link(name, "sw", kLink);
  system.region({"mem0"}).region({"mem1"}).outputs({{"requests", true}});
  std::vector<Access> all;
  for (std::size_t i = 0; i < accesses; ++i) all.push_back(access_to(64 * i));
  return system.replay("host0", all);
}

Value::Map bind(const char* at, std::int64_t vcs, std::int64_t vppb, const char* to) {
  return {{"at", at}, {"bind", Value::Map{{"switch", "sw"}, {"vcs", vcs}, {"vppb", vppb}, {"to", to}}}};
}

Value::Map unbind(const char* at, std::int64_t vcs, std::int64_t vppb, bool surprise = false) {
  return {{"at", at},
          {"unbind", Value::Map{{"switch", "sw"}, {"vcs", vcs}, {"vppb", vppb}, {"surprise", surprise}}}};
}

class VirtualSwitching : public testing::TestWithParam<const char*> {
 protected:
  System system(std::size_t accesses, const Value::List& virtual_switches) const {
    return two_hosts(accesses, virtual_switches, {{"queueing", GetParam()}});
  }
};

INSTANTIATE_TEST_SUITE_P(OfSwitches, VirtualSwitching, testing::Values("output", "voq", "fifo"));

TEST_P(VirtualSwitching, LetsWhatIsBoundPassAndTakesNoTimeForIt) {
  Running run(system(2, {vcs("host0", {"mem0"}), vcs("host1", {"mem1"})}));
  run.to_end();
  EXPECT_EQ(run.latency(0), 341_ns);
  EXPECT_EQ(run.latency(1), 341_ns);
  EXPECT_EQ(run.number({"per_switch", "sw", "isolation_errors"}), 0.0);
  EXPECT_EQ(run.number({"failed"}), 0.0);
}

TEST_P(VirtualSwitching, AnswersForWhatIsNotBoundItself) {
  Running run(system(2, {vcs("host0", {"mem1"}), vcs("host1", {"mem0"})}));
  run.to_end();
  // 80 ns to the switch and through it, 51 back.
  EXPECT_EQ(run.latency(0), 131_ns);
  EXPECT_EQ(run.latency(1), 131_ns);
  EXPECT_EQ(run.number({"per_switch", "sw", "isolation_errors"}), 2.0);
  EXPECT_EQ(run.number({"failed"}), 2.0);
}

TEST_P(VirtualSwitching, GivesDataFromTheBindingOn) {
  Running run(system(6, {vcs("host0"), vcs("host1", {"mem1"})}).event(bind("300ns", 0, 1, "mem0")));
  run.to_end();
  // The third is at the switch at 262 + 80 ns.
  for (const std::size_t row : {0U, 1U}) EXPECT_EQ(run.latency(row), 131_ns);
  for (const std::size_t row : {2U, 3U, 4U, 5U}) EXPECT_EQ(run.latency(row), 341_ns);
  EXPECT_EQ(run.number({"failed"}), 2.0);
}

TEST_P(VirtualSwitching, LetsWhatIsUnderWayEnd) {
  Running run(system(2, {vcs("host0", {"mem0"}), vcs("host1")})
                  .event(unbind("100ns", 0, 0))
                  .event(bind("101ns", 1, 0, "mem0")));
  run.to_end();
  EXPECT_EQ(run.latency(0), 341_ns);
  EXPECT_EQ(run.latency(1), 131_ns);
  EXPECT_EQ(run.number({"failed"}), 1.0);
}

TEST_P(VirtualSwitching, MakesAnAnswerOfWhatIsGoneAnError) {
  Running run(system(2, {vcs("host0", {"mem0"}), vcs("host1")}).event(unbind("100ns", 0, 0, true)));
  run.to_end();
  // The answer is in the switch at 286 ns, and goes on as an error of 1 ns, though its data were still to come.
  EXPECT_EQ(run.latency(0), 286_ns + 51_ns);
  EXPECT_EQ(run.latency(1), 131_ns);
  EXPECT_EQ(run.number({"failed"}), 2.0);
  EXPECT_EQ(run.number({"per_switch", "sw", "removal_errors"}), 1.0);
  EXPECT_EQ(run.number({"per_switch", "sw", "isolation_errors"}), 1.0);
}

TEST_P(VirtualSwitching, GivesNobodyTheAnswersOfWhatHasBeenBoundElsewhereSince) {
  Running run(system(1, {vcs("host0", {"mem0"}), vcs("host1")})
                  .event(unbind("100ns", 0, 0, true))
                  .event(bind("101ns", 1, 0, "mem0")));
  run.to_end();
  EXPECT_EQ(run.latency(0), 286_ns + 51_ns);
  EXPECT_EQ(run.number({"per_switch", "sw", "removal_errors"}), 1.0);
}

TEST_P(VirtualSwitching, LetsAnAnswerPassIfItsDeviceIsBackInTime) {
  Running run(system(1, {vcs("host0", {"mem0"}), vcs("host1")})
                  .event(unbind("100ns", 0, 0, true))
                  .event(bind("286ns", 0, 1, "mem0")));
  run.to_end();
  EXPECT_EQ(run.latency(0), 341_ns);
  EXPECT_EQ(run.number({"failed"}), 0.0);
}

TEST(VirtualSwitches, RefusesWhatCannotBe) {
  const auto path = [](const System& system) { return input_error([&] { Running run(system); }).path(); };
  const auto of = [](const Value::List& virtual_switches) { return two_hosts(1, virtual_switches); };
  EXPECT_EQ(path(of({vcs("host7")})), "devices.sw.vcs[0].upstream");
  EXPECT_EQ(path(of({vcs("host0"), vcs("host0")})), "devices.sw.vcs[1].upstream");
  EXPECT_EQ(path(of({vcs("mem0")})), "devices.sw.vcs[0].upstream") << "it makes no requests";
  EXPECT_EQ(path(of({vcs("host0", {"mem7"})})), "devices.sw.vcs[0].bind[0]");
  EXPECT_EQ(path(of({vcs("host0", {"host1"})})), "devices.sw.vcs[0].bind[0]") << "it has no memory";
  EXPECT_EQ(path(of({vcs("host0", {"mem0"}), vcs("host1", {"mem0"})})), "devices.sw.vcs[1].bind[0]");
  EXPECT_EQ(path(of({vcs("host0", {"host1"}), vcs("host1")})), "devices.sw.vcs[0].bind[0]");
  EXPECT_EQ(path(of({vcs("host0", {"mem0", "mem1", "host1"})})), "devices.sw.vcs[0].bind");
  const Value::List both{vcs("host0", {"mem0"}), vcs("host1")};
  EXPECT_EQ(path(of(both).event(bind("1us", 1, 0, "mem0"))), "events[0].bind.to");
  EXPECT_EQ(path(of(both).event(bind("1us", 0, 0, "mem1"))), "events[0].bind.vppb");
  EXPECT_EQ(path(of(both).event(bind("1us", 2, 0, "mem1"))), "events[0].bind.vcs");
  EXPECT_EQ(path(of(both).event(bind("1us", 1, 2, "mem1"))), "events[0].bind.vppb");
  EXPECT_EQ(path(of(both).event(unbind("1us", 1, 0))), "events[0].unbind.vppb");
  EXPECT_EQ(path(of(both).event(unbind("1us", 0, 0)).event(unbind("2us", 0, 0))), "events[1].unbind.vppb");
  EXPECT_EQ(path(two_hosts(1, {}).event(bind("1us", 0, 0, "mem0"))), "events[0].bind.switch");
  EXPECT_EQ(path(of(both).run_with({{"routing", "adaptive"}})), "devices.sw.vcs");
  EXPECT_EQ(path(of(both).run_with({{"routing", "valiant"}})), "devices.sw.vcs");
  const Value::Map fail{{"link", Value::List{"host0", "sw"}}};
  EXPECT_EQ(path(of(both).event({{"at", "1us"}, {"fail", fail}})), "events[0].fail");
  EXPECT_EQ(path(of(both).region({"mem1"}, {{"coherence", "hdm-db"}, {"base", "1GiB"}})),
            "address_map[2].to[0]");
}

}  // namespace
}  // namespace cxloom
