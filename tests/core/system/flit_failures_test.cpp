// Links of flits that fail and are repaired, to the picosecond. docs/model/failures.md
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/support/errors.hpp"
#include "core/support/failing_system.hpp"
#include "interconnect/channel/virtual_channels.hpp"
#include "interconnect/link/end.hpp"
#include "system/events/player.hpp"
#include "system/model/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

/// A link of flits, a kind of switch, and what every message takes alone from when its first flit starts
/// until it is with the receiver, the flight of 50 ns aside.
struct FlitKind {
  const char* name;
  Value::Map link;
  Value::Map sw;
  Time crossing;
};

std::string ns(Time time) { return to_text(time); }

Value::Map flits(Value::Map more) {
  more.emplace_back("port_delay", "25ns");
  return more;
}

/// A flit of 256 B takes 2 ns, one of 68 B 2.125.
const std::vector<FlitKind>& flit_kinds() {
  static const std::vector<FlitKind> all{
      {"flits_256b", flits({{"phy", "pcie6-x16"}}), {}, 2_ns},
      {"flits_256b_lo", flits({{"phy", "pcie6-x16"}, {"flit", "256B-lo"}}), {}, 1_ns},
      {"flits_256b_pbr", flits({{"phy", "pcie6-x16"}, {"flit", "256B-pbr"}}), {}, 2_ns},
      {"flits_credits", flits({{"phy", "pcie6-x16"}, {"credits", 1}}), {}, 2_ns},
      {"flits_voq", flits({{"phy", "pcie6-x16"}}), {{"queueing", "voq"}}, 2_ns},
      {"flits_fifo", flits({{"phy", "pcie6-x16"}}), {{"queueing", "fifo"}}, 2_ns},
      {"flits_voq_credits", flits({{"phy", "pcie6-x16"}, {"credits", 1}}), {{"queueing", "voq"}}, 2_ns},
      {"flits_fifo_credits", flits({{"phy", "pcie6-x16"}, {"credits", 1}}), {{"queueing", "fifo"}}, 2_ns},
      {"flits_skid", flits({{"phy", "pcie6-x16"}, {"ide", Value::Map{{"mode", "skid"}}}}), {}, 2_ns},
      // The first flit of each message, and the flit that asks for it again: 2 ns and 50; then 50 and the
      // flit.
      {"flits_errors",
       flits({{"phy", "pcie6-x16"}, {"errors", Value::Map{{"every", 1}}}}),
       {},
       2_ns + 50_ns + 2_ns + 50_ns + 2_ns},
  };
  return all;
}

class FlitFailures : public testing::TestWithParam<std::size_t> {
 protected:
  const FlitKind& kind() const { return flit_kinds()[GetParam()]; }
  SpecBuilder system(std::size_t accesses, Value::Map host = {}) const {
    return host_switch_memory(lines(accesses), kind().link, std::move(host), kind().sw);
  }
  // One read at a time: 10 at the host, there and 20 in the switch.
  Time hop() const { return kind().crossing + 50_ns; }
  Time leaves_switch() const { return 10_ns + hop() + 20_ns; }
  Time answer_leaves() const { return leaves_switch() + hop() + 85_ns; }
  Time answer_at_switch() const { return answer_leaves() + hop() + 20_ns; }
  Time idle() const { return answer_at_switch() + hop(); }
};

INSTANTIATE_TEST_SUITE_P(OfLinks, FlitFailures, testing::Range<std::size_t>(0, flit_kinds().size()),
                         [](const auto& tested) { return std::string(flit_kinds()[tested.param].name); });

TEST_P(FlitFailures, AreOfNoEffectBeforeTheyHappen) {
  Running run(system(2).event(fail_link("1ms", "sw", "mem", "1us")));
  run.to_end();
  EXPECT_EQ(run.latency(0), idle());
  EXPECT_EQ(run.latency(1), idle());
}

TEST_P(FlitFailures, LetARequestWaitForTheRepair) {
  Running run(system(2)
                  .event(fail_link(ns(leaves_switch()), "sw", "mem", "1us"))
                  .event(repair_link("500ns", "sw", "mem")));
  run.to_end();
  EXPECT_EQ(run.latency(0), 500_ns + idle() - leaves_switch());
  const Time crossings = (kind().crossing - 2_ns) * 4;  // with retries of their own
  const bool retries = crossings > 1_ns;
  EXPECT_EQ(run.segment(0, Segment::kRetry), 500_ns - leaves_switch() + (retries ? crossings : 0_ns));
  EXPECT_EQ(run.latency(1), idle());
}

TEST_P(FlitFailures, LetWhatHasBegunArrive) {
  Running run(system(1)
                  .event(fail_link(ns(leaves_switch() + 1_ps), "sw", "mem", "1us"))
                  .event(repair_link("500ns", "sw", "mem")));
  run.to_end();
  if (kind().crossing > 100_ns) {  // the flit is to be sent again
    EXPECT_EQ(run.latency(0), 500_ns + idle() - leaves_switch());
  } else {
    EXPECT_EQ(run.latency(0), 500_ns + idle() - answer_leaves());
    EXPECT_EQ(run.segment(0, Segment::kRetry), 500_ns - answer_leaves());
  }
}

TEST_P(FlitFailures, AnswerWithAnErrorWhereNoWayLeads) {
  Running run(system(2).event(fail_link("50ns", "sw", "mem", "200ns")));
  run.to_end();
  // Known at 250 ns.
  EXPECT_EQ(run.latency(0), 250_ns + hop());
  EXPECT_EQ(run.latency(1), leaves_switch() + hop());
  EXPECT_EQ(run.number({"errors", "requests"}), 2.0);
  EXPECT_EQ(run.number({"events", "50ns fail link sw-mem", "failed"}), 2.0);
}

TEST_P(FlitFailures, AreAnsweredByTheHostThatNoLinkLeadsAwayFrom) {
  Running run(system(2).event(fail_link("5ns", "host", "sw", "100ns")));
  run.to_end();
  EXPECT_EQ(run.latency(0), 105_ns);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 95_ns);
  EXPECT_EQ(run.latency(1), 10_ns);
}

TEST_P(FlitFailures, EndARequestWhoseAnswerIsLostWithItsTimeout) {
  const Time known = answer_at_switch() + 100_ns;  // the request has crossed the link that fails
  Running run(system(1, {{"completion_timeout", "5us"}})
                  .event(fail_link(ns(leaves_switch()), "host", "sw", ns(known - leaves_switch()))));
  run.to_end();
  EXPECT_EQ(run.latency(0), 5_us);
  EXPECT_EQ(run.number({"errors", "requests"}), 1.0);
}

TEST_P(FlitFailures, LoseWhatAFailedSwitchHolds) {
  // It is in the switch's pipeline.
  Running run(system(2, {{"completion_timeout", "5us"}})
                  .event(fail_device(ns(leaves_switch() - 10_ns), "sw", "1us"))
                  .event(repair_device("1us", "sw")));
  run.to_end();
  EXPECT_EQ(run.latency(0), 5_us);
  EXPECT_EQ(run.latency(1), idle());
  EXPECT_EQ(run.number({"errors", "requests"}), 1.0);
}

TEST_P(FlitFailures, LetMessagesLeaveByAnotherWay) {
  Running run(triangle(lines(4), kind().link, kind().sw)
                  .event(fail_link("50ns", "sw0", "sw1", ns(leaves_switch() + 100_ns)))
                  .event(repair_link("3us", "sw1", "sw0")));
  run.to_end();
  // It waits in sw0; from there over two more links to the memory, and back over four.
  const Time known = leaves_switch() + 150_ns;
  EXPECT_EQ(run.latency(0), known + hop() * 7 + 20_ns * 5 + 85_ns);
  EXPECT_EQ(run.table().hops[0], 8);
  // The second knows no other way.
  EXPECT_EQ(run.latency(1), 10_ns + hop() * 8 + 20_ns * 6 + 85_ns);
  EXPECT_EQ(run.number({"events", "50ns fail link sw0-sw1", "rerouted"}), 1.0);
  EXPECT_EQ(run.number({"errors", "requests"}), 0.0);
}

// --- What is under way in flits ---

/// A write over links of 68 B flits: header and three quarters of its line in one flit, the last quarter in
/// another. It leaves the switch at 10 + 4.25 + 50 + 20 ns.
const Value::Map k68B = flits({{"phy", "pcie5-x8"}, {"sync_header_bypass", true}});
constexpr Time kWriteLeaves{84'250};

TEST(FlitFailures, AMessageOfWhichAFlitIsMissingCrossesAgain) {
  const SpecBuilder system = host_switch_memory(lines(1, AccessKind::kWrite), k68B);
  Running before(system);
  before.to_end();
  const Time idle = before.latency(0);
  EXPECT_EQ(before.latency(0), 10_ns + (4250_ps + 50_ns) * 2 + 20_ns * 2 + 85_ns + (2125_ps + 50_ns) * 2);
  struct Case {
    Time fails;  // after the first flit has begun
    bool again;
  };
  for (const Case& each : {Case{1_ps, true}, {2125_ps, true}, {2126_ps, false}}) {
    SpecBuilder failing = system;
    Running run(failing.event(fail_link(ns(kWriteLeaves + each.fails), "sw", "mem", "1us"))
                    .event(repair_link("500ns", "sw", "mem")));
    run.to_end();
    if (each.again) {
      EXPECT_EQ(run.latency(0), 500_ns + idle - kWriteLeaves) << each.fails.ps();
      EXPECT_EQ(run.segment(0, Segment::kRetry), 500_ns - kWriteLeaves);  // what was sent was for nothing
    } else {
      // The answer of the memory waits.
      const Time answered = kWriteLeaves + 4250_ps + 50_ns + 85_ns;
      EXPECT_EQ(run.latency(0), 500_ns + idle - answered);
      EXPECT_EQ(run.segment(0, Segment::kRetry), 500_ns - answered);
    }
    EXPECT_EQ(run.number({"errors", "requests"}), 0.0);
  }
}

TEST(FlitFailures, AMessageOfWhichAFlitIsMissingLeavesByAnotherWay) {
  const SpecBuilder system = triangle(lines(2, AccessKind::kWrite), k68B, {});
  SpecBuilder failing = system;
  Running run(failing.event(fail_link(ns(kWriteLeaves + 1_ps), "sw0", "sw1", "100ns")));
  run.to_end();
  const Time there = 4250_ps + 50_ns;
  const Time back = 2125_ps + 50_ns;
  const Time known = kWriteLeaves + 1_ps + 100_ns;
  EXPECT_EQ(run.latency(0), known + there * 3 + back * 4 + 20_ns * 5 + 85_ns);
  EXPECT_EQ(run.segment(0, Segment::kRetry), known - kWriteLeaves);
  EXPECT_EQ(run.latency(1), 10_ns + (there + back) * 4 + 20_ns * 6 + 85_ns);
}

TEST(FlitFailures, WhatItsCheckHasNotReachedCrossesAgain) {
  // The receiver keeps a message until the flit with the MAC is there, which begins when the first one, of 2
  // ns, has gone.
  const Value::Map checked = flits({{"phy", "pcie6-x16"}, {"ide", Value::Map{{"mode", "containment"}}}});
  const SpecBuilder system = host_switch_memory(lines(2), checked);
  const Time hop = 4_ns + 50_ns;
  const Time leaves = 10_ns + hop + 20_ns;
  const Time idle = leaves + hop + 85_ns + hop + 20_ns + hop;
  for (const Time fails : {1_ps, 2_ns, 2001_ps}) {
    SpecBuilder failing = system;
    Running run(failing.event(fail_link(ns(leaves + fails), "sw", "mem", "1us"))
                    .event(repair_link("500ns", "sw", "mem")));
    run.to_end();
    const Time goes_on = fails > 2_ns ? leaves + hop + 85_ns : leaves;
    EXPECT_EQ(run.latency(0), 500_ns + idle - goes_on);
    EXPECT_EQ(run.segment(0, Segment::kRetry), 500_ns - goes_on);
    EXPECT_EQ(run.latency(1), idle);
  }
}

TEST(FlitFailures, AFlitThatIsToBeSentAgainHasNotBegun) {
  // Every second new flit is corrupted each way: the second read's on its way to the memory. 2 ns and 50, a
  // flit that asks for it, 50: it is sent again 104 ns later. In 68B six flits ask, six announce.
  struct Mode {
    Value::Map link;
    Time flit;
    Time data;  // of an answer
    Time again;
  };
  const Value::Map every{{"every", 2}};
  const Mode modes[] = {{flits({{"phy", "pcie6-x16"}, {"errors", every}}), 2_ns, 2_ns, 104_ns},
                        {flits({{"phy", "pcie5-x8"}, {"sync_header_bypass", true}, {"errors", every}}),
                         2125_ps, 4250_ps, 2125_ps * 13 + 100_ns}};
  for (const Mode& mode : modes) {
    SCOPED_TRACE(mode.flit.ps());
    Value::Map sound = mode.link;
    std::erase_if(sound, [](const auto& entry) { return entry.first == "errors"; });
    const auto system = [&] {
      SpecBuilder made;
      made.device("host", "host", {{"queue", 1}}).device("sw", "switch");
      slow_memory(made).link("host", "sw", sound).link("sw", "mem", mode.link).region({"mem"});
      made.outputs({{"requests", true}});
      return made.replay("host", lines(2));
    };
    Running usual(system());
    usual.to_end();
    const Time leaves = usual.created(1) + 10_ns + mode.flit + 50_ns + 20_ns;
    struct Case {
      Time fails;
      bool arrives;
    };
    for (const Case& each : {Case{1_ps, false},
                             {mode.flit + 60_ns, false},
                             {mode.again - 1_ns, false},
                             {mode.again, false},
                             {mode.again + 1_ps, true}}) {
      SCOPED_TRACE(each.fails.ps());
      Running run(system()
                      .event(fail_link(ns(leaves + each.fails), "sw", "mem", "5us"))
                      .event(repair_link("2us", "sw", "mem")));
      run.to_end();
      EXPECT_EQ(run.latency(0), usual.latency(0));
      // It is a new flit, and the third: whole. Its answer is of the flits that are as before.
      const Time of_the_answer = usual.completed(1) - leaves - mode.again - mode.flit - 50_ns - 85_ns;
      const Time there = mode.flit + 50_ns + 85_ns;
      if (each.arrives) {
        EXPECT_EQ(run.completed(1), 2_us + of_the_answer);
        // The answer is to be sent again, too.
        EXPECT_EQ(run.segment(1, Segment::kRetry), mode.again * 2 + 2_us - (leaves + mode.again + there));
      } else {
        EXPECT_EQ(run.completed(1), 2_us + there + of_the_answer);
      }
    }
  }
}

// --- Credits ---

/// Reads and writes, as many at once as there are, over links with few credits, parts of which fail and are
/// repaired again and again. A read over other links keeps the run going until all has been quiet for a long
/// time.
SpecBuilder busy(const Value::Map& link, const char* queueing) {
  SpecBuilder system;
  system.device("host", "host", {{"queue", 64}, {"completion_timeout", "3us"}});
  for (const char* name : {"sw0", "sw1"}) system.device(name, "switch", {{"queueing", queueing}});
  slow_memory(system).link("host", "sw0", link).link("sw0", "sw1", link).link("sw1", "mem", link);
  slow_memory(system.device("late", "host"), "aside").link("late", "sw1").link("sw1", "aside");
  system.region({"mem"}).region({"aside"});
  Access last = access_to(Bytes{16ULL << 30U}.count());
  last.timestamp = 1_ms;
  last.timed = true;
  system.replay("late", {last}, {{"replay", "timestamps"}});
  return system.work("host",
                     {{"pattern", "random"}, {"requests", 2500}, {"reads", 0.6}, {"footprint", "1MiB"}});
}

TEST(FlitFailures, AllCreditsAreBackAfterTheRepair) {
  const Value::Map ways[] = {
      {{"phy", "pcie5-x4"}, {"credits", 3}},
      {{"phy", "pcie6-x4"}, {"credits", 5}, {"ide", Value::Map{{"mode", "containment"}}}},
      {{"phy", "pcie6-x2"}, {"credits", 2}, {"errors", Value::Map{{"every", 5}}}},
      {{"phy", "pcie5-x2"}, {"credits", 4}, {"errors", Value::Map{{"every", 7}}}},
  };
  for (const Value::Map& link : ways) {
    for (const char* queueing : {"output", "voq", "fifo"}) {
      SpecBuilder system = busy(link, queueing);
      // At odd times, so that flits, credits and retries are met in all their states.
      for (int i = 1; i <= 12; ++i) {
        const std::string fails = std::to_string(1013 * i) + ".7ns";
        const std::string repaired = std::to_string(1013 * i + 157 * (i % 5) + 3) + "ns";
        const std::string known = i % 2 == 0 ? "11ns" : "300ns";
        if (i % 3 == 0) {
          system.event(fail_device(fails, "sw0", known)).event(repair_device(repaired, "sw0"));
        } else {
          const char* const a = i % 3 == 1 ? "sw1" : "sw0";
          const char* const b = i % 3 == 1 ? "mem" : "sw1";
          system.event(fail_link(fails, a, b, known)).event(repair_link(repaired, a, b));
        }
      }
      Running run(system);
      run.to_end();
      Simulation& simulation = run.simulation();
      EXPECT_GT(run.number({"errors", "requests"}), 0.0);
      ASSERT_GT(simulation.now(), 1_ms);
      for (const System::LinkView& link_view : simulation.system().links()) {
        if (!link_view.params->phy) continue;
        for (LinkEnd* end : {link_view.forward, link_view.backward}) {
          for (std::size_t i = 0; i < kChannelCount; ++i)
            EXPECT_EQ(end->channels()->credits_in_use(static_cast<Channel>(i)), 0U) << end->name();
        }
      }
    }
  }
}

TEST(FlitFailures, ALinkHasAnOutageOrEvents) {
  SpecBuilder system =
      host_switch_memory(lines(1), flits({{"phy", "pcie6-x16"}, {"outage", Value::Map{{"at", "1us"}}}}));
  system.event(fail_link("50ns", "sw", "mem", "1us"));
  EXPECT_EQ(input_error([&] { Running run(system); }).path(), "events[0].fail");
}

}  // namespace
}  // namespace cxloom::test
