// A line that is on its way back to memory, and is wanted again: what the cache sends for it waits until
// memory has it.
#include <gtest/gtest.h>

#include <string>

#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr Time kProcess = 10_ns;
constexpr Time kCache = 12_ns;
constexpr Time kOneWay = 25_ns;
constexpr Time kControllerTime = 40_ns;
constexpr Time kReadTime = 45_ns;
constexpr Time kWriteTime = 60_ns;

/// One line fits into the cache. x is made dirty by the first access, y takes its place, and then x is wanted
/// again, one after the other.
Running played(AccessKind first, AccessKind again, bool write_allocate, const std::string& persistence) {
  SpecBuilder system;
  system.device(
      "host", "host",
      {{"process_time", "10ns"},
       {"queue", 2},
       {"cache",
        Value::Map{
            {"size", "64B"}, {"ways", 1}, {"access_time", "12ns"}, {"write_allocate", write_allocate}}}});
  system.device("mem", "memory",
                {{"capacity", "1MiB"},
                 {"controller_time", "40ns"},
                 {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "60ns"}}}});
  system.link("host", "mem", {{"port_delay", "10ns"}, {"delay", "5ns"}});
  system.region({"mem"}, {{"persistence", persistence}});
  Access second = access_to(64);
  Access third = access_to(0, again);
  second.dependence = third.dependence = 1;
  system.replay("host", {access_to(0, first), second, third});
  Running run(system);
  run.to_end();
  return run;
}

// y's line comes in at t, and x's leaves p + c later, as the lookup of the next access ends. The write takes
// w + C + W + w. What is sent for x then takes w + C + R + w for its line, or as long as a write again where
// writes go past the cache.
constexpr Time kWriteWay = kOneWay * 2 + kControllerTime + kWriteTime;
constexpr Time kReadWay = kOneWay * 2 + kControllerTime + kReadTime;

TEST(WriteBackOrder, AnAccessToALineOnItsWayOutWaitsForMemoryToHaveIt) {
  for (const AccessKind again : {AccessKind::kRead, AccessKind::kWrite}) {
    for (const char* persistence : {"volatile", "media"}) {
      const Running run = played(AccessKind::kWrite, again, true, persistence);
      EXPECT_EQ(run.latency(1), kProcess + kCache + kReadWay);
      EXPECT_EQ(run.latency(2), kProcess + kCache + kWriteWay + kReadWay) << persistence;
      EXPECT_EQ(run.segment(2, Segment::kMshr), kWriteWay);
      EXPECT_EQ(run.number({"per_memory", "mem", "reads"}), 3.0);
    }
  }
}

TEST(WriteBackOrder, AWritePastTheCacheWaitsToo) {
  const Running run = played(AccessKind::kAtomic, AccessKind::kWrite, false, "volatile");
  EXPECT_EQ(run.latency(2), kProcess + kCache + kWriteWay + kWriteWay);
  EXPECT_EQ(run.segment(2, Segment::kMshr), kWriteWay);
}

}  // namespace
}  // namespace cxloom::test
