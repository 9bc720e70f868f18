#include "system/run/window_forecast.hpp"

#include <gtest/gtest.h>

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

// A message takes 25 ns over the link: a place in the queue is free again after 50 ns at the soonest.
TEST(WindowForecast, APlaceInTheQueueIsTakenOnceInAWindowThatEndsWhenItIsFree) {
  SpecBuilder system;
  system.device("host", "host", {{"queue", 4}})
      .device("mem", "memory", {{"capacity", "1GiB"}})
      .link("host", "mem", {{"delay", "25ns"}})
      .region({"mem"})
      .work("host", {{"pattern", "random"}, {"footprint", "1MiB"}, {"requests", 17}});
  Running run(system);
  const auto most = [&](Time window) {
    return WindowForecast(AnyRun(), run.simulation().system(), window).most_answers();
  };
  // With those that were under way before: 4 + 4, 8 + 4 and 12 + 4.
  EXPECT_EQ(most(50_ns), 8U);
  EXPECT_EQ(most(50_ns + Time{1}), 12U);
  EXPECT_EQ(most(100_ns), 12U);
  EXPECT_EQ(most(100_ns + Time{1}), 16U);
}

// In a window of 50 ns four requests are issued: the end of a task is as many windows away as it takes to
// come to its last access, and what has no task ends none.
TEST(WindowForecast, ATaskEndsWithItsLastAccess) {
  SpecBuilder system;
  system.device("host", "host", {{"queue", 4}})
      .device("mem", "memory", {{"capacity", "1GiB"}})
      .link("host", "mem", {{"delay", "25ns"}})
      .region({"mem"})
      .work("host", {{"pattern", "random"}, {"footprint", "1MiB"}, {"requests", 17}});
  Running run(system);
  AnyRun tasks;
  const auto windows = [&](std::uint64_t left) {
    tasks.left_of_task = left;
    WindowForecast forecast(tasks, run.simulation().system(), 50_ns);
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
