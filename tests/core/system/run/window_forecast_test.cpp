#include "system/run/window_forecast.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

struct AnyRun final : WholeRun {
  NextOfAll next() const override { return NextOfAll::kFirstOutOfWork; }
  std::uint64_t accesses_of_task(const Requester& /*requester*/) const override { return left_of_task; }
  std::uint64_t answers_until_look() const override { return kNoLook; }
  bool overlooked_warmth() override { return false; }
  bool unsettled() const override { return false; }
  void go_side_by_side(bool /*side_by_side*/) override {}
  void measured() override {}

  std::uint64_t left_of_task = 0;
};

/// A host with a queue of 4, 25 ns from its memory.
struct Pair {
  Value::Map host = {};
  Value::Map link = {};
  Value::Map region = {};
  Value::Map work = {};
};

SpecBuilder near_memory(Pair of) {
  of.host.emplace_back("queue", 4);
  of.link.emplace_back("delay", "25ns");
  const Value::Map random{{"pattern", "random"}, {"footprint", "1MiB"}, {"requests", 17}};
  of.work.insert(of.work.end(), random.begin(), random.end());
  SpecBuilder system;
  system.device("host", "host", std::move(of.host))
      .device("mem", "memory", {{"capacity", "1GiB"}})
      .link("host", "mem", std::move(of.link))
      .region({"mem"}, std::move(of.region))
      .work("host", std::move(of.work));
  return system;
}

std::optional<std::uint64_t> most_answers(const SpecBuilder& system, Time window) {
  Running run(system);
  const AnyRun whole;
  WindowForecast forecast(whole, run.simulation().system(), window);
  forecast.far(NextOfAll::kFirstOutOfWork);
  return forecast.most_answers();
}

// A request is processed for 10 ns and takes 25 ns over the link and back: a place in the queue is free again
// after 60 ns at the soonest.
TEST(WindowForecast, APlaceInTheQueueIsTakenOnceInAWindowThatEndsWhenItIsFree) {
  const SpecBuilder system = near_memory({});
  // With those that were under way before: 4 + 4, 8 + 4 and 12 + 4.
  EXPECT_EQ(most_answers(system, 60_ns), 8U);
  EXPECT_EQ(most_answers(system, 60_ns + Time{1}), 12U);
  EXPECT_EQ(most_answers(system, 120_ns), 12U);
  EXPECT_EQ(most_answers(system, 120_ns + Time{1}), 16U);
}

TEST(WindowForecast, APlaceIsFreeAfterTheShortestWayThatARequestMayTake) {
  const auto places = [](const Pair& pair) { return most_answers(near_memory(pair), 60_ns); };
  // A hit takes 10 ns and 5; an outage, a buffer that takes a store, memory of some types no more than
  // the 10.
  EXPECT_EQ(places({.host = {{"cache", Value::Map{{"size", "4KiB"}, {"access_time", "5ns"}}}}}), 4U * 4 + 4);
  const Value::Map outage{{"at", "1us"}, {"length", "1us"}, {"fail", true}};
  EXPECT_EQ(places({.link = {{"outage", outage}, {"phy", "pcie5-x16"}}}), 4U * 6 + 4);
  EXPECT_EQ(places({.region = {{"type", "wc"}}}), 4U * 6 + 4);
  EXPECT_EQ(places({.work = {{"reads", 0.0}, {"stores", "non-temporal"}}}), 4U * 6 + 4);
  EXPECT_EQ(places({.host = {{"process_time", "0ns"}}}), 4U * 2 + 4);
  EXPECT_EQ(places({.host = {{"process_time", "0ns"}}, .work = {{"reads", 0.0}, {"stores", "non-temporal"}}}),
            std::nullopt);
}

// Those at hand count: a batch without them is not answered sooner for what comes behind it.
TEST(WindowForecast, StoresOfATraceThatGoPastTheCachesBoundAWindow) {
  const auto places = [](bool past) {
    std::vector<Access> accesses(50, access_to(64, AccessKind::kWrite));
    accesses.back().past = past;
    SpecBuilder system;
    system.device("host", "host", {{"queue", 4}})
        .device("mem", "memory", {{"capacity", "1GiB"}})
        .link("host", "mem", {{"delay", "25ns"}})
        .region({"mem"})
        .replay("host", accesses);
    return most_answers(system, 60_ns);
  };
  EXPECT_EQ(places(false), 4U + 4);
  EXPECT_EQ(places(true), 4U * 6 + 4);
}

// In a window of 60 ns four requests are issued: the end of a task is as many windows away as it takes to
// come to its last access, and what has no task ends none.
TEST(WindowForecast, ATaskEndsWithItsLastAccess) {
  Running run(near_memory({}));
  AnyRun tasks;
  const auto windows = [&](std::uint64_t left) {
    tasks.left_of_task = left;
    WindowForecast forecast(tasks, run.simulation().system(), 60_ns);
    int granted = 0;
    for (; granted < 100 && forecast.far(NextOfAll::kTaskEnds); ++granted) {
      forecast.passed();
      tasks.left_of_task = 0;
    }
    return granted;
  };
  EXPECT_EQ(windows(0), 0);
  EXPECT_EQ(windows(4), 0);
  EXPECT_EQ(windows(5), 1);
  EXPECT_EQ(windows(17), 4);
  EXPECT_EQ(windows(WholeRun::kNoLook), 100);
}

}  // namespace
}  // namespace cxloom::test
