// When the measured window opens and closes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/support/errors.hpp"
#include "core/support/system.hpp"
#include "system/run/simulation.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

/// Hosts that make one request at a time, around a switch with one memory; a read takes 95 ns and the time
/// that its host works on it.
SpecBuilder hosts(const std::vector<std::pair<std::string, const char*>>& process_times) {
  SpecBuilder system;
  system.device("sw", "switch", {{"switching_time", "0ns"}, {"port_delay", "0ns"}})
      .device("mem", "memory",
              {{"controller_time", "0ns"},
               {"capacity", "64MiB"},
               {"media", Value::Map{{"kind", "fixed"}, {"latency", "95ns"}}}})
      .link("sw", "mem")
      .region({"mem"});
  for (const auto& [name, process_time] : process_times) {
    system.device(name, "host", {{"queue", 1}, {"process_time", process_time}}).link(name, "sw");
  }
  return system;
}

Value::Map patterned(std::int64_t requests) {
  return {{"pattern", "random"}, {"requests", requests}, {"footprint", "1MiB"}};
}

std::vector<Access> reads(std::size_t count) { return std::vector<Access>(count, access_to(0)); }

bool has_note(Running& run, const std::string& part) {
  for (const std::string& note : run.simulation().notes()) {
    if (contains(note, part)) return true;
  }
  return false;
}

TEST(Window, OpensWhenTheLastIsWarm) {
  // 100 ns and 1003 ns per request: the slow one is warm at 10.03 us, when the fast one has issued 101.
  // Twenty more of it are issued up to 12 us, and twenty are answered since then.
  SpecBuilder system = hosts({{"fast", "5ns"}, {"slow", "908ns"}});
  system.work("fast", patterned(20)).work("slow", patterned(20)).run_with({{"warmup", 10}});
  Running run(system);
  run.to_end();
  EXPECT_EQ(run.simulation().window_start(), 10_us + 30_ns);
  EXPECT_EQ(run.simulation().window_end(), 12_us);
  EXPECT_EQ(run.number({"per_requester", "fast", "requests"}), 20.0);
  EXPECT_EQ(run.number({"per_requester", "slow", "requests"}), 1.0);
  EXPECT_EQ(run.simulation().progress().completed, 121U + 30U);
  EXPECT_EQ(run.simulation().progress().expected, 121U + 30U);
  EXPECT_TRUE(run.simulation().notes().empty());
}

TEST(Window, OpensAtTheFirstRequestWithoutWarmUp) {
  SpecBuilder system = hosts({{"fast", "5ns"}, {"late", "5ns"}});
  Access first = access_to(0);
  first.timed = true;
  first.timestamp = 3_us;
  Access last = first;
  last.timestamp = 9_us;
  system.replay("late", {first, last}, {{"replay", "timestamps"}});
  system.work("fast", patterned(20));
  Running run(system);
  run.to_end();
  EXPECT_EQ(run.simulation().window_start(), Time{});
  EXPECT_EQ(run.simulation().window_end(), 2_us);

  Running alone(hosts({{"late", "5ns"}}).replay("late", {first, last}, {{"replay", "timestamps"}}));
  alone.to_end();
  EXPECT_EQ(alone.simulation().window_start(), 3_us);
}

TEST(Window, ExpectsMoreRequestsWhileSomebodyWaitsForIt) {
  SpecBuilder system = hosts({{"fast", "5ns"}, {"slow", "908ns"}});
  system.work("fast", patterned(20)).work("slow", patterned(20)).run_with({{"warmup", 10}});
  Running run(system);
  EXPECT_EQ(run.simulation().progress().expected, 60U);
  run.simulation().run_until(5_us);
  EXPECT_FALSE(run.simulation().window_opened());
  EXPECT_EQ(run.simulation().progress().expected, 51U + 20U + 30U);
}

TEST(Window, SaysWhatATraceSpentBeforeTheOthersWereWarm) {
  // The trace has 29 of its 130 accesses left when the other is warm.
  SpecBuilder system = hosts({{"fast", "5ns"}, {"slow", "908ns"}});
  system.replay("fast", reads(130)).work("slow", patterned(20)).run_with({{"warmup", 10}});
  Running run(system);
  run.to_end();
  EXPECT_EQ(run.simulation().window_start(), 10_us + 30_ns);
  EXPECT_EQ(run.simulation().window_end(), 13_us - 100_ns);
  EXPECT_TRUE(has_note(run, "workload.fast made 101 of the 130 requests of its trace before"));
  EXPECT_TRUE(has_note(run, "29 are left to be measured"));
}

TEST(Window, ATraceThatEndsBeforeTheOthersAreWarmLeavesThemTheWindow) {
  SpecBuilder system = hosts({{"fast", "5ns"}, {"slow", "908ns"}});
  system.replay("fast", reads(50)).work("slow", patterned(20)).run_with({{"warmup", 10}});
  Running run(system);
  run.to_end();
  EXPECT_EQ(run.simulation().window_start(), 10_us + 30_ns);
  EXPECT_EQ(run.simulation().window_end(), 30_us + 90_ns);
  EXPECT_EQ(run.number({"per_requester", "fast", "requests"}), 0.0);
  EXPECT_EQ(run.number({"per_requester", "slow", "requests"}), 20.0);
  EXPECT_TRUE(has_note(run, "workload.fast made 50 of the 50 requests of its trace before"));
}

TEST(Window, OfATraceWithEnoughLeftThereIsNothingToSay) {
  SpecBuilder system = hosts({{"fast", "5ns"}, {"slow", "908ns"}});
  system.replay("fast", reads(130), {{"requests", 20}})
      .work("slow", patterned(20))
      .run_with({{"warmup", 10}});
  Running run(system);
  run.to_end();
  EXPECT_EQ(run.simulation().window_end(), 12_us);
  EXPECT_TRUE(run.simulation().notes().empty());
}

TEST(Window, WhoIsDrivenFromOutsideIsWarm) {
  SpecBuilder system = hosts({{"driven", "5ns"}, {"slow", "908ns"}});
  system.work("slow", patterned(20)).run_with({{"warmup", 10}});
  Running run(system);
  run.simulation().drive("driven");
  int answers = 0;
  for (int i = 0; i < 5; ++i) {
    run.simulation().inject("driven", access_to(0), [&](const Request&, Time) { ++answers; });
  }
  run.simulation().close_feeds();
  run.to_end();
  EXPECT_EQ(answers, 5);
  EXPECT_EQ(run.simulation().window_start(), 10_us + 30_ns);
  EXPECT_EQ(run.simulation().window_end(), 30_us + 90_ns);
  EXPECT_TRUE(run.simulation().notes().empty());
}

TEST(Window, ARunStoppedBeforeItOpensMeasuresNothing) {
  SpecBuilder system = hosts({{"fast", "5ns"}, {"slow", "908ns"}});
  system.work("fast", patterned(20)).work("slow", patterned(20)).run_with({{"warmup", 10}});
  Running run(system);
  EXPECT_FALSE(run.simulation().run_until(9_us));
  run.simulation().stop("too early");
  EXPECT_EQ(run.number({"requests"}), 0.0);
  EXPECT_EQ(run.number({"simulated_time_ns"}), 0.0);
}

TEST(Window, OpensAtAGivenTime) {
  // 100 ns per request: #100 is issued at 10 us. The window opens 50 ns later, and twenty are measured.
  SpecBuilder system = hosts({{"fast", "5ns"}, {"slow", "908ns"}});
  system.work("fast", patterned(20)).work("slow", patterned(20)).run_with({{"warmup_time", "10050ns"}});
  Running run(system);
  run.to_end();
  EXPECT_EQ(run.simulation().window_start(), 10_us + 50_ns);
  EXPECT_EQ(run.simulation().window_end(), 12_us);
  EXPECT_EQ(run.number({"per_requester", "fast", "requests"}), 20.0);
  EXPECT_EQ(run.simulation().progress().completed, 121U + 31U);
  EXPECT_TRUE(run.simulation().notes().empty());
}

TEST(Window, WorkThatEndsBeforeTheGivenTimeIsRefused) {
  Running run(hosts({{"host", "5ns"}}).replay("host", reads(50)).run_with({{"warmup_time", "10us"}}));
  try {
    run.to_end();
    FAIL() << "it has ended";
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), "run.warmup_time");
    EXPECT_TRUE(contains(error.what(), "the work ends during the warm-up")) << error.what();
  }
  // The last answer is under way: what is left is the drain.
  Running draining(hosts({{"host", "5ns"}}).replay("host", reads(50)).run_with({{"warmup_time", "4950ns"}}));
  EXPECT_THROW(draining.to_end(), InputError);
  Running enough(hosts({{"host", "5ns"}}).replay("host", reads(50)).run_with({{"warmup_time", "4850ns"}}));
  enough.to_end();
  EXPECT_EQ(enough.number({"requests"}), 1.0);
}

TEST(Window, WorkFromOutsideThatEndsBeforeTheGivenTimeIsToldInANote) {
  Running run(hosts({{"driven", "5ns"}}).run_with({{"warmup_time", "10us"}}));
  run.simulation().drive("driven");
  run.simulation().inject("driven", access_to(0), [](const Request&, Time) {});
  run.simulation().close_feeds();
  run.to_end();
  EXPECT_EQ(run.simulation().state(), Simulation::State::kFinished);
  EXPECT_EQ(run.number({"requests"}), 0.0);
  EXPECT_TRUE(has_note(run, "nothing was measured"));
}

TEST(Window, OneWayToSayHowLongTheWarmUpIs) {
  SpecBuilder system = hosts({{"host", "5ns"}});
  system.work("host", patterned(20)).run_with({{"warmup", 10}, {"warmup_time", "1us"}});
  EXPECT_THROW(Running{system}, InputError);
}

// --- until the mean is known ---

/// One server of 1 us, asked at random times at 60 % of what it can do.
SpecBuilder queue(std::int64_t requests, const char* until, std::int64_t seed = 1) {
  SpecBuilder system;
  system.device("host", "host", {{"process_time", "0ns"}, {"queue", 4096}})
      .device("mem", "memory",
              {{"controller_time", "0ns"},
               {"media", Value::Map{{"kind", "fixed"}, {"latency", "1us"}, {"banks", 1}}}})
      .link("host", "mem")
      .region({"mem"});
  Value::Map work = patterned(requests);
  work.emplace_back("rate", "0.6M/s");
  work.emplace_back("arrivals", "poisson");
  return system.work("host", std::move(work))
      .run_with({{"warmup", 1000}, {"seed", seed}, {"until", Value::Map{{"ci", until}}}});
}

TEST(Window, ARunEndsWhenTheMeanIsKnown) {
  Running run(queue(1'000'000, "5%"));
  run.to_end();
  EXPECT_EQ(run.simulation().state(), Simulation::State::kFinished);
  EXPECT_EQ(run.simulation().stop_reason(), "finished: the mean latency is known to 5 %");
  EXPECT_TRUE(run.simulation().notes().empty());
  const double measured = run.number({"requests"});
  EXPECT_GE(measured, 4096.0);
  EXPECT_LT(measured, 200'000.0);
  EXPECT_LE(*run.collector().relative_error(), 0.05);
  const Simulation::Progress progress = run.simulation().progress();
  EXPECT_EQ(progress.completed, progress.expected);
  // Whatever the slices.
  Running sliced(queue(1'000'000, "5%"));
  while (!sliced.simulation().advance(Time::max(), 777)) {
  }
  EXPECT_EQ(sliced.simulation().window_end(), run.simulation().window_end());
  EXPECT_EQ(sliced.number({"latency_ns", "mean"}), run.number({"latency_ns", "mean"}));
}

TEST(Window, ABetterKnownMeanTakesMoreRequests) {
  double before = 0.0;
  for (const char* until : {"10%", "5%", "2.5%"}) {
    Running run(queue(1'000'000, until));
    run.to_end();
    EXPECT_GE(run.number({"requests"}), before) << until;
    before = run.number({"requests"});
  }
  EXPECT_GT(before, 10'000.0);
}

TEST(Window, WorkThatEndsBeforeTheMeanIsKnownSaysHowWellItIs) {
  Running few(queue(500, "5%"));
  few.to_end();
  EXPECT_EQ(few.simulation().stop_reason(), "finished: every request was answered");
  EXPECT_TRUE(has_note(few, "before the mean latency was known to 5 %: too little was measured"));
  Running more(queue(20'000, "0.1%"));
  more.to_end();
  EXPECT_TRUE(has_note(more, "before the mean latency was known to 0.1 %: it is known to "));
  EXPECT_EQ(more.number({"requests"}), 20'000.0);
}

TEST(Window, WhatNeverChangesIsKnownAtTheFirstLook) {
  SpecBuilder system = hosts({{"host", "5ns"}});
  system.work("host", patterned(100'000)).run_with({{"until", Value::Map{{"ci", "1%"}}}});
  Running run(system);
  run.to_end();
  EXPECT_EQ(run.number({"requests"}), 16384.0);
}

TEST(Window, ADeadlockInTheWarmUpIsFoundThoughOthersGoOn) {
  // Five switches in a ring, each with an accelerator that writes to the memory two on, with one buffer a
  // link: a deadlock. A host beside them has a memory of its own and would go on for ever.
  SpecBuilder system;
  const auto name = [](const char* kind, int i) { return kind + std::to_string(i % 5); };
  const Value::Map narrow{{"bandwidth", "32GB/s"}, {"credits", 1}};
  for (int i = 0; i < 5; ++i) {
    system.device(name("sw", i), "switch", {{"queueing", "voq"}, {"port_delay", "25ns"}});
    system.device(name("acc", i), "accelerator", {{"memory", Value::Map{{"capacity", "1MiB"}}}});
  }
  system.device("host", "host").device("hub", "switch").device("mem", "memory");
  for (int i = 0; i < 5; ++i) {
    system.link(name("acc", i), name("sw", i), narrow).link(name("sw", i), name("sw", i + 1), narrow);
    system.region({name("acc", i)});
  }
  system.link("host", "hub").link("hub", "mem").link("hub", "sw0", narrow).region({"mem"});
  for (int i = 0; i < 5; ++i) {
    const auto two_on = static_cast<std::uint64_t>((i + 2) % 5) << 20U;
    system.replay(name("acc", i), std::vector<Access>(400, access_to(two_on, AccessKind::kWrite)));
  }
  system.work("host",
              {{"pattern", "random"}, {"requests", 100}, {"footprint", "1MiB"}, {"base", "0x40000000"}});
  system.run_with({{"warmup", 300}, {"livelock_deliveries", 50'000}});
  Running run(system);
  try {
    run.to_end();
    FAIL() << "it has ended";
  } catch (const SimulationError& error) {
    EXPECT_TRUE(contains(error.what(), "no warm-up request has completed")) << error.what();
    EXPECT_TRUE(contains(error.what(), "circle: ")) << error.what();
  }
}

}  // namespace
}  // namespace cxloom::test
