// Links of an I/O engine itself that fail, and switches that it hangs on: what it makes and what it loses, to
// the picosecond.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/support/failing_system.hpp"
#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::fail_device;
using test::fail_link;
using test::repair_device;
using test::repair_link;
using test::Running;
using test::SpecBuilder;

/// A wire of 1 GB/s without headers: a packet of 1000 bytes takes 1 us of it.
const Value::Map kSlow{
    {"bandwidth", "1GB/s"}, {"port_delay", "25ns"}, {"header", "0B"}, {"data_header", "0B"}};
const Value::Map kSlowCredits{
    {"bandwidth", "1GB/s"}, {"port_delay", "25ns"}, {"header", "0B"}, {"data_header", "0B"}, {"credits", 4}};

class IoEngineFailures : public testing::TestWithParam<std::pair<const char*, bool>> {
 protected:
  /// nic - sw - mem, and a host at the same switch that reads a memory of its own, a line each us.
  static SpecBuilder engine(Value::Map params, std::size_t lines) {
    const Value::Map& link = GetParam().second ? kSlowCredits : kSlow;
    params.emplace_back("target", "mem");
    SpecBuilder system;
    system.device("host", "host", {}).device("nic", "io-engine", std::move(params));
    system.device("sw", "switch", Value::Map{{"queueing", GetParam().first}});
    test::slow_memory(system);
    test::slow_memory(system, "near");
    for (const char* name : {"host", "near", "nic", "mem"}) system.link(name, "sw", link);
    system.region({"near"});
    return system.work("host", {{"pattern", "random"},
                                {"footprint", "1MiB"},
                                {"size", "64B"},
                                {"rate", "1M/s"},
                                {"requests", number(lines)}});
  }
  static double of(const Running& run, const char* measure) { return run.number({"per_io", "nic", measure}); }
};

INSTANTIATE_TEST_SUITE_P(OfQueues, IoEngineFailures,
                         testing::Values(std::pair("output", false), std::pair("voq", false),
                                         std::pair("fifo", false), std::pair("voq", true),
                                         std::pair("fifo", true)),
                         [](const auto& tested) {
                           return std::string(tested.param.first) + (tested.param.second ? "_credits" : "");
                         });

TEST_P(IoEngineFailures, LoseTheOnePacketThatItHasMade) {
  // Back to back from 0 on, a packet a us. At 4.5 us that made at 4 us is on the wire, and the next one is
  // made and waits. It is lost when the failure is known, and none is made until the repair, at 20 us: from
  // then on a packet a us again, up to 30 us.
  Running run(engine({{"size", "1000B"}, {"stop", "29.5us"}}, 100)
                  .event(fail_link("4500ns", "nic", "sw", "2us"))
                  .event(repair_link("20us", "nic", "sw")));
  run.to_end();
  EXPECT_EQ(run.number({"events", "4500ns fail link nic-sw", "lost"}), 1.0);
  EXPECT_EQ(of(run, "lost"), 1.0);
  // 5 before, and those that leave at 20, ..., 29 us; the last one is made at 29 us, as that before it has
  // left.
  EXPECT_EQ(of(run, "packets"), 5.0 + 11.0);
  EXPECT_EQ(of(run, "sent"), 17.0);
  EXPECT_EQ(of(run, "unfinished"), 0.0);
}

TEST_P(IoEngineFailures, LeaveAPacketWaitingForARepairThatComesInTime) {
  Running run(engine({{"size", "1000B"}, {"start", "4us"}, {"stop", "4.1us"}, {"rate", "1GB/s"}}, 100)
                  .event(fail_link("4us", "nic", "sw", "2us"))
                  .event(repair_link("5us", "nic", "sw")));
  run.to_end();
  EXPECT_EQ(of(run, "lost"), 0.0);
  EXPECT_EQ(of(run, "packets"), 1.0);
  // 1000 ns of waiting, twice 50 ns of ports, the switch's 20 ns, and 1 us of wire, once, as it cuts through.
  EXPECT_EQ(run.number({"per_io", "nic", "latency_ns", "mean"}), 1000.0 + 1120.0);
  EXPECT_EQ(run.number({"per_io", "nic", "breakdown_ns", "retry"}), 1000.0);
}

TEST_P(IoEngineFailures, LoseTheCompletionsOfReadsUntilTheirTimeouts) {
  // Four reads at once take all tags. Their completions, of 1 us each, are under way when the link fails.
  Running run(engine({{"size", "1000B"}, {"traffic", "dma-read"}, {"outstanding", 4}, {"stop", "1ns"}}, 100)
                  .event(fail_link("100ns", "nic", "sw", "0ns"))
                  .event(repair_link("200ns", "nic", "sw")));
  run.to_end();
  // The reads are beyond it already, their completions come after the repair.
  EXPECT_EQ(of(run, "packets"), 4.0);
  Running lost(engine({{"size", "1000B"}, {"traffic", "dma-read"}, {"outstanding", 4}, {"stop", "1ns"}}, 100)
                   .event(fail_link("100ns", "nic", "sw", "0ns"))
                   .event(repair_link("40us", "nic", "sw")));
  lost.to_end();
  EXPECT_EQ(of(lost, "packets"), 0.0);
  EXPECT_EQ(of(lost, "lost"), 4.0);
  // The tags are back at 50 us.
  EXPECT_EQ(lost.number({"events", "100ns fail link nic-sw", "lasted_ns"}), 49'900.0);
}

TEST_P(IoEngineFailures, EndWithARunWhoseLinkIsNeverRepaired) {
  for (const char* traffic : {"dma-write", "dma-read", "config-read"}) {
    Value::Map params{{"traffic", traffic}};
    Running run(engine(std::move(params), 20).event(fail_link("4500ns", "nic", "sw", "2us")));
    run.to_end();  // throws if a packet is under way for ever
    EXPECT_GT(of(run, "packets"), 0.0);
  }
}

TEST_P(IoEngineFailures, LoseWhatComesToAFailedSwitch) {
  // The head of that made at 4 us is on the wire when the switch fails, or past the switch, on the next wire.
  for (const auto& [at, lost] : {std::pair("4049ns", 2.0), std::pair("4071ns", 1.0)}) {
    Running run(engine({{"size", "1000B"}, {"stop", "29.5us"}}, 100)
                    .event(fail_device(at, "sw", "2us"))
                    .event(repair_device("20us", "sw")));
    run.to_end();
    // And the next one, that waits for the switch.
    EXPECT_EQ(of(run, "lost"), lost);
    EXPECT_EQ(of(run, "packets"), 17.0 - lost);
    EXPECT_EQ(of(run, "sent"), 17.0);
  }
}

}  // namespace
}  // namespace cxloom
