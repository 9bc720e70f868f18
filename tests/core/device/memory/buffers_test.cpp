// Read and write buffers of a memory, and writes that are answered from there.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "core/support/errors.hpp"
#include "core/support/system.hpp"
#include "device/context/buffered_writes.hpp"
#include "device/memory/controller.hpp"
#include "kernel/wait_list.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::Running;
using test::SpecBuilder;

/// A host and a memory at its side: 40 ns of controller, 45 ns of media for reads, 105 ns for writes.
SpecBuilder host_and(Value::Map memory, Value::Map media = {}, Value::Map link = {}) {
  Value::Map fixed{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "105ns"}};
  fixed.insert(fixed.end(), media.begin(), media.end());
  memory.emplace_back("media", fixed);
  SpecBuilder system;
  system.device("host", "host", {{"process_time", "0ns"}, {"queue", 64}}).device("mem", "memory", memory);
  system.link("host", "mem", std::move(link)).region({"mem"});
  return system;
}

Access at(Time when, std::uint64_t address, AccessKind kind = AccessKind::kRead, std::uint16_t size = 64) {
  Access access = access_to(address, kind);
  access.timestamp = when;
  access.timed = true;
  access.size = size;
  return access;
}
constexpr AccessKind kWrite = AccessKind::kWrite;

Running replayed(SpecBuilder system, const std::vector<Access>& accesses) {
  Running run(system.replay("host", accesses, {{"replay", "timestamps"}}));
  run.to_end();
  return run;
}

/// The row of the request that was created so early.
std::size_t row_at(const Running& run, Time created) {
  for (std::size_t row = 0; row < run.table().rows(); ++row) {
    if (run.created(row) == created) return row;
  }
  throw InternalError("no such request");
}

TEST(MemoryBuffers, AnIdleWriteTakesTheMediaOnlyIfItIsNotPosted) {
  const auto latency = [](bool posted) {
    const Running run =
        replayed(host_and({{"write_buffer", 8}, {"posted_writes", posted}}), {at(0_ns, 0, kWrite)});
    EXPECT_EQ(run.segment(0, Segment::kController), 40_ns);
    EXPECT_EQ(run.segment(0, Segment::kMedia), posted ? 0_ns : 105_ns);
    return run.latency(0);
  };
  EXPECT_EQ(latency(false), 145_ns);
  EXPECT_EQ(latency(true), 40_ns);
}

TEST(MemoryBuffers, PostedOrNotWritesSaturateAlike) {
  // Either the places limit them, each taken for 145 ns, or the data path does.
  const auto gb_per_s = [](std::int64_t places, const char* bandwidth, bool posted) {
    SpecBuilder system =
        host_and({{"write_buffer", places}, {"posted_writes", posted}}, {{"bandwidth", bandwidth}});
    system.work("host", {{"pattern", "random"}, {"reads", 0.0}, {"requests", 8000}, {"footprint", "1MiB"}})
        .run_with({{"warmup", 1000}});
    Running run(system);
    run.to_end();
    EXPECT_NEAR(run.number({"per_memory", "mem", "write_places_mean"}), static_cast<double>(places), 0.05);
    return run.number({"bandwidth_gb_per_s"});
  };
  for (const std::int64_t places : {1, 4, 16}) {
    const double form = static_cast<double>(places) * 64 / 145;
    EXPECT_NEAR(gb_per_s(places, "unlimited", false), form, 0.005 * form);
    EXPECT_NEAR(gb_per_s(places, "unlimited", true), form, 0.005 * form);
  }
  EXPECT_NEAR(gb_per_s(32, "4GB/s", false), 4.0, 0.02);
  EXPECT_NEAR(gb_per_s(32, "4GB/s", true), 4.0, 0.02);
}

TEST(MemoryBuffers, SaturatedLatencyIsTheBuffersOverTheServiceRate) {
  // 8 GB/s: a line each 8 ns. What is in the buffer and in the receive buffers, one place a credit, takes its
  // turn; the rest of the 64 has no credit and waits at the host.
  for (const std::int64_t buffer : {16, 24, 40}) {
    for (const std::int64_t credits : {1, 5}) {
      SpecBuilder system =
          host_and({{"read_buffer", buffer}}, {{"bandwidth", "8GB/s"}}, {{"credits", credits}});
      system.replay("host", std::vector<Access>(1000, access_to(0)));
      Running run(system);
      run.to_end();
      for (std::size_t row = 200; row < 900; ++row) {
        const Time device = run.segment(row, Segment::kController) + run.segment(row, Segment::kMediaQueue) +
                            run.segment(row, Segment::kMedia);
        ASSERT_EQ(device, 8_ns * (buffer + credits)) << buffer << " places, row " << row;
        ASSERT_EQ(run.segment(row, Segment::kCredit), 8_ns * (64 - buffer - credits));
        ASSERT_EQ(run.latency(row), 8_ns * 64);
      }
    }
  }
}

TEST(MemoryBuffers, AFullWriteBufferStopsNoRead) {
  for (const bool posted : {false, true}) {
    std::vector<Access> accesses;
    for (std::uint64_t i = 0; i < 8; ++i) accesses.push_back(at(0_ns, 64 * i, kWrite));
    accesses.push_back(at(300_ns, 4096));
    const Running run =
        replayed(host_and({{"write_buffer", 1}, {"posted_writes", posted}}, {}, {{"credits", 4}}), accesses);
    const std::size_t read = row_at(run, 300_ns);
    EXPECT_EQ(run.latency(read), 85_ns);
    // The writes come one by one, each for 145 ns; the last is answered with or without its media.
    EXPECT_EQ(run.completed(run.table().rows() - 1), 145_ns * 7 + (posted ? 40_ns : 145_ns));
  }
}

TEST(MemoryBuffers, WhoWaitsForAPlaceWaitsForTheMemory) {
  const auto waits = [](Value::Map memory, AccessKind kind) {
    SpecBuilder system = host_and(std::move(memory));
    Running run(system.replay("host", std::vector<Access>(8, access_to(0, kind))));
    run.simulation().run_until(60_ns);
    return describe_waits(run.simulation().kernel());
  };
  EXPECT_NE(waits({{"read_buffer", 2}}, AccessKind::kRead).find("a place in the read buffer"),
            std::string::npos);
  EXPECT_NE(waits({{"write_buffer", 2}}, kWrite).find("a place in the write buffer"), std::string::npos);
  EXPECT_EQ(waits({{"write_buffer", 2}}, AccessKind::kRead).find("buffer"), std::string::npos);
  EXPECT_NE(waits({{"queue", 2}}, kWrite).find("a queue slot"), std::string::npos);
}

TEST(MemoryBuffers, AReadOfABufferedWriteIsAnsweredFromThere) {
  const Value::Map memory{{"write_buffer", 8}, {"posted_writes", true}};
  // Line 0 is written at 0: answered after 40 ns, in the media from 145 ns on. Of line 1 only a half is
  // written.
  const Running run =
      replayed(host_and(memory), {at(0_ns, 0, kWrite), at(1_ns, 64, kWrite, 32), at(50_ns, 0), at(60_ns, 64),
                                  at(70_ns, 64, AccessKind::kRead, 32), at(80_ns, 128), at(200_ns, 0)});
  EXPECT_EQ(run.latency(row_at(run, 50_ns)), 40_ns);
  EXPECT_EQ(run.segment(row_at(run, 50_ns), Segment::kMedia), 0_ns);
  EXPECT_EQ(run.latency(row_at(run, 60_ns)), 85_ns);  // the rest of the line is in the media
  EXPECT_EQ(run.latency(row_at(run, 70_ns)), 40_ns);
  EXPECT_EQ(run.latency(row_at(run, 80_ns)), 85_ns);
  EXPECT_EQ(run.latency(row_at(run, 200_ns)), 85_ns);  // it is in the media already
  EXPECT_EQ(run.number({"per_memory", "mem", "buffer_hits"}), 2.0);
}

TEST(MemoryBuffers, ACreditOfAPostedWriteIsBackWithItsAnswer) {
  // One credit: each write leaves when the one before it is answered, 40 ns later.
  std::vector<Access> accesses(5, access_to(0, kWrite));
  SpecBuilder system = host_and(
      {{"write_buffer", 8}, {"posted_writes", true}, {"credit_release", "completion"}}, {}, {{"credits", 1}});
  Running run(system.replay("host", accesses));
  run.to_end();
  for (std::size_t row = 0; row < 5; ++row)
    EXPECT_EQ(run.completed(row), 40_ns * static_cast<std::int64_t>(row + 1));
}

TEST(MemoryBuffers, MoreOfThemNeverMakesASystemSlower) {
  for (const char* const reads : {"100%", "67%", "50%", "0%"}) {
    for (const bool posted : {false, true}) {
      double before = 0;
      for (const std::int64_t places : {1, 2, 4, 8, 16, 32}) {
        SpecBuilder system =
            host_and({{"read_buffer", places}, {"write_buffer", places}, {"posted_writes", posted}},
                     {{"banks", 16}}, {{"credits", 8}});
        system
            .work("host",
                  {{"pattern", "random"}, {"reads", reads}, {"requests", 3000}, {"footprint", "1MiB"}})
            .run_with({{"warmup", 300}});
        Running run(system);
        run.to_end();
        const double now = run.number({"bandwidth_gb_per_s"});
        EXPECT_GE(now, before * 0.995) << reads << " reads, " << places << " places";
        before = now;
      }
    }
  }
}

TEST(MemoryBuffers, WhatContradictsItselfIsRefused) {
  const auto problem = [](Value::Map params) {
    return std::string(
        test::input_error([&] { read_params<MemoryControllerParams>(Value(std::move(params))); }).what());
  };
  EXPECT_TRUE(test::contains(problem({{"queue", 4}, {"read_buffer", 4}}), "one or the other"));
  EXPECT_TRUE(test::contains(problem({{"queue", 4}, {"write_buffer", 4}}), "one or the other"));
  EXPECT_TRUE(test::contains(problem({{"posted_writes", true}}), "need a write_buffer"));
  EXPECT_TRUE(test::contains(problem({{"write_buffer", 0}}), "at least 1"));
}

// Against a list of them.
TEST(BufferedWrites, HoldWhatWasAddedAndNotRemoved) {
  struct Write {
    std::uint64_t begin;
    std::uint16_t size;
  };
  RandomStream random(1, "buffer", "writes");
  BufferedWrites buffer(16);
  std::vector<Write> held;
  for (int i = 0; i < 20'000; ++i) {
    const Write write{random.below(40) * 16, static_cast<std::uint16_t>(16 * (1 + random.below(8)))};
    if (held.size() < 16 && random.chance(0.5)) {
      buffer.add(Address{write.begin}, write.size);
      held.push_back(write);
    } else if (!held.empty() && random.chance(0.5)) {
      const std::size_t gone = random.below(held.size());
      buffer.remove(Address{held[gone].begin}, held[gone].size);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(gone));
    }
    bool expected = true;  // each line of it lies within one write
    const std::uint64_t end = write.begin + write.size;
    for (std::uint64_t line = write.begin / 64; line * 64 < end; ++line) {
      const std::uint64_t from = std::max(write.begin, line * 64);
      const std::uint64_t to = std::min(end, (line + 1) * 64);
      bool found = false;
      for (const Write& each : held) found |= each.begin <= from && each.begin + each.size >= to;
      expected &= found;
    }
    ASSERT_EQ(buffer.hold(Address{write.begin}, write.size), expected) << "step " << i;
  }
}

}  // namespace
}  // namespace cxloom
