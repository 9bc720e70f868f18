// Accesses of patterns above 4 KiB: made as their lines, each with a place in the queue, and counted whole.
#include "device/requester/large_accesses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::refusal_of;
using test::Running;
using test::SpecBuilder;

Value::Map memory(const char* latency) {
  return {{"controller_time", "0ns"},
          {"capacity", "64MiB"},
          {"media", Value::Map{{"kind", "fixed"}, {"latency", latency}}}};
}

/// A host before a memory that answers anything in 100 ns.
SpecBuilder host_that_works(Value::Map work, Value::Map host = {}) {
  host.emplace_back("process_time", "0ns");
  return SpecBuilder()
      .device("host", "host", std::move(host))
      .device("mem", "memory", memory("100ns"))
      .link("host", "mem")
      .region({"mem"})
      .work("host", std::move(work));
}

double large(const Running& run, const char* measure) {
  return run.number({"per_requester", "host", measure});
}

// Lines take the places of the queue, so that an access of n lines takes ceil(n / queue) latencies.
TEST(LargeAccesses, TakeAPlaceInTheQueueForEachLine) {
  struct Case {
    const char* size;
    std::int64_t lines;
    std::int64_t queue;
  };
  for (const auto& [size, lines, queue] :
       {Case{"4160B", 65, 64}, Case{"8KiB", 128, 64}, Case{"8KiB", 128, 7}, Case{"8KiB", 128, 1},
        Case{"1MiB", 16384, 64}, Case{"1MiB", 16384, 20000}}) {
    Running run(
        host_that_works({{"pattern", "sequential"}, {"size", size}, {"requests", 2}, {"footprint", "4MiB"}},
                        {{"queue", queue}}));
    run.to_end();
    const std::string which = std::string(size) + " of " + std::to_string(queue);
    EXPECT_EQ(run.number({"requests"}), 2.0 * static_cast<double>(lines)) << which;
    EXPECT_EQ(large(run, "large_accesses"), 2.0) << which;
    // They follow each other without a gap: the second has places as soon as the first leaves some.
    const std::int64_t both = (2 * lines + queue - 1) / queue;
    EXPECT_EQ(run.number({"simulated_time_ns"}), 100.0 * static_cast<double>(both)) << which;
    const std::int64_t first = (lines + queue - 1) / queue;
    const std::int64_t second = both - lines / queue;
    EXPECT_EQ(large(run, "large_access_ns"), 50.0 * static_cast<double>(first + second)) << which;
    EXPECT_EQ(run.number({"latency_ns", "max"}), 100.0) << "of lines";
  }
}

// Up to 4 KiB an access has one place and its lines leave together: 64 lines take one latency of one place.
TEST(LargeAccesses, AreNoneUpToFourKiB) {
  Running run(host_that_works(
      {{"pattern", "sequential"}, {"footprint", "4MiB"}, {"size", "4KiB"}, {"requests", 3}}, {{"queue", 1}}));
  run.to_end();
  EXPECT_EQ(run.number({"requests"}), 3.0);
  EXPECT_EQ(run.number({"simulated_time_ns"}), 300.0);
  EXPECT_THROW(large(run, "large_accesses"), std::exception);
}

TEST(LargeAccesses, SpreadTheirLinesOverInterleavedMemories) {
  Running run(
      SpecBuilder()
          .device("host", "host", {{"process_time", "0ns"}, {"queue", 512}})
          .device("near", "memory", memory("100ns"))
          .device("far", "memory", memory("300ns"))
          .link("host", "near")
          .link("host", "far")
          .region({"near", "far"}, {{"interleave", "256B"}})
          .work("host",
                {{"pattern", "sequential"}, {"footprint", "4MiB"}, {"size", "8KiB"}, {"requests", 3}}));
  run.to_end();
  for (const char* each : {"near", "far"})
    EXPECT_EQ(run.number({"per_memory", each, "requests"}), 3.0 * 64) << each;
  EXPECT_EQ(large(run, "large_access_ns"), 300.0) << "to the answer of the slowest line";
}

// A rate is of whole accesses: all lines of one become ready with it.
TEST(LargeAccesses, BecomeReadyWholeAtARate) {
  Running run(host_that_works(
      {{"pattern", "sequential"}, {"footprint", "4MiB"}, {"size", "8KiB"}, {"requests", 5}, {"rate", "1M/s"}},
      {{"queue", 64}}));
  run.to_end();
  ASSERT_EQ(run.table().rows(), 5U * 128);
  for (std::size_t row = 0; row < run.table().rows(); ++row) {
    const std::uint64_t id = run.table().id[row];
    EXPECT_EQ(run.created(row), 1_us * static_cast<std::int64_t>(id / 128));
    EXPECT_EQ(run.segment(row, Segment::kRequesterQueue), id % 128 < 64 ? 0_ns : 100_ns);
  }
  EXPECT_EQ(large(run, "large_accesses"), 5.0);
  EXPECT_EQ(large(run, "large_access_ns"), 200.0);
}

// A warm-up counts requests, which are lines, and ends with a whole access.
TEST(LargeAccesses, BeginTheWindowWithAWholeAccess) {
  for (const std::int64_t warmup : {1, 128, 129}) {
    Running run(
        host_that_works({{"pattern", "sequential"}, {"footprint", "4MiB"}, {"size", "8KiB"}, {"requests", 2}},
                        {{"queue", 1}})
            .run_with({{"warmup", warmup}}));
    run.to_end();
    EXPECT_EQ(run.table().id[0], warmup <= 128 ? 128U : 256U);
    EXPECT_EQ(run.table().rows(), 2U * 128);
    EXPECT_EQ(large(run, "large_accesses"), 2.0);
  }
}

TEST(LargeAccesses, AreCountedApartFromThoseOfAnotherPhase) {
  const Value::List phases{
      Value::Map{{"pattern", "random"}, {"footprint", "4MiB"}, {"size", "8KiB"}, {"requests", 2}},
      Value::Map{{"pattern", "random"}, {"footprint", "4MiB"}, {"requests", 3}}};
  Running all(host_that_works({{"phases", phases}}));
  all.to_end();
  EXPECT_EQ(all.number({"requests"}), 2.0 * 128 + 3);
  EXPECT_EQ(large(all, "large_accesses"), 2.0);
  // Seven accesses: a round of five, and two of the next.
  Running seven(host_that_works({{"phases", phases}, {"requests", 7}}));
  seven.to_end();
  EXPECT_EQ(seven.number({"requests"}), 4.0 * 128 + 3);
  EXPECT_EQ(large(seven, "large_accesses"), 4.0);
}

// A load or store of a core has a line at most: each line is an instruction, and takes a miss register. So an
// access of n lines takes ceil(n / mshrs) latencies and the time of its instructions in the first of these.
TEST(LargeAccesses, OfCoresAreAnInstructionForEachLine) {
  for (const std::int64_t mshrs : {16, 128}) {
    const Value::Map core{
        {"mshrs", mshrs}, {"window", 512}, {"cycles_per_instruction", 1.0}, {"clock", "1G/s"}};
    Running run(
        host_that_works({{"pattern", "sequential"}, {"footprint", "4MiB"}, {"size", "8KiB"}, {"requests", 1}},
                        {{"queue", 128}, {"core", core}}));
    run.to_end();
    EXPECT_EQ(run.number({"requests"}), 128.0);
    EXPECT_THROW(large(run, "large_accesses"), std::exception);
    std::set<Time> issued;
    for (std::size_t row = 0; row < 128; ++row) issued.insert(run.created(row));
    EXPECT_EQ(issued.size(), 128U) << "a line a cycle";
    const double last = run.number({"simulated_time_ns"});
    EXPECT_GE(last, 100.0 * static_cast<double>(128 / mshrs));
    EXPECT_LE(last, 100.0 * static_cast<double>(128 / mshrs) + 129.0);
  }
}

// What needs the access before begins when all lines of that one are answered.
TEST(LargeAccesses, OfAChaseAreOneAtATime) {
  Running run(host_that_works(
      {{"pattern", "pointer-chase"}, {"footprint", "4MiB"}, {"size", "8KiB"}, {"requests", 4}},
      {{"queue", 1000}}));
  run.to_end();
  EXPECT_EQ(run.number({"simulated_time_ns"}), 400.0);
  EXPECT_EQ(large(run, "large_access_ns"), 100.0);
  EXPECT_EQ(large(run, "fences"), 3.0) << "each but the first waits for all lines before";
}

// Counts are of lines, and the sum of a round of all threads is counted as well.
TEST(LargeAccesses, RefuseMoreThanCanBeCounted) {
  const auto refusal = [](const char* size, std::int64_t requests, std::int64_t threads = 1,
                          std::int64_t phases = 1) {
    Value::List all;
    for (std::int64_t phase = 0; phase < phases; ++phase) {
      all.emplace_back(Value::Map{
          {"pattern", "sequential"}, {"size", size}, {"requests", requests}, {"footprint", "64MiB"}});
    }
    Value::Map work{{"phases", all}, {"threads", threads}, {"requests", 1}};
    return refusal_of(
        host_that_works(std::move(work), threads > 1 ? Value::Map{{"core", Value::Map{}}} : Value::Map{}));
  };
  const std::int64_t most = std::int64_t{1} << 62U;
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_EQ(refusal("1MiB", most / 16384), "");
  const std::string beyond = refusal("1MiB", most / 16384 + 1);
  EXPECT_TRUE(has(beyond, "phases[0].requests")) << beyond;
  EXPECT_TRUE(has(beyond, "at most 281474976710656")) << beyond;
  EXPECT_TRUE(has(refusal("1MiB", std::int64_t{1} << 50U), "phases[0].requests"));
  EXPECT_EQ(refusal("64B", most), "");
  EXPECT_TRUE(has(refusal("64B", most + 1), "phases[0].requests"));
  EXPECT_EQ(refusal("64B", most / 2, 1, 2), "");
  EXPECT_TRUE(has(refusal("64B", most / 2 + 1, 1, 2), "in a round of phases"));
  EXPECT_EQ(refusal("64B", most / 4, 4), "");
  EXPECT_TRUE(has(refusal("64B", most / 4 + 1, 4), "in a round of phases"));
}

TEST(LargeAccesses, RefuseWhatTheyCannotBe) {
  const auto refusal = [](Value::Map more) {
    Value::Map work{{"pattern", "random"}, {"requests", 1}, {"footprint", "4MiB"}};
    work.insert(work.end(), more.begin(), more.end());
    return refusal_of(host_that_works(std::move(work)));
  };
  EXPECT_EQ(refusal({{"size", "1MiB"}}), "");
  EXPECT_NE(refusal({{"size", "1048640B"}}), "");
  EXPECT_NE(refusal({{"size", "0B"}}), "");
  EXPECT_NE(refusal({{"size", "4100B"}}).find("a multiple of 64B above 4KiB"), std::string::npos);
  EXPECT_NE(refusal({{"size", "8KiB"}, {"atomics", 0.5}}).find("atomic"), std::string::npos);
  EXPECT_NE(refusal({{"size", "8KiB"}, {"persists", 0.5}}).find("persist"), std::string::npos);
  EXPECT_NE(refusal({{"size", "1MiB"}, {"footprint", "64KiB"}}).find("footprint"), std::string::npos);
  const Value::List objects{Value::Map{
      {"name", "a"}, {"size", "1MiB"}, {"pattern", Value::Map{{"kind", "random"}, {"size", "8KiB"}}}}};
  EXPECT_NE(refusal_of(host_that_works({{"pattern", "objects"}, {"requests", 1}, {"objects", objects}}))
                .find("128 lines"),
            std::string::npos);
}

}  // namespace
}  // namespace cxloom
