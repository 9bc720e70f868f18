#include "device/kinds/accelerator.hpp"

#include <gtest/gtest.h>

#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::Running;
using test::SpecBuilder;

const Value::Map kMemory{{"capacity", "1MiB"},
                         {"controller_time", "40ns"},
                         {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}};

TEST(Accelerator, ServesItselfWithoutALink) {
  // Alone in the system: process, controller, media; no hop.
  SpecBuilder system;
  system.device("acc", "accelerator", {{"process_time", "3ns"}, {"memory", kMemory}}).region({"acc"});
  Running run(system.replay("acc", {access_to(0), access_to(4096, AccessKind::kWrite)}));
  run.to_end();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(run.latency(i), 88_ns);
    EXPECT_EQ(run.table().hops[i], 0);
    EXPECT_EQ(run.table().target[i], 0U);
  }
  EXPECT_NEAR(run.number({"bandwidth_gb_per_s"}), 128.0 / 88.0, 1e-12);
}

TEST(Accelerator, ItsOwnMemoryCountsAlsoWhenItsControllerTakesNoTime) {
  Value::Map memory = kMemory;
  memory[1].second = "0ns";
  SpecBuilder system;
  system.device("acc", "accelerator", {{"process_time", "0ns"}, {"memory", memory}}).region({"acc"});
  Running run(system.replay("acc", {access_to(0)}));
  run.to_end();
  EXPECT_NEAR(run.number({"bandwidth_gb_per_s"}), 64.0 / 45.0, 1e-12);
}

TEST(Accelerator, ReachesItsPeersWithoutAHost) {
  // Two accelerators on one switch, each reads the other's memory: no host anywhere.
  for (const bool first : {true, false}) {
    SpecBuilder system;
    for (const char* name : {"a", "b"})
      system.device(name, "accelerator", {{"process_time", "3ns"}, {"memory", kMemory}});
    system.device("sw", "switch", {{"switching_time", "20ns"}, {"port_delay", "0ns"}});
    const Value::Map link{{"delay", "5ns"}, {"bandwidth", "100GB/s"}};
    system.link("a", "sw", link).link("b", "sw", link).region({"a"}).region({"b"});
    system.replay(first ? "a" : "b", {access_to(first ? 1U << 20U : 0)});
    Running run(system);
    run.to_end();
    // 4 links of 5 ns, 2 x 20 ns, 16 B there and 80 B back at 10 ps.
    EXPECT_EQ(run.latency(0), 3_ns + 20_ns + 40_ns + 85_ns + 960_ps);
    EXPECT_EQ(run.table().target[0], first ? 1U : 0U);
    EXPECT_EQ(run.table().hops[0], 4);
  }
}

TEST(Accelerator, OwnRequestsAndAnswersShareItsPortWithoutLoss) {
  // Everybody reads and writes everything, with credits: all requests are answered (the run would not end
  // otherwise).
  for (const char* queueing : {"output", "voq", "fifo"}) {
    SpecBuilder system;
    system.device("sw", "switch", {{"queueing", queueing}});
    std::vector<std::string> names;
    for (int i = 0; i < 4; ++i) {
      names.push_back("acc" + std::to_string(i));
      system.device(names.back(), "accelerator", {{"memory", kMemory}});
      system.link(names.back(), "sw", {{"bandwidth", "32GB/s"}, {"credits", 2}});
      system.work(names.back(),
                  {{"pattern", "random"}, {"reads", "50%"}, {"requests", 2000}, {"footprint", "1MiB"}});
    }
    system.region(names);
    Running run(system);
    run.to_end();
    EXPECT_EQ(run.simulation().progress().completed, 8000U);
    EXPECT_EQ(run.simulation().state(), Simulation::State::kFinished);
  }
}

}  // namespace
}  // namespace cxloom
