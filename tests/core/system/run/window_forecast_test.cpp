#include "system/run/window_forecast.hpp"

#include <gtest/gtest.h>

#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

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
    return WindowForecast(run.simulation().system(), window).most_answers();
  };
  // With those that were under way before: 4 + 4, 8 + 4 and 12 + 4.
  EXPECT_EQ(most(50_ns), 8U);
  EXPECT_EQ(most(50_ns + Time{1}), 12U);
  EXPECT_EQ(most(100_ns), 12U);
  EXPECT_EQ(most(100_ns + Time{1}), 16U);
}

}  // namespace
}  // namespace cxloom::test
