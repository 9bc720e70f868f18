// What fails and is repaired during a run, to the picosecond, and what of a spec's events is refused.
#include "system/events/player.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/support/errors.hpp"
#include "core/support/failing_system.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

/// A byte takes 62.5 ps: a header 1 ns, a line of data with its header 5 ns.
const Value::Map kLink{{"bandwidth", "16GB/s"}, {"port_delay", "25ns"}};

/// Where every read of one access at a time takes, in ns: 10 at the host, 50 to the switch and 20 there, so
/// that it leaves at 80; 51 to the memory, 85 there, so that the answer leaves at 216; 50 and 20 to leave the
/// switch at 286; 55 to the host: 341.
SpecBuilder reading_host(std::size_t accesses, Value::Map host = {}, Value::Map sw = {},
                         const Value::Map& link = kLink) {
  return host_switch_memory(lines(accesses), link, std::move(host), std::move(sw));
}

/// Links and queues of all kinds that a failure may meet; none of them changes what one request takes.
struct Kind {
  const char* name;
  Value::Map link;
  Value::Map sw;
};

const std::vector<Kind>& kinds() {
  const auto with = [](Value::Map more) {
    Value::Map link = kLink;
    link.insert(link.end(), more.begin(), more.end());
    return link;
  };
  static const std::vector<Kind> all{
      {"plain", kLink, {}},
      {"credits", with({{"credits", 1}}), {}},
      {"half", with({{"duplex", "half"}}), {}},
      {"voq", kLink, {{"queueing", "voq"}}},
      {"fifo", kLink, {{"queueing", "fifo"}}},
      {"voq_credits", with({{"credits", 1}}), {{"queueing", "voq"}}},
      {"fifo_credits", with({{"credits", 1}}), {{"queueing", "fifo"}}},
  };
  return all;
}

class Failures : public testing::TestWithParam<std::size_t> {
 protected:
  SpecBuilder system(std::size_t accesses, Value::Map host = {}) const {
    const Kind& kind = kinds()[GetParam()];
    return reading_host(accesses, std::move(host), kind.sw, kind.link);
  }
};

INSTANTIATE_TEST_SUITE_P(OfLinks, Failures, testing::Range<std::size_t>(0, kinds().size()),
                         [](const auto& tested) { return std::string(kinds()[tested.param].name); });

TEST_P(Failures, AreOfNoEffectBeforeTheyHappen) {
  Running run(system(2).event(fail_link("1ms", "sw", "mem", "1us")));
  run.to_end();
  EXPECT_EQ(run.latency(0), 341_ns);
  EXPECT_EQ(run.latency(1), 341_ns);
}

TEST_P(Failures, LetARequestWaitForTheRepair) {
  Running run(
      system(2).event(fail_link("80ns", "sw", "mem", "1us")).event(repair_link("500ns", "sw", "mem")));
  run.to_end();
  // It would have begun to cross at the very instant of the failure.
  EXPECT_EQ(run.latency(0), 500_ns + 261_ns);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 420_ns);
  EXPECT_EQ(run.latency(1), 341_ns);
  EXPECT_EQ(run.segment(1, Segment::kRetry), 0_ns);
}

TEST_P(Failures, LetWhatHasBegunArrive) {
  Running run(
      system(1).event(fail_link("80.001ns", "sw", "mem", "1us")).event(repair_link("500ns", "sw", "mem")));
  run.to_end();
  // The request had just begun; its answer waits at the memory.
  EXPECT_EQ(run.latency(0), 500_ns + 125_ns);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 500_ns - 216_ns);
}

TEST_P(Failures, AnswerWithAnErrorWhereNoWayLeads) {
  Running run(system(2).event(fail_link("50ns", "sw", "mem", "200ns")));
  run.to_end();
  // Known at 250 ns; the switch sends an error, of 1 ns.
  EXPECT_EQ(run.latency(0), 250_ns + 51_ns);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 170_ns);
  // From then on at once, when the request is at the switch.
  EXPECT_EQ(run.latency(1), 80_ns + 51_ns);
  EXPECT_EQ(run.number({"errors", "requests"}), 2.0);
  EXPECT_EQ(run.number({"events", "50ns fail link sw-mem", "failed"}), 2.0);
  EXPECT_EQ(run.number({"events", "50ns fail link sw-mem", "lasted_ns"}), 301.0 + 80.0 - 50.0);
}

TEST_P(Failures, AreAnsweredByTheHostThatNoLinkLeadsAwayFrom) {
  Running run(system(2).event(fail_link("5ns", "host", "sw", "100ns")));
  run.to_end();
  EXPECT_EQ(run.latency(0), 105_ns);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 95_ns);
  EXPECT_EQ(run.latency(1), 10_ns);
  EXPECT_EQ(run.number({"errors", "requests"}), 2.0);
}

TEST_P(Failures, EndARequestWhoseAnswerIsLostWithItsTimeout) {
  Running run(system(1, {{"completion_timeout", "5us"}}).event(fail_link("100ns", "host", "sw", "200ns")));
  run.to_end();
  // The answer waits at the switch from 286 to 300 ns, and is given up then.
  EXPECT_EQ(run.latency(0), 5_us);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 5_us - 286_ns);
  EXPECT_EQ(run.number({"errors", "requests"}), 1.0);
  EXPECT_EQ(run.number({"events", "100ns fail link host-sw", "lost"}), 1.0);
  EXPECT_EQ(run.number({"events", "100ns fail link host-sw", "lasted_ns"}), 4900.0);
}

TEST_P(Failures, LoseWhatAFailedSwitchHolds) {
  Running run(system(2, {{"completion_timeout", "5us"}})
                  .event(fail_device("70ns", "sw", "1us"))
                  .event(repair_device("1us", "sw")));
  run.to_end();
  // The request is in the switch's pipeline, and gone at 80 ns.
  EXPECT_EQ(run.latency(0), 5_us);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 5_us - 80_ns);
  EXPECT_EQ(run.latency(1), 341_ns);
}

TEST_P(Failures, LoseWhatIsOnItsWayToAFailedSwitch) {
  Running run(system(1, {{"completion_timeout", "5us"}})
                  .event(fail_device("100ns", "sw", "10us"))
                  .event(repair_device("2us", "sw")));
  run.to_end();
  // The answer waits at the memory for the repair: nobody has looked for another way yet.
  EXPECT_EQ(run.latency(0), 2_us + 125_ns);
  Running lost(system(1, {{"completion_timeout", "5us"}})
                   .event(fail_device("220ns", "sw", "10us"))
                   .event(repair_device("2us", "sw")));
  lost.to_end();
  EXPECT_EQ(lost.latency(0), 5_us);
  EXPECT_EQ(lost.segment(0, Segment::kRetry), 5_us - 286_ns);
}

TEST_P(Failures, GiveTheFullRateBackAfterTheRepair) {
  // One at a time: as long as before, whatever credits were in what failed.
  Running run(system(40)
                  .event(fail_link("1us", "sw", "mem", "100ns"))
                  .event(repair_link("2us", "sw", "mem"))
                  .event(fail_device("3us", "sw", "100ns"))
                  .event(repair_device("4us", "sw")));
  run.to_end();
  EXPECT_EQ(run.latency(39), 341_ns);
}

TEST_P(Failures, LetMessagesLeaveByAnotherWay) {
  const Kind& kind = kinds()[GetParam()];
  Running run(triangle(lines(4), kind.link, kind.sw)
                  .event(fail_link("50ns", "sw0", "sw1", "200ns"))
                  .event(repair_link("1.6us", "sw1", "sw0")));
  run.to_end();
  // It waits in sw0 from 80 to 250 ns; from there 70 to sw2, 70 to sw1, 51 + 85 at the memory, 70 three
  // times, 55: 541.
  EXPECT_EQ(run.latency(0), 250_ns + 541_ns);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 170_ns);
  EXPECT_EQ(run.table().hops[0], 8);
  // The second knows no other way: no wait. The third is made at 791 + 621 = 1412 ns: by the repair it is
  // beyond sw0.
  EXPECT_EQ(run.latency(1), 621_ns);
  EXPECT_EQ(run.segment(1, Segment::kRetry), 0_ns);
  EXPECT_EQ(run.latency(3), 481_ns);
  EXPECT_EQ(run.table().hops[3], 6);
  EXPECT_EQ(run.number({"events", "50ns fail link sw0-sw1", "rerouted"}), 1.0);
  EXPECT_EQ(run.number({"errors", "requests"}), 0.0);
}

/// Two ways from host to memory, by `a` and by `b`, of 1 GB/s: a header takes 16 ns there, a line with its
/// header 80. The way to `a`, and not the one back, is 500 ns longer. The host reads one line twice at once;
/// which of them goes by `a` is a matter of the seed.
SpecBuilder two_ways(std::uint64_t seed, const char* queueing) {
  const Value::Map narrow{{"bandwidth", "1GB/s"}, {"port_delay", "25ns"}};
  Value::Map longer = narrow;
  longer.emplace_back("delay", "500ns");
  longer.emplace_back("reverse", Value::Map{{"delay", "0ns"}});
  SpecBuilder system;
  system.device("host", "host", {{"queue", 2}, {"completion_timeout", "5us"}});
  for (const char* sw : {"s0", "a", "b", "s1"}) system.device(sw, "switch", {{"queueing", queueing}});
  system.device("mem", "memory",
                {{"controller_time", "40ns"}, {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}});
  system.link("host", "s0", kLink).link("s0", "a", longer).link("s0", "b", narrow);
  system.link("a", "s1", narrow).link("b", "s1", narrow).link("s1", "mem", kLink).region({"mem"});
  system.outputs({{"requests", true}}).run_with({{"routing", "adaptive"}, {"seed", number(seed)}});
  return system.replay("host", {access_to(64), access_to(64)});
}

// The first read leaves s0 at 80 ns, the second, which finds that wire busy, by the other one: at 81, and
// from a FIFO when the first is out of it.
TEST(EventPlayer, WhatIsKeptForAMessageGoesOnWhenThatIsLost) {
  for (const char* queueing : {"output", "voq", "fifo"}) {
    const Time second = std::string(queueing) == "fifo" ? 96_ns : 81_ns;
    int first_lost = 0;
    constexpr int kSeeds = 12;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      Running run(two_ways(seed, queueing).event(fail_device("300ns", "a", "0ns")));
      run.to_end();
      EXPECT_EQ(run.number({"events", "300ns fail device a", "lost"}), 1.0);
      EXPECT_EQ(run.number({"errors", "requests"}), 1.0);
      // Row 0 is the read that ends first, row 1 the one that is lost.
      const bool first = run.table().id[1] < run.table().id[0];
      first_lost += first ? 1 : 0;
      // What goes to a is lost there, 50 + 500 and 20 in its pipeline after it left s0.
      const Time lost = (first ? 80_ns : second) + 570_ns;
      EXPECT_EQ(run.latency(1), 5_us);
      EXPECT_EQ(run.segment(1, Segment::kRetry), 5_us - lost);
      // The other one, from when it left s0: 70 to leave b, 70 to leave s1, 50 + 16 to the memory. If it is
      // the second it is kept there until the first is lost. It is served in 85; 70 to leave s1, 70 b, 70 s0,
      // 50 + 80 to the host.
      const Time there = (first ? second : 80_ns) + 206_ns;
      const Time served = first ? lost : there;
      EXPECT_EQ(run.latency(0), served + 85_ns + 340_ns);
      EXPECT_EQ(run.segment(0, Segment::kReorder), served - there);
      EXPECT_EQ(run.segment(0, Segment::kRetry), 0_ns);
    }
    EXPECT_GT(first_lost, 0) << queueing;
    EXPECT_LT(first_lost, kSeeds) << queueing;
  }
}

// No way leads to the memory any more: what waits for the link is answered by s1 in the order in which it
// came, by messages that are numbered as others are.
TEST(EventPlayer, AnswersOfSwitchesAreInOrderToo) {
  for (const char* routing : {"adaptive", "ugal", "valiant"}) {
    for (const char* queueing : {"output", "voq", "fifo"}) {
      SpecBuilder system = two_ways(1, queueing);
      system.run_with({{"routing", routing}}).event(fail_link("5ns", "s1", "mem", "3us"));
      Running run(system);
      run.to_end();
      EXPECT_EQ(run.number({"errors", "requests"}), 2.0) << routing;
      EXPECT_EQ(run.number({"events", "5ns fail link s1-mem", "failed"}), 2.0);
      EXPECT_EQ(run.number({"events", "5ns fail link s1-mem", "lost"}), 0.0);
      // From s1 at 3005 ns by b, straight: 70 to leave it, 70 s0, 50 and a header of 16 to the host. The
      // other one goes by a: its link back is as short.
      for (const std::size_t row : {0U, 1U}) {
        EXPECT_GE(run.latency(row), 3005_ns + 206_ns);
        EXPECT_LE(run.latency(row), 3005_ns + 206_ns + 16_ns);
      }
    }
  }
}

TEST(EventPlayer, MakesOneOfSeveralLinksFail) {
  SpecBuilder system = reading_host(1);
  system.link("sw", "mem2", kLink);
  system.device("mem2", "memory", {});
  system.event({{"at", "1us"}, {"fail", Value::Map{{"link", Value::List{"sw", "mem"}}, {"number", 2}}}});
  EXPECT_EQ(input_error([&] { Running run(system); }).path(), "events[0].fail.number");
}

TEST(EventPlayer, KeepsARunAliveWhileAllWait) {
  // Routes look for another way after the repair: nothing but the events is left to happen meanwhile.
  Running run(
      reading_host(1).event(fail_link("50ns", "sw", "mem", "20ms")).event(repair_link("10ms", "sw", "mem")));
  run.to_end();
  EXPECT_EQ(run.latency(0), Time{10'000'000'000} + 261_ns);
}

}  // namespace
}  // namespace cxloom::test
