#include "device/switch/bus.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/support/link_bench.hpp"
#include "core/support/system.hpp"
#include "memory/media/registry.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::Running;
using test::SpecBuilder;

const Value::Map kMemoryOfNoTime{{"controller_time", "0ns"},
                                 {"media", Value::Map{{"kind", "fixed"}, {"latency", "0ns"}}}};

SpecBuilder one_bus(Value::Map bus) {
  bus.emplace_back("bandwidth", "100GB/s");  // 10 ps per byte: 16 B 160 ps, 80 B 800 ps
  SpecBuilder system;
  system.device("host", "host", {{"process_time", "0ns"}}).device("bus", "bus", std::move(bus));
  system.device("mem", "memory", kMemoryOfNoTime).link("host", "bus").link("bus", "mem").region({"mem"});
  return system;
}

TEST(Bus, IdleLatency) {
  // Down 16 B and 1 ns, up 80 B and 1 ns.
  Running run(one_bus({}).replay("host", {access_to(0)}));
  run.to_end();
  EXPECT_EQ(run.latency(0), 160_ps + 1_ns + 800_ps + 1_ns);
  EXPECT_EQ(run.segment(0, Segment::kBus), 2_ns);
  EXPECT_EQ(run.segment(0, Segment::kSerialization), 960_ps);
}

TEST(Bus, TheTwoDirectionsOfAFullDuplexBusAreIndependent) {
  // A stream of reads: answers of 800 ps back to back, the requests beside them cost nothing.
  std::vector<Access> reads(100, access_to(0));
  Running run(one_bus({}).replay("host", reads));
  run.to_end();
  EXPECT_EQ(run.completed(99), 160_ps + 1_ns + 800_ps * 100 + 1_ns);
}

TEST(Bus, AHalfDuplexBusSharesAndTurns) {
  // Two reads at once. 160 down, 160 down; the first answer is ready at 160 + 1000 (crossing; its tail comes
  // with it): turn 500, 800 up, 800 up.
  Running run(
      one_bus({{"duplex", "half"}, {"turnaround", "500ps"}}).replay("host", {access_to(0), access_to(0)}));
  run.to_end();
  EXPECT_EQ(run.completed(0), 160_ps + 1_ns + 800_ps + 1_ns);  // the bus has turned long since
  EXPECT_EQ(run.completed(1), 160_ps + 1_ns + 1600_ps + 1_ns);
}

/// Leads from the bus to its second port, and counts how often it is asked.
class CountedRoutes final : public Routes {
 public:
  std::uint16_t port(Message& /*message*/, NodeId /*node*/) override {
    ++asked;
    return 1;
  }
  std::vector<std::uint16_t> fixed_ports(NodeId /*node*/) override { return {fixed}; }

  std::uint16_t fixed = kVaries;

  int asked = 0;
};

/// How often a bus asks for the way of a message, where all go the same way or not.
int asked_for_a_way(std::uint16_t fixed) {
  Kernel kernel;
  SystemContext system_context;
  auto owned = std::make_unique<CountedRoutes>();
  owned->fixed = fixed;
  const CountedRoutes& routes = *owned;
  system_context.routes = std::move(owned);
  const MediaRegistry media("media");
  const VictimRegistry victims("victim policy");
  const PrefetcherRegistry prefetchers("prefetcher");
  Bus bus({}, DeviceContext{ComponentContext{kernel, "bus", NodeId{0}, 1}, system_context, media, victims,
                            prefetchers});
  test::Probe near(kernel, "near", 1);
  test::Probe far(kernel, "far", 2);
  test::FifoLink in(kernel, bus, near, {});
  test::FifoLink out(kernel, bus, far, {.bandwidth = Bandwidth{Rate::per_time(1, 10)}});
  bus.start();
  test::Messages messages;
  Message& message = messages.make(Opcode::kMemRd);
  message.destination = NodeId{0};
  bus.receive(message);
  kernel.run(Time::max(), test::kAllEvents);
  EXPECT_EQ(far.arrivals.size(), 1U);
  return routes.asked;
}

TEST(Bus, AsksForAWayOnce) {
  // A strategy that draws, or that looks at queues, may say something else the second time.
  EXPECT_EQ(asked_for_a_way(Routes::kVaries), 1);
  EXPECT_EQ(asked_for_a_way(1), 0);
}

TEST(Bus, SaturatedUtilityAndEfficiencyAreWhatTheBytesSay) {
  // Reads alone, saturated: upstream always busy, 64 of 80 bytes payload; downstream 16 B for each 80 B.
  SpecBuilder system = one_bus({});
  system.work("host", {{"pattern", "random"}, {"requests", 4000}, {"footprint", "1MiB"}})
      .run_with({{"warmup", 500}});
  Running run(system);
  run.to_end();
  EXPECT_NEAR(run.number({"bandwidth_gb_per_s"}), 80.0, 0.1);
  EXPECT_NEAR(run.number({"per_switch", "bus", "upstream_utilization"}), 1.0, 1e-3);
  EXPECT_NEAR(run.number({"per_switch", "bus", "downstream_utilization"}), 0.2, 1e-3);
  EXPECT_NEAR(run.number({"per_switch", "bus", "utilization"}), 0.6, 1e-3);
  EXPECT_NEAR(run.number({"per_switch", "bus", "efficiency"}), 64.0 / 96.0, 1e-3);
}

TEST(Bus, MixedTrafficUsesBothDirectionsOfAFullDuplexBus) {
  // Half reads, half writes: each pair moves 128 B of payload in 96 B a direction: 133.3 GB/s; half duplex:
  // in 192 B.
  for (const bool half : {false, true}) {
    SpecBuilder system = half ? one_bus({{"duplex", "half"}}) : one_bus({});
    system.work("host",
                {{"pattern", "random"}, {"reads", "50%"}, {"requests", 20000}, {"footprint", "1MiB"}});
    system.run_with({{"warmup", 500}});
    Running run(system);
    run.to_end();
    EXPECT_NEAR(run.number({"bandwidth_gb_per_s"}), half ? 66.7 : 133.3, half ? 0.7 : 3.0);
  }
}

}  // namespace
}  // namespace cxloom
