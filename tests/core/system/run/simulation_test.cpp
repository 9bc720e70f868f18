#include "system/run/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "core/support/errors.hpp"
#include "core/support/system.hpp"
#include "system/record/sampler.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

/// Five switches in a ring, each with an accelerator that writes to the memory two switches on: all go the
/// same way round, two links far, so with one buffer a link each can hold what another waits for.
SpecBuilder ring_of_five(const char* queueing, std::int64_t credits) {
  SpecBuilder system;
  std::vector<std::string> names;
  for (int i = 0; i < 5; ++i)
    system.device("sw" + std::to_string(i), "switch", {{"queueing", queueing}, {"port_delay", "25ns"}});
  for (int i = 0; i < 5; ++i) {
    const std::string own = std::to_string(i);
    names.push_back("acc" + own);
    system.device(names.back(), "accelerator", {{"memory", Value::Map{{"capacity", "1MiB"}}}});
    system.link("acc" + own, "sw" + own, {{"bandwidth", "32GB/s"}, {"credits", credits}});
  }
  for (int i = 0; i < 5; ++i) {
    system.link("sw" + std::to_string(i), "sw" + std::to_string((i + 1) % 5),
                {{"bandwidth", "32GB/s"}, {"credits", credits}});
  }
  for (int i = 0; i < 5; ++i) {
    system.region({"acc" + std::to_string(i)});
    std::vector<Access> accesses(
        400, access_to(static_cast<std::uint64_t>((i + 2) % 5) << 20U, AccessKind::kWrite));
    system.replay("acc" + std::to_string(i), std::move(accesses));
  }
  return system;
}

std::string error_of(Running& run) {
  try {
    run.to_end();
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "";
}

TEST(Simulation, ADeadlockIsToldWithItsCircle) {
  Running run(ring_of_five("voq", 1));
  const std::string why = error_of(run);
  ASSERT_TRUE(contains(why, "deadlock")) << why;
  EXPECT_TRUE(contains(why, "circle: ")) << why;
  // All five switches are in the circle.
  const std::string circle = why.substr(why.find("circle: "));
  for (const char* name : {"sw0", "sw1", "sw2", "sw3", "sw4"}) EXPECT_TRUE(contains(circle, name)) << circle;
  EXPECT_TRUE(contains(why, "buffer credits"));
  EXPECT_TRUE(contains(why, "without an answer"));
}

TEST(Simulation, TheSameRingWithoutLimitsFinishes) {
  Running ideal(ring_of_five("output", 1));
  EXPECT_EQ(error_of(ideal), "");
  Running roomy(ring_of_five("voq", 1000));
  EXPECT_EQ(error_of(roomy), "");
}

SpecBuilder plain() {
  SpecBuilder system;
  system.device("host", "host")
      .device("sw", "switch", {{"queueing", "voq"}})
      .device("mem0", "memory")
      .device("mem1", "memory");
  const Value::Map link{{"bandwidth", "32GB/s"}, {"credits", 8}};
  system.link("host", "sw", link).link("sw", "mem0", link).link("sw", "mem1", link).region({"mem0", "mem1"});
  system.work("host", {{"pattern", "random"}, {"reads", "60%"}, {"requests", 2000}, {"footprint", "1MiB"}});
  return system.run_with({{"warmup", 200}});
}

TEST(Simulation, ARunStoppedInItsWarmUpHasNoLevels) {
  SpecBuilder system = plain();
  Running run(system.run_with({{"warmup", 100}}));
  EXPECT_FALSE(run.simulation().run_until(50_ns));
  run.simulation().stop("too early");
  EXPECT_EQ(run.number({"simulated_time_ns"}), 0.0);
  for (const char* measure : {"requests", "in_flight_mean"}) {
    EXPECT_EQ(run.number({"per_requester", "host", measure}), 0.0) << measure;
  }
  EXPECT_EQ(run.number({"per_memory", "mem0", "queue_max"}), 0.0);
  EXPECT_EQ(run.number({"per_link", "host-sw", "host->sw", "queue_mean"}), 0.0);
}

TEST(Simulation, StopClosesTheWindowWithWhatThereIs) {
  Running run(plain());
  EXPECT_FALSE(run.simulation().run_until(5_us));
  run.simulation().stop("enough");
  EXPECT_EQ(run.simulation().state(), Simulation::State::kStopped);
  const Value summary = run.summary();
  EXPECT_TRUE(*summary.find("truncated")->as_bool());
  EXPECT_FALSE(*summary.find("completed")->as_bool());
  EXPECT_EQ(*summary.find("stop_reason")->as_text(), "stopped: enough");
  EXPECT_GT(run.number({"requests"}), 0.0);
  EXPECT_LT(run.number({"requests"}), 2000.0);
  EXPECT_EQ(run.simulation().window_end(), 5_us);
  EXPECT_TRUE(run.simulation().run_until(Time::max()));  // over is over
  EXPECT_EQ(run.simulation().window_end(), 5_us);
}

/// A summary as text, every digit of it.
void write(const Value& value, std::string& text) {
  if (const Value::Map* map = value.as_map()) {
    for (const auto& [key, item] : *map) text += key + "{", write(item, text), text += "}";
  } else if (const Value::List* list = value.as_list()) {
    for (const Value& item : *list) text += "[", write(item, text), text += "]";
  } else {
    text += value.described();
  }
}
std::string bytes_of(Running& run) {
  std::string text;
  write(run.summary(), text);
  return text;
}
std::string result_of(const SpecBuilder& system) {
  Running run(system);
  run.to_end();
  return bytes_of(run);
}

TEST(Simulation, SlicesGiveTheSameBytesAsOneRun) {
  const std::string whole = result_of(plain());
  Running by_time(plain());
  for (Time limit = 777_ns; !by_time.simulation().run_until(limit);) limit += 777_ns;
  EXPECT_EQ(bytes_of(by_time), whole);
  Running by_events(plain());
  while (!by_events.simulation().advance(Time::max(), 13)) {
  }
  EXPECT_EQ(bytes_of(by_events), whole);
}

TEST(Simulation, TwoInOneProcessGiveTheSameBytesAsEachAlone) {
  const SpecBuilder other = ring_of_five("output", 4);
  const std::string first_alone = result_of(plain());
  const std::string second_alone = result_of(other);
  Running first(plain());
  Running second(other);
  bool done = false;
  while (!done) {  // in turns
    const bool one = first.simulation().advance(Time::max(), 50);
    const bool two = second.simulation().advance(Time::max(), 70);
    done = one && two;
  }
  EXPECT_EQ(bytes_of(first), first_alone);
  EXPECT_EQ(bytes_of(second), second_alone);
}

TEST(Simulation, ThreadsGiveTheSameBytesAsOneAlone) {
  const std::string first_alone = result_of(plain());
  const std::string second_alone = result_of(ring_of_five("output", 4));
  std::vector<std::string> results(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 4; ++i) {
      threads.emplace_back(
          [&results, i] { results[i] = result_of(i % 2 == 0 ? plain() : ring_of_five("output", 4)); });
    }
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(results[i], i % 2 == 0 ? first_alone : second_alone);
}

TEST(Simulation, ADeviceMoreDoesNotReshuffleTheOthers) {
  // A second host that does nothing, and then one that works on a memory of its own: the first host's
  // accesses stay.
  const auto accesses = [](SpecBuilder system) {
    Running run(system);
    run.to_end();
    std::vector<std::uint64_t> own;
    for (std::size_t i = 0; i < run.table().rows(); ++i) {
      if (run.table().requester[i] == 0) own.push_back(run.table().id[i] << 40U | run.table().address[i]);
    }
    std::sort(own.begin(), own.end());
    return own;
  };
  const auto alone = accesses(plain().run_with({}));
  EXPECT_EQ(accesses(plain().run_with({}).device("more", "host").link("more", "sw")), alone);
}

TEST(Simulation, ConservesMessagesAndClosesItsBooks) {
  // Over all measures of one run: requests = reads + writes, per memory and per link they add up, segments
  // sum to means.
  Running run(plain());
  run.to_end();
  EXPECT_EQ(run.number({"requests"}), run.number({"reads"}) + run.number({"writes"}));
  EXPECT_EQ(run.number({"requests"}),
            run.number({"per_memory", "mem0", "requests"}) + run.number({"per_memory", "mem1", "requests"}));
  double sum = 0.0;
  for (std::size_t i = 0; i < kSegmentCount - kPersistSegments; ++i)  // it has no persist buffers
    sum += run.number({"breakdown_ns", kSegments[i].name});
  EXPECT_NEAR(sum, run.number({"latency_ns", "mean"}), 1e-9);
  EXPECT_EQ(run.simulation().progress().completed, 2200U);
  EXPECT_EQ(run.simulation().progress().expected, 2200U);
}

TEST(Simulation, TheSamplerSeesTheWholeWindowAndChangesNothing) {
  Running bare(plain());
  bare.to_end();
  Running sampled(plain().outputs({{"series", "100ns"}}));
  sampled.to_end();
  EXPECT_EQ(bare.number({"latency_ns", "mean"}), sampled.number({"latency_ns", "mean"}));
  EXPECT_EQ(bare.simulation().window_end(), sampled.simulation().window_end());
  const SeriesTable rows = sampled.simulation().recorders().sampler()->take();
  const auto length = sampled.simulation().window_end() - sampled.simulation().window_start();
  const auto samples = static_cast<std::size_t>(length.ps() / 100'000);
  ASSERT_EQ(rows.time_ps.size(), samples * 8);  // six directions of three links, and two memories
  double busy = 0.0;
  for (std::size_t i = 0; i < rows.probe.size(); ++i) {
    EXPECT_FALSE(rows.utilization[i] > 1.0F);  // of a memory it is not a number
    if (rows.probe[i] == 1) busy += rows.utilization[i] * 100.0;
  }
  // Link end 1 is sw->host: its samples add up to its utilisation but for the last, unfinished interval.
  const double whole = sampled.number({"per_link", "host-sw", "sw->host", "utilization"}) * length.ns();
  EXPECT_NEAR(busy, whole, 100.0);
}

}  // namespace
}  // namespace cxloom::test
