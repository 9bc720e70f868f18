// What a window measures that a program begins does not go by the windows before it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/support/persist_systems.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr Time kBegins = 40'000_ns;
constexpr Time kEnds = 60'000_ns;

/// The measures of the window from `kBegins` to `kEnds`, after others that begin at these times.
Value measured(const SpecBuilder& system, const std::vector<Time>& before) {
  Running run(system);
  Simulation& simulation = run.simulation();
  const auto begin = [&](Time at) {
    simulation.run_until(at);
    simulation.begin_window([&] { run.collector() = Collector{true}; });
  };
  for (const Time at : before) begin(at);
  begin(kBegins);
  simulation.run_until(kEnds);
  Value summary;
  simulation.begin_window([&] { summary = run.summary(); });
  return summary;
}

/// The work itself opens no window up to then.
void expect_same(SpecBuilder system) {
  system.run_with({{"warmup_time", "1ms"}});
  const Value alone = measured(system, {});
  const Value third = measured(system, {5'000_ns, 23'000_ns});
  ASSERT_GT(alone.as_map()->size(), 10U);
  ASSERT_EQ(alone.as_map()->size(), third.as_map()->size());
  for (const auto& [key, value] : *alone.as_map()) {
    if (key == "cost" || key == "notes") continue;
    const Value* const other = third.find(key);
    ASSERT_NE(other, nullptr) << key;
    EXPECT_EQ(value.described(), other->described()) << key;
    EXPECT_TRUE(value == *other) << key;
  }
}

Value::Map endless(double reads = 0.5) {
  return {{"pattern", "random"}, {"reads", reads}, {"footprint", "64KiB"}, {"requests", 1'000'000}};
}

TEST(LaterWindows, OfMediaPacketsAndExtentsAreAsTheFirst) {
  const Value::Map slow{{"reads", 1.0}, {"bandwidth", "1GB/s"}, {"latency", "80ns"}};
  const Value::Map fast{{"reads", 1.0}, {"bandwidth", "16GB/s"}, {"latency", "400ns"}};
  SpecBuilder system;
  system
      .device("host", "host", {{"queue", 8}, {"throttle", Value::Map{{"rate", "8GB/s"}, {"window", "1us"}}}})
      .device("nic", "io-engine", {{"target", "host"}, {"rate", "2GB/s"}})
      .device("sw", "switch")
      .device("mem", "memory",
              {{"capacity", "64KiB"},
               {"qos", Value::Map{{"optimal", 2}, {"moderate", 4}, {"severe", 6}}},
               {"media", Value::Map{{"kind", "curve"}, {"points", Value::List{slow, fast}}}},
               {"dynamic_capacity",
                Value::Map{{"extents",
                            Value::List{Value::Map{{"base", "0B"}, {"size", "64KiB"}, {"host", "host"}}}}}}});
  system.link("host", "sw", {{"phy", "pcie6-x8"}, {"flit", "256B"}, {"credits", 4}})
      .link("nic", "sw", {{"bandwidth", "8GB/s"}})
      .link("mem", "sw", {{"bandwidth", "16GB/s"}})
      .region({"mem"})
      .work("host", endless());
  expect_same(system);
}

TEST(LaterWindows, OfCachesAndTheirHomeAreAsTheFirst) {
  SpecBuilder system;
  const Value::Map host{{"cache", Value::Map{{"size", "4KiB"}, {"ways", 4}}}};
  system.device("a", "host", host)
      .device("b", "host", host)
      .device("sw", "switch")
      .device("mem", "memory",
              {{"capacity", "64KiB"},
               {"media", Value::Map{{"kind", "dram"}, {"preset", "DDR5-4800"}}},
               {"dcoh", Value::Map{{"filter", Value::Map{{"entries", 64}}}}}});
  for (const char* name : {"a", "b", "mem"}) system.link(name, "sw");
  system.region({"mem"}, {{"coherence", "hdm-db"}}).work("a", endless()).work("b", endless());
  expect_same(system);
}

TEST(LaterWindows, OfPersistBuffersAreAsTheFirst) {
  PersistChain chain;
  chain.buffers[1] = {{"entries", 8}};
  SpecBuilder system = chain.build();
  expect_same(system.work("host", endless(0.3)));
}

TEST(LaterWindows, OfCoresAndBusesAreAsTheFirst) {
  SpecBuilder system;
  system.device("host", "host", {{"core", Value::Map{{"window", 64}}}})
      .device("bus", "bus", {{"bandwidth", "4GB/s"}})
      .device("mem", "memory", {{"capacity", "64KiB"}})
      .link("host", "bus")
      .link("mem", "bus")
      .region({"mem"})
      .work("host", endless());
  expect_same(system);
}

}  // namespace
}  // namespace cxloom::test
