#include "device/io/engine.hpp"
#include "component/io_roles.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "core/support/errors.hpp"
#include "core/support/link_bench.hpp"
#include "core/support/system.hpp"
#include "protocol/flit/format.hpp"
#include "protocol/flit/io_packer.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::Running;
using test::SpecBuilder;

// A host that reads its memory every 20 ns for 20 us, over a link of its own, and an engine linked to `at`.
SpecBuilder beside_a_host(Value::Map engine, const std::string& at = "host", Value::Map link = {}) {
  SpecBuilder system;
  system.device("host", "host").device("mem", "memory", {{"io_time", "80ns"}});
  system.device("acc", "accelerator", {{"io_time", "60ns"}}).device("nic", "io-engine", std::move(engine));
  system.device("sw", "switch", {{"port_delay", "0ns"}, {"switching_time", "5ns"}});
  link.emplace_back("delay", "10ns");
  system.link("host", "sw")
      .link("sw", "mem")
      .link("sw", "acc")
      .link("nic", at, std::move(link))
      .region({"mem"});
  return system.work("host",
                     {{"pattern", "random"}, {"requests", 1000}, {"rate", "50M/s"}, {"footprint", "1MiB"}});
}

double of(const Running& run, std::string_view measure) { return run.number({"per_io", "nic", measure}); }

TEST(IoEngine, WritesFillALinkOfTheirOwn) {
  Running run(beside_a_host({{"target", "host"}}, "host", {{"bandwidth", "100GB/s"}}));
  run.to_end();
  const double length = run.number({"simulated_time_ns"});
  // 256 + 16 B at 10 ps; the first is there after its bytes and the flight.
  EXPECT_NEAR(of(run, "packets"), (length - 12.72) / 2.72, 1.0);
  EXPECT_NEAR(of(run, "bandwidth_gb_per_s"), 256.0 / 2.72, 0.1);
  // One waits while the one before passes; then its own bytes, and the flight.
  EXPECT_NEAR(run.number({"per_io", "nic", "latency_ns", "max"}), 2.72 + 2.72 + 10.0, 1e-9);
  EXPECT_NEAR(run.number({"per_io", "nic", "breakdown_ns", "link_queue"}), 2.72, 1e-3);
  EXPECT_NEAR(run.number({"per_io", "nic", "breakdown_ns", "serialization"}), 2.72, 1e-9);
  EXPECT_NEAR(run.number({"per_io", "nic", "breakdown_ns", "propagation"}), 10.0, 1e-9);
}

TEST(IoEngine, PacedWritesKeepTheirRateAndMeetNobody) {
  Running run(beside_a_host({{"target", "host"}, {"rate", "10GB/s"}}, "host", {{"bandwidth", "100GB/s"}}));
  run.to_end();
  EXPECT_NEAR(of(run, "packets"), run.number({"simulated_time_ns"}) / 25.6, 1.0);
  EXPECT_EQ(run.number({"per_io", "nic", "latency_ns", "min"}), 12.72);
  EXPECT_EQ(run.number({"per_io", "nic", "latency_ns", "max"}), 12.72);
}

TEST(IoEngine, AReadTakesTheSumOfItsParts) {
  struct Case {
    const char* target;
    double io_time;
    double switching;  // there and back
  };
  for (const Case& each : {Case{"host", 100.0, 10.0}, Case{"mem", 80.0, 10.0}, Case{"acc", 60.0, 10.0}}) {
    Running run(beside_a_host({{"target", each.target}, {"traffic", "dma-read"}, {"outstanding", 1}}, "sw",
                              {{"bandwidth", "100GB/s"}}));
    run.to_end();
    // A request of 16 B, a completion of 272 B, at 10 ps; the link's flight twice.
    const double latency = 0.16 + 2.72 + 20.0 + each.switching + each.io_time;
    EXPECT_NEAR(run.number({"per_io", "nic", "latency_ns", "min"}), latency, 1e-9) << each.target;
    EXPECT_NEAR(run.number({"per_io", "nic", "latency_ns", "mean"}), latency, 0.5) << each.target;
    EXPECT_NEAR(run.number({"per_io", "nic", "breakdown_ns", "controller"}), each.io_time, 1e-9);
    EXPECT_NEAR(of(run, "bandwidth_gb_per_s"), 256.0 / latency, 0.05);
  }
}

TEST(IoEngine, TagsBoundReadsByLittlesLaw) {
  // 8 x 64 B every 0.16 + 0.8 + 20 + 100 ns: the wire has room for more.
  Running run(
      beside_a_host({{"target", "host"}, {"traffic", "dma-read"}, {"outstanding", 8}, {"size", "64B"}},
                    "host", {{"bandwidth", "100GB/s"}}));
  run.to_end();
  EXPECT_NEAR(of(run, "in_flight_mean"), 8.0, 1e-3);
  const double mean = run.number({"per_io", "nic", "latency_ns", "mean"});
  EXPECT_NEAR(of(run, "bandwidth_gb_per_s"), 8.0 * 64.0 / mean, 0.02);
  EXPECT_NEAR(mean, 120.96, 1.5);
}

TEST(IoEngine, ConfigurationReadsAreOfOneDoubleWordAndOneAtATime) {
  Running run(
      beside_a_host({{"target", "mem"}, {"traffic", "config-read"}}, "sw", {{"bandwidth", "100GB/s"}}));
  run.to_end();
  const double latency = 0.16 + 0.2 + 20.0 + 10.0 + 80.0;  // 16 B there, 4 + 16 B back
  EXPECT_NEAR(run.number({"per_io", "nic", "latency_ns", "min"}), latency, 1e-9);
  EXPECT_NEAR(of(run, "bandwidth_gb_per_s"), 4.0 / latency, 0.01);
}

// A host that writes to a memory as fast as it can, through a switch of 10 GB/s, and an engine that writes
// there too.
double host_bandwidth_beside(Value::Map engine, const char* queueing = "voq") {
  SpecBuilder system;
  system.device("host", "host", {{"queue", 256}})
      .device("mem", "memory")
      .device("nic", "io-engine", std::move(engine));
  system.device("sw", "switch", {{"queueing", queueing}, {"port_bandwidth", "10GB/s"}});
  system.link("host", "sw").link("sw", "mem").link("nic", "sw").region({"mem"});
  system.work("host", {{"pattern", "random"}, {"reads", 0.0}, {"requests", 20'000}, {"footprint", "1MiB"}});
  Running run(system.run_with({{"warmup", 1000}}));
  run.to_end();
  return run.number({"bandwidth_gb_per_s"});
}

TEST(IoEngine, CreditsBoundPostedWrites) {
  // n x 256 B every 2.72 + 10 ns, and 10 ns for the credit.
  for (const int n : {1, 2, 6}) {
    Running run(beside_a_host({{"target", "host"}, {"outstanding", n}}, "host", {{"bandwidth", "100GB/s"}}));
    run.to_end();
    EXPECT_NEAR(of(run, "bandwidth_gb_per_s"), n * 256.0 / 22.72, 0.1) << n;
  }
  Running run(beside_a_host({{"target", "host"}, {"outstanding", 9}}, "host", {{"bandwidth", "100GB/s"}}));
  run.to_end();
  EXPECT_NEAR(of(run, "bandwidth_gb_per_s"), 256.0 / 2.72, 0.1);
}

// Writes come to a switch ten times as fast as they leave it, in front of a port that takes first who came
// first.
TEST(IoEngine, NoQueueGrowsWithoutEndBehindAFasterInlet) {
  std::vector<double> shares;
  for (const char* outstanding : {"8", "", "1000"}) {
    Value::Map engine{{"target", "mem"}};
    if (*outstanding) engine.emplace_back("outstanding", std::stoi(outstanding));
    SpecBuilder system;
    system.device("host", "host", {{"queue", 64}}).device("mem", "memory").device("sw", "switch");
    system.device("nic", "io-engine", engine).region({"mem"});
    for (const char* from : {"host", "nic"}) system.link(from, "sw", {{"bandwidth", "100GB/s"}});
    system.link("sw", "mem", {{"bandwidth", "10GB/s"}});
    system.work("host", {{"pattern", "random"}, {"reads", 0.0}, {"requests", 5000}, {"footprint", "1MiB"}});
    Running run(system.run_with({{"warmup", 1000}}));
    run.to_end();
    const double host = run.number({"bandwidth_gb_per_s"});
    EXPECT_NEAR(host * 80.0 / 64.0 + of(run, "bandwidth_gb_per_s") * 272.0 / 256.0, 10.0, 0.1);
    const double most = *outstanding ? std::stod(outstanding) : 127.0;
    EXPECT_LE(of(run, "in_flight_mean"), most);
    EXPECT_GT(of(run, "in_flight_mean"), 0.8 * most);
    shares.push_back(host);
  }
  EXPECT_GT(shares[0], shares[1]);
  EXPECT_GT(shares[1], shares[2]);
}

TEST(IoEngine, TakesItsRateOfASharedWire) {
  // A line costs 80 B of the wire, a packet of 256 B 272 B.
  EXPECT_NEAR(host_bandwidth_beside({{"target", "mem"}, {"rate", "1GB/s"}}), (10.0 - 1.0625) * 0.8, 0.03);
  EXPECT_NEAR(host_bandwidth_beside({{"target", "mem"}, {"rate", "2GB/s"}}), (10.0 - 2.125) * 0.8, 0.03);
  // The host is elsewhere on the wire.
  EXPECT_NEAR(host_bandwidth_beside({{"target", "host"}, {"rate", "2GB/s"}}), 8.0, 0.03);
}

TEST(IoEngine, TakesFairTurnsOnASharedWire) {
  // In turns a line of 80 B and a packet of 272 B.
  EXPECT_NEAR(host_bandwidth_beside({{"target", "mem"}}), 10.0 * 64.0 / 352.0, 0.02);
  EXPECT_NEAR(host_bandwidth_beside({{"target", "mem"}, {"size", "4096B"}}), 10.0 * 64.0 / (80.0 + 4112.0),
              0.01);
}

TEST(IoEngine, GoesUpABusToAHostAndDownToAMemory) {
  const auto payload = [](Value::Map engine) {
    SpecBuilder system;
    system.device("host", "host").device("bus", "bus").device("mem", "memory");
    system.device("nic", "io-engine", std::move(engine));
    system.link("host", "bus").link("bus", "mem").link("bus", "nic").region({"mem"});
    system.work("host", {{"pattern", "random"}, {"requests", 100}, {"footprint", "4KiB"}});
    Running run(system);
    run.to_end();
    const double down = run.number({"per_switch", "bus", "downstream_payload_gb_per_s"});
    const double lines = 6400.0 / run.number({"simulated_time_ns"});  // what the host reads goes up
    return std::pair(down, run.number({"per_switch", "bus", "upstream_payload_gb_per_s"}) - lines);
  };
  const auto [down, up] = payload({{"target", "host"}, {"rate", "10GB/s"}});
  EXPECT_EQ(down, 0.0);
  EXPECT_GT(up, 5.0);
  const auto [down_to_memory, up_from_memory] = payload({{"target", "mem"}, {"rate", "10GB/s"}});
  EXPECT_GT(down_to_memory, 5.0);
  EXPECT_NEAR(up_from_memory, 0.0, 1e-3);
  const auto [down_to_engine, up_from_host] = payload({{"target", "host"}, {"traffic", "dma-read"}});
  EXPECT_GT(down_to_engine, 5.0);
  EXPECT_NEAR(up_from_host, 0.0, 1e-3);
  const auto [down_to_register, up_to_root] = payload({{"target", "mem"}, {"traffic", "config-read"}});
  EXPECT_EQ(down_to_register, 0.0);
  EXPECT_GT(up_to_root, 0.01);
}

TEST(IoEngine, StartsAndStopsWhenTold) {
  Running run(beside_a_host({{"target", "host"}, {"rate", "10GB/s"}, {"start", "1us"}, {"stop", "2us"}}));
  run.to_end();
  EXPECT_EQ(of(run, "packets"), 40.0);  // at 1 us + n x 25.6 ns, the last at 1998.4 ns
}

TEST(IoEngine, TheRunEndsWithTheWorkAndNothingIsLost) {
  for (const char* traffic : {"dma-write", "dma-read"}) {
    const Value::Map engine{{"target", "mem"}, {"traffic", traffic}, {"size", "4096B"}};
    Running run(beside_a_host(engine, "sw", {{"bandwidth", "10GB/s"}}));
    run.to_end();
    EXPECT_EQ(run.simulation().state(), Simulation::State::kFinished);
    for (const auto& each : run.simulation().system().roles().all<IoInitiator>())
      EXPECT_EQ(each.role->outstanding(), 0U);
    EXPECT_EQ(run.number({"requests"}), 1000.0);
    // What was under way is let through: at most all tags of it, 0.41 us each.
    EXPECT_LT((run.simulation().now() - run.simulation().window_end()).ns(), 32.0 * 420.0 + 200.0);
  }
}

TEST(IoEngine, SlicesOfTheRunChangeNothing) {
  const SpecBuilder system =
      beside_a_host({{"target", "mem"}, {"traffic", "dma-read"}}, "sw", {{"bandwidth", "20GB/s"}});
  Running whole(system);
  whole.to_end();
  Running sliced(system);
  while (!sliced.simulation().advance(Time::max(), 7)) {
  }
  EXPECT_EQ(sliced.simulation().progress().events, whole.simulation().progress().events);
  EXPECT_EQ(of(sliced, "packets"), of(whole, "packets"));
  EXPECT_EQ(sliced.number({"latency_ns", "mean"}), whole.number({"latency_ns", "mean"}));
}

TEST(IoEngine, ADrivenSimulationEndsWhenItsFeedsClose) {
  SpecBuilder system;
  system.device("host", "host")
      .device("mem", "memory")
      .device("nic", "io-engine", {{"target", "host"}, {"rate", "1GB/s"}});
  system.link("host", "mem").link("host", "nic").region({"mem"});
  Running run(system);
  Simulation& simulation = run.simulation();
  simulation.drive("host");
  for (int i = 0; i < 10; ++i) {
    int answers = 0;
    simulation.inject("host", test::access_to(0), [&](const Request&, Time) { ++answers; });
    EXPECT_FALSE(simulation.run_until(simulation.now() + 1_us));
    EXPECT_EQ(answers, 1);
  }
  simulation.close_feeds();
  EXPECT_TRUE(simulation.run_until(Time::max()));
  EXPECT_GT(of(run, "packets"), 0.0);
}

TEST(IoEngine, CreditsHoldItBack) {
  // One packet's buffer at the host, 2 x 100 ns away: a packet each round trip.
  Running run(beside_a_host({{"target", "host"}}, "host",
                            {{"bandwidth", "100GB/s"}, {"credits", 1}, {"port_delay", "45ns"}}));
  run.to_end();
  EXPECT_NEAR(of(run, "bandwidth_gb_per_s"), 256.0 / 202.72, 0.02);
  EXPECT_NEAR(run.number({"per_io", "nic", "breakdown_ns", "credit"}), 200.0, 3.0);
}

TEST(IoEngine, FillsFlitsOfItsOwn) {
  for (const auto& [name, mode] : {std::pair("68B", FlitMode::k68B), std::pair("256B", FlitMode::k256B)}) {
    for (const auto& [traffic, packet] :
         {std::pair("dma-write", Opcode::kMWr), std::pair("dma-read", Opcode::kCplD)}) {
      const Value::Map engine{{"target", "host"}, {"traffic", traffic}, {"size", "1024B"}};
      Running run(beside_a_host(engine, "host", {{"phy", "pcie5-x4"}, {"flit", name}}));
      run.to_end();
      const double wire = run.simulation().system().links().back().forward->rate().per_second() / 1e9;
      const FlitGeometry& flit = geometry(mode);
      const double share = static_cast<double>(flit.io_bytes) / static_cast<double>(flit.bytes);
      EXPECT_NEAR(of(run, "bandwidth_gb_per_s"), wire * share * 1024.0 / io_packet_bytes(mode, packet, 1024),
                  0.15)
          << name << " " << traffic;
    }
  }
}

TEST(IoEngine, KeepsItsAccountWhereFlitsAreSentAgain) {
  const Value::Map engine{{"target", "mem"}, {"traffic", "dma-read"}, {"size", "1024B"}};
  const Value::Map errors{{"every", 7}};
  Running run(beside_a_host(engine, "sw", {{"phy", "pcie5-x4"}, {"flit", "68B"}, {"errors", errors}}));
  run.to_end();  // throws if a packet's segments do not sum to its latency, or one is lost
  EXPECT_GT(of(run, "packets"), 10.0);
}

TEST(IoEngine, BadInputIsRefused) {
  const auto refused = [](Value::Map engine, const std::string& at = "host") {
    return test::input_error([&] { Running{beside_a_host(std::move(engine), at)}; });
  };
  EXPECT_EQ(refused({{"target", "hots"}, {"rate", "1GB/s"}}).path(), "devices.nic.target");
  EXPECT_EQ(refused({{"target", "hots"}, {"rate", "1GB/s"}}).detail().suggestion, "host");
  EXPECT_EQ(refused({{"target", "nic"}}).detail().problem, "an I/O engine that sends to itself");
  EXPECT_EQ(refused({{"target", "sw"}}).detail().problem, "a device that answers no CXL.io");
  EXPECT_EQ(refused({}).detail().problem, "'target' is missing");
  EXPECT_EQ(refused({{"target", "host"}, {"size", "0B"}}).path(), "devices.nic.size");
  EXPECT_EQ(refused({{"target", "host"}, {"size", "4097B"}}).path(), "devices.nic.size");
  EXPECT_EQ(refused({{"target", "host"}}).path(), "devices.nic.rate");  // a link without limit
  EXPECT_EQ(refused({{"target", "host"}, {"outstanding", 0}}).path(), "devices.nic.outstanding");
  EXPECT_EQ(refused({{"target", "host"}, {"traffic", "config-read"}, {"size", "4B"}}).path(),
            "devices.nic.size");
  EXPECT_EQ(refused({{"target", "host"}, {"start", "2us"}, {"stop", "2us"}}).path(), "devices.nic.stop");
  EXPECT_EQ(refused({{"target", "mem"}, {"rate", "1GB/s"}}).path(), "links");  // behind a host
}

/// A device that answers CXL.io, and nothing else.
class Target final : public Endpoint {
 public:
  Target(Kernel& kernel, SystemContext& system_context)
      : Endpoint(ComponentContext{kernel, "target", NodeId{0}, 1}, system_context), io(Time{}, *this) {}
  IoCompleter io;
};

Message& posted(const Kernel& kernel, SystemContext& system_context, std::uint32_t from) {
  Request& packet = system_context.posted.take(kernel);
  Message& message = packet.message;
  message.opcode = Opcode::kMWr;
  message.channel = channel_of(Opcode::kMWr);
  message.account = &packet.account;
  message.source = NodeId{from};
  message.destination = NodeId{0};
  return message;
}

TEST(IoCompleter, APostedWriteEndsWhereItArrives) {
  Kernel kernel;
  SystemContext system_context;
  Target target(kernel, system_context);
  test::Probe engine(kernel, "engine", 1);
  test::FifoLink link(kernel, target, engine, {});
  const IoRecord& record = target.io.expect_io(NodeId{1});
  kernel.open_window(Time{});
  target.receive(posted(kernel, system_context, 1));
  target.receive(
      posted(kernel, system_context, 7));  // of a device that is no initiator as far as anybody knows
  EXPECT_EQ(record.ended().level(), 1U);
  EXPECT_EQ(record.latency().count(), 1U);
  EXPECT_EQ(system_context.posted.live(), 0U);
}

TEST(IoCompleter, AnyOtherPostedWriteIsAnError) {
  Kernel kernel;
  SystemContext system_context;
  Target target(kernel, system_context);
  test::Probe engine(kernel, "engine", 1);
  test::FifoLink link(kernel, target, engine, {});
  target.io.expect_io(NodeId{1});
  test::Messages messages;
  Message& message = messages.make(Opcode::kMWr);
  message.destination = NodeId{0};
  EXPECT_THROW(target.receive(message), InternalError);
  posted(kernel, system_context, 1);
  EXPECT_THROW(target.receive(message), InternalError);
}

}  // namespace
}  // namespace cxloom
