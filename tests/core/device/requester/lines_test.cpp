// Accesses of several lines: each line goes to the device that serves it, the last answer is what the access
// waited for.
#include <gtest/gtest.h>

#include <vector>

#include "core/support/system.hpp"
#include "device/requester/sequencer.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::Running;
using test::SpecBuilder;

Access access(std::uint64_t address, std::uint16_t size, AccessKind kind = AccessKind::kRead) {
  Access made;
  made.address = Address{address};
  made.size = size;
  made.kind = kind;
  return made;
}

/// A host before two memories of 100 and 300 ns, interleaved by 256 bytes.
SpecBuilder two_memories(Value::Map host = {}) {
  host.emplace_back("process_time", "0ns");
  const auto memory = [](const char* latency) {
    return Value::Map{{"controller_time", "0ns"},
                      {"capacity", "64MiB"},
                      {"media", Value::Map{{"kind", "fixed"}, {"latency", latency}}}};
  };
  return SpecBuilder()
      .device("host", "host", std::move(host))
      .device("near", "memory", memory("100ns"))
      .device("far", "memory", memory("300ns"))
      .link("host", "near")
      .link("host", "far")
      .region({"near", "far"}, {{"interleave", "256B"}});
}

TEST(Lines, EachGoesToItsOwnMemoryAndTheLastAnswerEndsTheAccess) {
  Running run(two_memories().replay("host", {access(192, 128)}));
  run.to_end();
  ASSERT_EQ(run.table().rows(), 1U);
  EXPECT_EQ(run.latency(0), 300_ns);
  EXPECT_EQ(run.number({"requests"}), 1.0);
  for (const char* memory : {"near", "far"}) {
    EXPECT_EQ(run.number({"per_memory", memory, "reads"}), 1.0) << memory;
    EXPECT_EQ(run.number({"per_memory", memory, "requests"}), 1.0) << memory;
  }
  EXPECT_EQ(run.number({"per_memory", "near", "latency_ns", "mean"}), 100.0);
  EXPECT_EQ(run.number({"per_memory", "far", "latency_ns", "mean"}), 300.0);
  EXPECT_EQ(run.number({"breakdown_ns", "media"}), 300.0);
}

TEST(Lines, AnAccessWithinOneMemoryTakesAsManyTurnsAsLines) {
  // The data path moves a line in 4 ns: the k-th of an access waits for k before it.
  for (const int lines : {1, 2, 3, 64}) {
    SpecBuilder system =
        SpecBuilder()
            .device("host", "host", {{"process_time", "0ns"}})
            .device("mem", "memory",
                    {{"controller_time", "0ns"},
                     {"media", Value::Map{{"kind", "fixed"}, {"latency", "100ns"}, {"bandwidth", "16GB/s"}}}})
            .link("host", "mem")
            .region({"mem"})
            .replay("host", {access(4096, static_cast<std::uint16_t>(lines * 64))});
    Running run(system);
    run.to_end();
    EXPECT_EQ(run.latency(0), 100_ns + 4_ns * (lines - 1)) << lines;
    EXPECT_EQ(run.number({"per_memory", "mem", "reads"}), static_cast<double>(lines));
  }
}

TEST(Lines, PartsOfLinesMoveTheirOwnBytes) {
  // 8 bytes over the border of two memories: 4 in each.
  for (const AccessKind kind : {AccessKind::kRead, AccessKind::kWrite}) {
    Running run(two_memories().replay("host", {access(252, 8, kind), access(0, 8, kind)}));
    run.to_end();
    const double window = run.number({"simulated_time_ns"});
    EXPECT_NEAR(run.number({"bandwidth_gb_per_s"}) * window, 16.0, 1e-9);
    EXPECT_NEAR(run.number({"per_memory", "far", "bandwidth_gb_per_s"}) * window, 4.0, 1e-9);
    EXPECT_NEAR(run.number({"per_memory", "near", "bandwidth_gb_per_s"}) * window, 12.0, 1e-9);
  }
}

TEST(Lines, AnAccessBeyondTheEndOfAllAddressesIsRefused) {
  for (const std::uint64_t address : {~std::uint64_t{0}, ~std::uint64_t{62}}) {
    Running run(two_memories().replay("host", {access(address, 64)}));
    EXPECT_THROW(run.to_end(), InputError) << address;
  }
}

TEST(Lines, OneSlotOfTheQueueHoldsThemAll) {
  Running run(two_memories({{"queue", 1}}).replay("host", {access(0, 64), access(192, 128), access(0, 64)}));
  run.to_end();
  EXPECT_EQ(run.created(0), Time{});
  EXPECT_EQ(run.created(1), 100_ns);
  EXPECT_EQ(run.created(2), 400_ns);
}

TEST(Lines, EachIsLookedUpInTheCache) {
  // The first access fetches line 0; the second hits it and misses line 1.
  SpecBuilder system =
      two_memories({{"queue", 1}, {"cache", Value::Map{{"size", "4KiB"}, {"access_time", "2ns"}}}});
  Running run(system.replay("host", {access(0, 64), access(0, 128), access(64, 64)}));
  run.to_end();
  EXPECT_EQ(run.latency(0), 102_ns);
  EXPECT_EQ(run.latency(1), 102_ns);
  EXPECT_EQ(run.latency(2), 2_ns);
  EXPECT_EQ(run.number({"per_requester", "host", "cache_hit_rate"}), 0.5);
  EXPECT_EQ(run.number({"per_memory", "near", "reads"}), 2.0);
}

TEST(Lines, SegmentsSumToTheLatencyOfTheAccess) {
  std::vector<Access> accesses;
  for (std::uint64_t i = 0; i < 200; ++i)
    accesses.push_back(access(i * 1000, static_cast<std::uint16_t>(1 + i * 37 % 900),
                              i % 3 == 0 ? AccessKind::kWrite : AccessKind::kRead));
  for (const bool cached : {false, true}) {
    Value::Map host{{"queue", 7}};
    if (cached) host.emplace_back("cache", Value::Map{{"size", "16KiB"}, {"access_time", "1ns"}});
    Running run(two_memories(std::move(host)).replay("host", accesses));
    run.to_end();
    ASSERT_EQ(run.table().rows(), accesses.size());
    for (std::size_t row = 0; row < accesses.size(); ++row) {
      std::int64_t sum = 0;
      for (const auto& segment : run.table().segments_ps) sum += segment[row];
      EXPECT_EQ(sum, run.latency(row).ps());
    }
  }
}

}  // namespace
}  // namespace cxloom
