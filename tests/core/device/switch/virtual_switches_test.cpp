// Virtual CXL switches: which hosts reach which memory, while devices come and go.
#include "device/switch/virtual_switches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
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
using test::SpecBuilder;

const Value::Map kLink{{"bandwidth", "16GB/s"}, {"port_delay", "25ns"}};

Value::Map vcs(const char* upstream, const Value::List& bound = {}) {
  return {{"upstream", upstream}, {"vppbs", 2}, {"bind", bound}};
}

/// Two hosts, each with a virtual switch of its own, and two memories; one access at a time, 341 ns each
/// (event_player_test.cpp). Only host0 has work: `accesses` reads in a row of mem0.
SpecBuilder two_hosts(std::size_t accesses, const Value::List& virtual_switches, Value::Map sw = {}) {
  SpecBuilder system;
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

Value::Map ld_of(const char* device, std::int64_t ld) { return {{"to", device}, {"ld", ld}}; }

/// Two hosts, each with a virtual switch of its own, and a memory of two logical devices of 512 KiB, the
/// first one for the accesses at 0, the second one for those at 512 KiB. An access alone takes 341 ns again:
/// logical devices cost nothing where nobody waits.
SpecBuilder two_hosts_of_one_memory(const std::vector<Access>& first, const std::vector<Access>& second,
                                    const Value::List& virtual_switches, Value::Map sw = {},
                                    Value::Map memory = {}) {
  SpecBuilder system;
  for (const char* host : {"host0", "host1"}) system.device(host, "host", {{"queue", 1}});
  sw.emplace_back("vcs", virtual_switches);
  system.device("sw", "switch", std::move(sw));
  const Value::Map half{{"capacity", "512KiB"}};
  memory.insert(memory.end(), {{"logical_devices", Value::List{half, half}},
                               {"controller_time", "40ns"},
                               {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}});
  system.device("mld", "memory", std::move(memory));
  system.device("mem", "memory", {{"capacity", "1MiB"}});
  for (const char* name : {"host0", "host1", "mld", "mem"}) system.link(name, "sw", kLink);
  for (const std::int64_t ld : {0, 1}) system.region({"mld"}, {{"ld", ld}});
  system.region({"mem"}).outputs({{"requests", true}});
  if (!first.empty()) system.replay("host0", first);
  if (!second.empty()) system.replay("host1", second);
  return system;
}

constexpr std::uint64_t kSecondLd = 512U << 10U;

/// Reads in a row of one logical device.
std::vector<Access> reads(std::size_t count, std::uint64_t base = 0) {
  std::vector<Access> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(access_to(base + 64 * i));
  return all;
}

Value::Map bind(const char* at, std::int64_t vcs, std::int64_t vppb, const char* to) {
  return {{"at", at}, {"bind", Value::Map{{"switch", "sw"}, {"vcs", vcs}, {"vppb", vppb}, {"to", to}}}};
}

Value::Map bind_ld(const char* at, std::int64_t vcs, std::int64_t vppb, std::int64_t ld) {
  return {{"at", at},
          {"bind", Value::Map{{"switch", "sw"}, {"vcs", vcs}, {"vppb", vppb}, {"to", "mld"}, {"ld", ld}}}};
}

Value::Map unbind(const char* at, std::int64_t vcs, std::int64_t vppb, bool surprise = false) {
  return {{"at", at},
          {"unbind", Value::Map{{"switch", "sw"}, {"vcs", vcs}, {"vppb", vppb}, {"surprise", surprise}}}};
}

class VirtualSwitching : public testing::TestWithParam<const char*> {
 protected:
  SpecBuilder system(std::size_t accesses, const Value::List& virtual_switches) const {
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
  EXPECT_EQ(run.number({"errors", "requests"}), 0.0);
}

TEST_P(VirtualSwitching, AnswersForWhatIsNotBoundItself) {
  Running run(system(2, {vcs("host0", {"mem1"}), vcs("host1", {"mem0"})}));
  run.to_end();
  // 80 ns to the switch and through it, 51 back.
  EXPECT_EQ(run.latency(0), 131_ns);
  EXPECT_EQ(run.latency(1), 131_ns);
  EXPECT_EQ(run.number({"per_switch", "sw", "isolation_errors"}), 2.0);
  EXPECT_EQ(run.number({"errors", "requests"}), 2.0);
}

TEST_P(VirtualSwitching, GivesDataFromTheBindingOn) {
  Running run(system(6, {vcs("host0"), vcs("host1", {"mem1"})}).event(bind("300ns", 0, 1, "mem0")));
  run.to_end();
  // The third is at the switch at 262 + 80 ns.
  for (const std::size_t row : {0U, 1U}) EXPECT_EQ(run.latency(row), 131_ns);
  for (const std::size_t row : {2U, 3U, 4U, 5U}) EXPECT_EQ(run.latency(row), 341_ns);
  EXPECT_EQ(run.number({"errors", "requests"}), 2.0);
}

TEST_P(VirtualSwitching, LetsWhatIsUnderWayEnd) {
  Running run(system(2, {vcs("host0", {"mem0"}), vcs("host1")})
                  .event(unbind("100ns", 0, 0))
                  .event(bind("101ns", 1, 0, "mem0")));
  run.to_end();
  EXPECT_EQ(run.latency(0), 341_ns);
  EXPECT_EQ(run.latency(1), 131_ns);
  EXPECT_EQ(run.number({"errors", "requests"}), 1.0);
}

TEST_P(VirtualSwitching, MakesAnAnswerOfWhatIsGoneAnError) {
  Running run(system(2, {vcs("host0", {"mem0"}), vcs("host1")}).event(unbind("100ns", 0, 0, true)));
  run.to_end();
  // The answer is in the switch at 286 ns, and goes on as an error of 1 ns, though its data were still to
  // come.
  EXPECT_EQ(run.latency(0), 286_ns + 51_ns);
  EXPECT_EQ(run.latency(1), 131_ns);
  EXPECT_EQ(run.number({"errors", "requests"}), 2.0);
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
  EXPECT_EQ(run.number({"errors", "requests"}), 0.0);
}

TEST_P(VirtualSwitching, TellsLogicalDevicesOfOneMemoryApart) {
  const auto ends = [](const std::vector<Access>& accesses, const Value::List& virtual_switches) {
    Running run(two_hosts_of_one_memory(accesses, {}, virtual_switches, {{"queueing", GetParam()}}));
    run.to_end();
    return std::pair{run.latency(0), run.latency(1)};
  };
  const std::vector<Access> both{access_to(0), access_to(kSecondLd)};
  const Value::Map first = ld_of("mld", 0);
  const Value::Map second = ld_of("mld", 1);
  EXPECT_EQ(ends(both, {vcs("host0", {first}), vcs("host1", {second})}), (std::pair{341_ns, 131_ns}));
  EXPECT_EQ(ends(both, {vcs("host0", {second}), vcs("host1", {first})}), (std::pair{131_ns, 341_ns}));
  EXPECT_EQ(ends(both, {vcs("host0", {second, first}), vcs("host1")}), (std::pair{341_ns, 341_ns}));
  EXPECT_EQ(ends(both, {vcs("host0", {"mld"}), vcs("host1")}), (std::pair{341_ns, 341_ns})) << "all of it";
  // Memory without logical devices is of LD-ID 0 for nobody.
  const std::vector<Access> other{access_to(0), access_to(2 * kSecondLd)};
  EXPECT_EQ(ends(other, {vcs("host0", {first}), vcs("host1", {"mem"})}), (std::pair{341_ns, 131_ns}));
}

TEST_P(VirtualSwitching, LetsLogicalDevicesShareTheLinkOfTheirMemory) {
  Running run(two_hosts_of_one_memory(reads(2), reads(2, kSecondLd),
                                      {vcs("host0", {ld_of("mld", 0)}), vcs("host1", {ld_of("mld", 1)})},
                                      {{"queueing", GetParam()}}));
  run.to_end();
  // Both are at the port at once. The second one's 16 B follow 1 ns later, so that its 80 B of data find the
  // wire taken for 4 ns of the 5 that the first one's take.
  EXPECT_EQ(run.latency(0), 341_ns);
  EXPECT_EQ(run.latency(1), 346_ns);
}

TEST_P(VirtualSwitching, RebindsALogicalDeviceDuringTraffic) {
  // It is host1's up to 100 ns, and host0's from 300 ns on. Host1's first read is beyond the switch at 80 ns
  // and ends as ever, the other ones come later. Host0's third one comes at 262 + 80 ns.
  Running run(two_hosts_of_one_memory(reads(5, kSecondLd), reads(9, kSecondLd),
                                      {vcs("host0", {ld_of("mld", 0)}), vcs("host1", {ld_of("mld", 1)})},
                                      {{"queueing", GetParam()}})
                  .event(unbind("100ns", 1, 0))
                  .event(bind_ld("300ns", 0, 1, 1)));
  run.to_end();
  std::map<std::uint32_t, std::vector<Time>> had;  // by requester
  for (std::size_t row = 0; row < run.table().created_ps.size(); ++row)
    had[run.table().requester[row]].push_back(run.latency(row));
  const auto first = [&](const char* host, std::size_t count) {
    std::vector<Time>& all = had[run.node(host).index()];
    all.resize(std::min(all.size(), count));
    return all;
  };
  EXPECT_EQ(first("host0", 3), (std::vector{131_ns, 131_ns, 341_ns}));
  EXPECT_EQ(first("host1", 4), (std::vector{341_ns, 131_ns, 131_ns, 131_ns}));
}

TEST_P(VirtualSwitching, RemovesOneLogicalDeviceAndLeavesTheOther) {
  const auto ends = [](std::int64_t removed) {
    Running run(two_hosts_of_one_memory(reads(1), {},
                                        {vcs("host0", {ld_of("mld", 0), ld_of("mld", 1)}), vcs("host1")},
                                        {{"queueing", GetParam()}})
                    .event(unbind("100ns", 0, removed, true)));
    run.to_end();
    return std::pair{run.latency(0), run.number({"per_switch", "sw", "removal_errors"})};
  };
  EXPECT_EQ(ends(0), (std::pair{286_ns + 51_ns, 1.0}));
  EXPECT_EQ(ends(1), (std::pair{341_ns, 0.0}));
}

TEST_P(VirtualSwitching, MakesErrorsOfWhatARemovedLogicalDeviceOwesThoughItIsBoundElsewhere) {
  Running run(two_hosts_of_one_memory(reads(1), {}, {vcs("host0", {ld_of("mld", 0)}), vcs("host1")},
                                      {{"queueing", GetParam()}})
                  .event(unbind("100ns", 0, 0, true))
                  .event(bind_ld("101ns", 1, 0, 0))
                  .event(bind_ld("102ns", 0, 0, 1)));  // another one of the same device is no way back
  run.to_end();
  EXPECT_EQ(run.latency(0), 286_ns + 51_ns);
  EXPECT_EQ(run.number({"per_switch", "sw", "removal_errors"}), 1.0);
}

TEST(VirtualSwitches, RefusesLogicalDevicesThatCannotBe) {
  const auto of = [](const Value::List& virtual_switches, const Value::Map& memory = {}) {
    return two_hosts_of_one_memory(reads(1), {}, virtual_switches, {}, memory);
  };
  const auto wrong = [](const SpecBuilder& system) { return input_error([&] { Running run(system); }); };
  const auto path = [&](const SpecBuilder& system) { return wrong(system).path(); };
  const Value::Map first = ld_of("mld", 0);
  const Value::List twice{first, first};
  const Value::List all_and_one{"mld", first};
  const Value::List one_and_all{first, "mld"};
  EXPECT_EQ(path(of({vcs("host0", twice)})), "devices.sw.vcs[0].bind[1].ld");
  EXPECT_EQ(path(of({vcs("host0", {first}), vcs("host1", {first})})), "devices.sw.vcs[1].bind[0].ld");
  EXPECT_EQ(path(of({vcs("host0", {ld_of("mld", 2)})})), "devices.sw.vcs[0].bind[0].ld") << "it has two";
  EXPECT_EQ(path(of({vcs("host0", {ld_of("mld", 16)})})), "devices.sw.vcs[0].bind[0].ld") << "nobody has";
  EXPECT_EQ(path(of({vcs("host0", {ld_of("mem", 0)})})), "devices.sw.vcs[0].bind[0].ld") << "it has none";
  EXPECT_EQ(path(of({vcs("host0", {ld_of("mld7", 0)})})), "devices.sw.vcs[0].bind[0]");
  EXPECT_EQ(path(of({vcs("host0", all_and_one)})), "devices.sw.vcs[0].bind[1]");
  EXPECT_EQ(path(of({vcs("host0", one_and_all)})), "devices.sw.vcs[0].bind[1]");
  const Value::List apart{vcs("host0", {first}), vcs("host1")};
  EXPECT_EQ(path(of(apart).event(bind_ld("1us", 1, 0, 0))), "events[0].bind.ld");
  EXPECT_EQ(path(of(apart).event(bind("1us", 1, 0, "mld"))), "events[0].bind.to");
  EXPECT_EQ(path(of(apart).event(bind_ld("1us", 0, 0, 1))), "events[0].bind.vppb");
  EXPECT_EQ(path(of(apart).event(unbind("1us", 0, 0)).event(unbind("2us", 0, 0))), "events[1].unbind.vppb");
  EXPECT_EQ(wrong(of(apart).event(bind_ld("1us", 1, 0, 0))).detail().found, "'mld ld 0', of vcs 0");
  // Extents of dynamic capacity lie within logical devices.
  const Value::Map across{{"base", "256KiB"}, {"size", "512KiB"}, {"host", "host0"}};
  EXPECT_EQ(path(of(apart, {{"dynamic_capacity", Value::Map{{"extents", Value::List{across}}}}})),
            "devices.mld.dynamic_capacity.extents[0].size");
}

/// Two switches, each with a host and a head of a memory, which is cut into two logical devices or is one
/// whole.
SpecBuilder two_heads(const Value::List& at_sw0, const Value::List& at_sw1, bool cut = true) {
  SpecBuilder system;
  Value::Map memory{{"heads", 2}};
  if (cut) {
    const Value::Map half{{"capacity", "512KiB"}};
    memory.emplace_back("logical_devices", Value::List{half, half});
  } else {
    memory.emplace_back("capacity", "1MiB");
  }
  system.device("mem", "memory", memory);
  for (const char* side : {"0", "1"}) {
    const std::string host = std::string("host") + side;
    const std::string sw = std::string("sw") + side;
    const Value::List& bound = *side == '0' ? at_sw0 : at_sw1;
    system.device(host, "host").device(sw, "switch", {{"vcs", Value::List{vcs(host.c_str(), bound)}}});
    system.link(host, sw, kLink).link(sw, "mem", kLink);
  }
  if (cut) {
    system.region({"mem"}, {{"ld", 0}}).region({"mem"}, {{"ld", 1}});
  } else {
    system.region({"mem"});
  }
  return system.replay("host0", {access_to(0)});
}

/// Hosts host0 and host1, each with a switch of its own, which has the lower switch `sub` bound. Behind that
/// hangs a memory of two logical devices, with an access of each host to each of them.
SpecBuilder cascade(const Value::List& at_sub) {
  SpecBuilder system;
  for (const char* side : {"0", "1"}) {
    const std::string host = std::string("host") + side;
    const std::string sw = std::string("sw") + side;
    system.device(host, "host", {{"queue", 1}});
    system.device(sw, "switch", {{"vcs", Value::List{vcs(host.c_str(), {"sub"})}}});
    system.link(host, sw, kLink).link(sw, "sub", kLink);
    std::vector<Access> accesses;
    for (int i = 0; i < 10; ++i) accesses.push_back(access_to(i % 2 == 0 ? 0 : kSecondLd));
    system.replay(host, accesses);
  }
  Value::Map sub;
  if (!at_sub.empty()) sub.emplace_back("vcs", at_sub);
  const Value::Map half{{"capacity", "512KiB"}};
  system.device("sub", "switch", std::move(sub)).link("sub", "mld", kLink);
  system.device("mld", "memory",
                {{"logical_devices", Value::List{half, half}},
                 {"controller_time", "40ns"},
                 {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}});
  return system.region({"mld"}, {{"ld", 0}}).region({"mld"}, {{"ld", 1}}).outputs({{"requests", true}});
}

// A link of 50 ns and a switch of 20 ns more than through one switch, there and back.
TEST(VirtualSwitches, BindLogicalDevicesBehindFurtherSwitches) {
  using Failed = std::vector<bool>;  // by logical device
  const auto played = [](const Value::List& at_sub) {
    Running run(cascade(at_sub));
    run.to_end();
    std::map<std::uint32_t, Failed> failed;
    for (std::size_t row = 0; row < run.table().created_ps.size(); ++row) {
      const bool error = run.table().error[row] != 0;
      if (!error && row == 0) {
        EXPECT_EQ(run.latency(row), 341_ns + 140_ns);
      }
      Failed& all = failed[run.table().requester[row]];
      all.resize(2);
      all[run.table().address[row] >= kSecondLd ? 1 : 0] = error;
    }
    return std::pair{failed[run.node("host0").index()], failed[run.node("host1").index()]};
  };
  const Failed first{false, true};
  const Failed second{true, false};
  EXPECT_EQ(played({vcs("sw0", {ld_of("mld", 0)}), vcs("sw1", {ld_of("mld", 1)})}), std::pair(first, second));
  EXPECT_EQ(played({vcs("sw0", {ld_of("mld", 1)}), vcs("sw1", {ld_of("mld", 0)})}), std::pair(second, first));
  EXPECT_EQ(played({vcs("sw0", {"mld"}), vcs("sw1")}), std::pair(Failed{false, false}, Failed{true, true}));
}

TEST(VirtualSwitches, BindAMemoryOfLogicalDevicesWithTheSwitchInFrontOfIt) {
  Running run(cascade({}));
  run.to_end();
  EXPECT_EQ(run.number({"errors", "requests"}), 0.0) << "it is that of both, as memory without them";
}

// Whose they are behind one head the switch behind the other one would not know.
TEST(VirtualSwitches, RefuseLogicalDevicesBehindWhatIsBound) {
  const auto error = [](const SpecBuilder& system) { return input_error([&] { Running run(system); }); };
  SpecBuilder heads = cascade({});
  const Value::Map half{{"capacity", "512KiB"}};
  heads.device("pool", "memory", {{"heads", 2}, {"logical_devices", Value::List{half, half}}});
  heads.device("sub1", "switch").link("sub1", "sub").link("pool", "sub").link("pool", "sub1");
  heads.region({"pool"}, {{"ld", 0}}).region({"pool"}, {{"ld", 1}});
  EXPECT_EQ(error(heads).path(), "devices.sw0.vcs[0].bind[0]");
  EXPECT_EQ(error(heads).detail().found, "'pool', behind 'sub'");
  // At the upper switch no message says which it is for.
  SpecBuilder upper;
  upper.device("h", "host").device("sw", "switch", {{"vcs", Value::List{vcs("h", {ld_of("mld", 0)})}}});
  upper.device("sub", "switch").device("mld", "memory", {{"logical_devices", Value::List{half, half}}});
  upper.link("h", "sw").link("sw", "sub").link("sub", "mld").region({"mld"}, {{"ld", 0}});
  upper.work("h", {{"pattern", "random"}, {"requests", 10}, {"footprint", "4KiB"}});
  EXPECT_EQ(error(upper).path(), "devices.sw.vcs[0].bind[0]");
  EXPECT_NE(error(upper).detail().allowed.find("section 2.5"), std::string::npos);
}

TEST(VirtualSwitches, BindALogicalDeviceBehindOneHeadAtATime) {
  const auto error = [](const SpecBuilder& system) { return input_error([&] { Running run(system); }); };
  const auto ld = [](int which) { return Value::Map{{"to", "mem"}, {"ld", which}}; };
  Running apart(two_heads({ld(0)}, {ld(1)}));
  apart.to_end();
  EXPECT_EQ(apart.number({"errors", "requests"}), 0.0);
  EXPECT_EQ(error(two_heads({ld(0)}, {ld(1), ld(0)})).path(), "devices.sw1.vcs[0].bind[1].ld");
  EXPECT_EQ(error(two_heads({ld(0)}, {ld(0)})).detail().found, "'mem ld 0', of switch 'sw0'");
  EXPECT_EQ(error(two_heads({ld(1)}, {"mem"})).path(), "devices.sw1.vcs[0].bind[0]");
  EXPECT_EQ(error(two_heads({"mem"}, {ld(1)})).path(), "devices.sw1.vcs[0].bind[0].ld");
  EXPECT_EQ(error(two_heads({"mem"}, {"mem"})).path(), "devices.sw1.vcs[0].bind[0]");
  // A memory without logical devices has all of it behind each of its heads.
  Running whole(two_heads({"mem"}, {"mem"}, false));
  whole.to_end();
  EXPECT_EQ(whole.number({"errors", "requests"}), 0.0);
  // During the run: not before it has been unbound at the other switch.
  const auto bind_there = [](const char* at) {
    const Value::Map bound{{"switch", "sw1"}, {"vppb", 1}, {"to", "mem"}, {"ld", 0}};
    return Value::Map{{"at", at}, {"bind", bound}};
  };
  const auto unbind_here = [](const char* at) {
    return Value::Map{{"at", at}, {"unbind", Value::Map{{"switch", "sw0"}}}};
  };
  EXPECT_EQ(error(two_heads({ld(0)}, {ld(1)}).event(bind_there("1us"))).path(), "events[0].bind.ld");
  EXPECT_EQ(error(two_heads({ld(0)}, {ld(1)}).event(bind_there("1us")).event(unbind_here("1us"))).path(),
            "events[0].bind.ld");
  Running moved(two_heads({ld(0)}, {ld(1)}).event(unbind_here("1ps")).event(bind_there("1ps")));
  moved.to_end();
  EXPECT_EQ(moved.number({"errors", "requests"}), 1.0);
}

TEST(VirtualSwitches, RefusesWhatCannotBe) {
  const auto path = [](const SpecBuilder& system) {
    return input_error([&] { Running run(system); }).path();
  };
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
  EXPECT_EQ(path(of(both).region({"mem1"}, {{"coherence", "hdm-db"}, {"base", "1GiB"}})),
            "address_map[2].to[0]");
}

}  // namespace
}  // namespace cxloom
