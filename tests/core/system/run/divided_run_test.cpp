#include "system/run/divided_run.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/support/system.hpp"
#include "kernel/kernel.hpp"
#include "system/kinds/registry.hpp"
#include "system/run/run_kernels.hpp"
#include "system/tasks/task_player.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

struct AnyWatcher final : EventWatcher {
  void before(const Event& /*event*/) override {}
};

Value::Map ranges(const char* bytes) {
  return {{"reads", Value::List{map({{"object", "data"}, {"bytes", bytes}})}}};
}

// After 20 us of a processor a host reads a few lines, beside another one that goes on.
Value waiting_for_a_processor() {
  SpecBuilder system;
  for (const std::string side : {"0", "1"}) {
    system.device("s" + side, "switch")
        .device("h" + side, "host", {{"queue", 8}})
        .device("m" + side, "memory", {{"capacity", "1MiB"}})
        .link("h" + side, "s" + side, {{"delay", "100ns"}})
        .link("m" + side, "s" + side, {{"delay", "100ns"}})
        .region({"m" + side});
  }
  system.link("s0", "s1", {{"delay", "100ns"}})
      .work("h0", {{"pattern", "random"}, {"footprint", "64KiB"}, {"requests", 4000}});
  Value::Map read{{"name", "read"}, {"kind", "kernel"}, {"on", "h1"}, {"after", Value::List{"wait"}}};
  for (auto& each : ranges("4KiB")) read.push_back(each);
  Value::Map also{{"name", "also"}, {"kind", "compute"}, {"on", "cores"}, {"time", "10us"}};
  also.emplace_back("after", Value::List{"read"});
  const Value object = map({{"name", "data"},
                            {"size", "64KiB"},
                            {"addresses", map({{"kind", "bind"}, {"nodes", Value::List{"m1"}}})}});
  const Value wait = map({{"name", "wait"}, {"kind", "compute"}, {"on", "cores"}, {"time", "20us"}});
  Value::Map spec = *system.value().as_map();
  spec.emplace_back("tasks",
                    Value::Map{{"exact", true},
                               {"objects", Value::List{object}},
                               {"processors", Value::List{map({{"name", "cores"}, {"flops", 1e12}})}},
                               {"graph", Value::List{wait, std::move(read), std::move(also)}}});
  return spec;
}

// Up to the watcher nothing foresaw an end of a task: that must not be kept over the start of one.
TEST(DividedRun, AForecastIsOverWithAnEventOfTheControlAlsoWhileSomebodyWatches) {
  const Registry& registry = Running::registry();
  const Spec spec = Spec::read(waiting_for_a_processor(), registry);
  const auto ends = [&](const ThreadDivision& division, bool watched) {
    Collector collector(false);
    Simulation simulation(registry, spec, TraceOpener{}, collector, &division);
    AnyWatcher watcher;
    simulation.advance(19'500_ns, 1'000'000);
    if (watched) simulation.watch(&watcher);
    simulation.advance(20'050_ns, 1'000'000);
    simulation.watch(static_cast<EventWatcher*>(nullptr));
    while (!simulation.advance(Time::max(), 1'000'000)) {
    }
    std::vector<Time> times;
    for (const TaskPlayer::Record& record : simulation.tasks()->records()) times.push_back(record.end);
    const DividedRun* const divided = simulation.kernels().divided();
    EXPECT_TRUE(!divided || divided->cost().side_by_side > 50);
    return times;
  };
  const std::vector<Time> whole = ends(ThreadDivision{}, false);
  const ThreadDivision most = divide_most(registry, spec);
  ASSERT_GT(most.parts, 1U);
  EXPECT_EQ(ends(most, false), whole);
  EXPECT_EQ(ends(most, true), whole);
}

}  // namespace
}  // namespace cxloom::test
