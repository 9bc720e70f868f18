// Flushes: what a host sends for them, and what waits for it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/support/errors.hpp"
#include "core/support/system.hpp"

namespace cxloom {
namespace {

using test::contains;
using test::input_error;
using test::Running;

// A message takes W = 2 x 25 ns between host and memory, the controller 40 ns, the media 100 ns to read and
// 200 ns to write.
constexpr Time kProcess{10'000};
constexpr Time kLookup{12'000};
constexpr Time kFetched = Time{2 * 50'000 + 40'000 + 100'000};
constexpr Time kDurable = Time{2 * 50'000 + 40'000 + 200'000};

Access flush_of(std::uint64_t address, bool keeps = false) {
  Access access = test::access_to(address, AccessKind::kFlush);
  access.keeps = keeps;
  return access;
}

Access fenced(Access access) {
  access.dependence = kAllBefore;
  return access;
}

test::SpecBuilder flush_system(std::vector<Access> accesses, Value::Map host = {},
                               std::string persistence = "media") {
  test::SpecBuilder system;
  Value::Map region;
  if (!persistence.empty()) region.emplace_back("persistence", persistence);
  return system.device("host", "host", std::move(host))
      .device("mem", "memory", {{"media", Value::Map{{"kind", "nvm"}, {"write_buffer", 0}}}})
      .link("host", "mem", {{"port_delay", "25ns"}})
      .region({"mem"}, std::move(region))
      .replay("host", std::move(accesses));
}

Value::Map with_cache(Value::Map more = {}) {
  more.emplace_back("size", "4KiB");
  more.emplace_back("ways", 1);
  return {{"cache", std::move(more)}};
}

std::vector<Time> flush_latencies(const test::SpecBuilder& system) {
  Running running(system);
  running.to_end();
  std::vector<Time> all(running.table().rows());
  for (std::size_t row = 0; row < all.size(); ++row) all[running.table().id[row]] = running.latency(row);
  return all;
}

TEST(Flush, WithoutACacheALineIsWrittenWhole) {
  Access small = flush_of(8);
  small.size = 8;
  Running running(flush_system({small}));
  running.to_end();
  EXPECT_EQ(running.latency(0), kProcess + kDurable);
  EXPECT_EQ(running.number({"flush", "requests"}), 1);
  EXPECT_EQ(running.number({"flush", "latency_ns", "mean"}), (kProcess + kDurable).ns());
  EXPECT_EQ(running.number({"per_memory", "mem", "bandwidth_gb_per_s"}), 64.0 / (kProcess + kDurable).ns());
}

TEST(Flush, OfSeveralLinesIsAnsweredWithTheLast) {
  Access block = flush_of(0);
  block.size = 256;
  Running running(flush_system({block}));
  running.to_end();
  EXPECT_EQ(running.latency(0), kProcess + kDurable);  // in banks of their own
  EXPECT_EQ(running.number({"per_memory", "mem", "writes"}), 4);
}

// The write misses and reads the line; the flush behind it waits for that in the cache, and then for memory.
TEST(Flush, OfADirtyLineWritesIt) {
  const auto all =
      flush_latencies(flush_system({test::access_to(0, AccessKind::kWrite), flush_of(0)}, with_cache()));
  EXPECT_EQ(all[0], kProcess + kLookup + kFetched);
  EXPECT_EQ(all[1], kProcess + kLookup + kFetched + kDurable);
}

TEST(Flush, OfACleanLineOrOfNoneSendsNothing) {
  Running running(
      flush_system({test::access_to(0), fenced(flush_of(0)), fenced(flush_of(4096))}, with_cache()));
  running.to_end();
  EXPECT_EQ(running.latency(1), kProcess + kLookup);
  EXPECT_EQ(running.latency(2), kProcess + kLookup);
  EXPECT_EQ(running.number({"per_memory", "mem", "writes"}), 0);
  EXPECT_EQ(running.number({"per_requester", "host", "cache_hit_rate"}), 0);  // of the one look-up
}

// Its data come from caches in front, whatever this one has of the line.
TEST(Flush, ThatBringsItsDataWritesThem) {
  Access flush = flush_of(0, true);
  flush.brings = true;
  Running running(flush_system({flush, fenced(test::access_to(64)), fenced(flush_of(64)), fenced(flush),
                                fenced(test::access_to(128)), fenced(flush)},
                               with_cache()));
  running.to_end();
  EXPECT_EQ(running.latency(0), kProcess + kLookup + kDurable);
  EXPECT_EQ(running.latency(2), kProcess + kLookup);
  EXPECT_EQ(running.latency(3), kProcess + kLookup + kDurable);
  EXPECT_EQ(running.number({"per_memory", "mem", "writes"}), 3);
  const auto kept = flush_latencies(
      flush_system({test::access_to(0), fenced(flush), fenced(test::access_to(0))}, with_cache()));
  EXPECT_EQ(kept[1], kProcess + kLookup + kDurable);
  EXPECT_EQ(kept[2], kProcess + kLookup);
}

// The second waits for the first, and then writes its own.
TEST(Flush, OfOneLineFollowEachOther) {
  Access flush = flush_of(0);
  flush.brings = true;
  const auto all = flush_latencies(flush_system({flush, flush}, with_cache()));
  EXPECT_EQ(all[0], kProcess + kLookup + kDurable);
  EXPECT_EQ(all[1], kProcess + kLookup + kDurable + kDurable);
}

TEST(Flush, DropsOrKeepsTheLine) {
  const Access write = test::access_to(0, AccessKind::kWrite);
  const Access read = fenced(test::access_to(0));
  const auto dropped = flush_latencies(flush_system({write, flush_of(0), read}, with_cache()));
  EXPECT_EQ(dropped[2], kProcess + kLookup + kFetched);
  const auto kept = flush_latencies(flush_system({write, flush_of(0, true), read}, with_cache()));
  EXPECT_EQ(kept[2], kProcess + kLookup);
  // Clean: another flush has nothing to write. So it is of a clean line that is dropped.
  const auto again =
      flush_latencies(flush_system({write, flush_of(0, true), fenced(flush_of(0)), read}, with_cache()));
  EXPECT_EQ(again[2], kProcess + kLookup);
  EXPECT_EQ(again[3], kProcess + kLookup + kFetched);
}

// Line 64 takes the place of line 0 in the only way: line 0 is on its way out, and durable before its flush
// is answered.
TEST(Flush, WaitsForALineOnItsWayOut) {
  Running running(flush_system(
      {test::access_to(0, AccessKind::kWrite), fenced(test::access_to(4096)), fenced(flush_of(0))},
      with_cache()));
  running.to_end();
  const Time left = kProcess + kLookup + kDurable;  // as the flush arrives, the write-back leaves
  EXPECT_EQ(running.latency(2), left);
  EXPECT_EQ(running.segment(2, Segment::kMshr), kDurable);
  EXPECT_EQ(running.number({"per_requester", "host", "write_backs"}), 1);
}

// A read behind the flush waits until the line is durable, and then misses.
TEST(Flush, HoldsBackAccessesToItsLine) {
  const auto all = flush_latencies(flush_system(
      {test::access_to(0, AccessKind::kWrite), fenced(flush_of(0)), test::access_to(0)}, with_cache()));
  EXPECT_EQ(all[1], kProcess + kLookup + kDurable);
  EXPECT_EQ(all[2], kProcess + kLookup + kDurable + kFetched);
}

TEST(Flush, AFenceWaitsUntilItIsDurable) {
  Running running(flush_system({flush_of(0), fenced(flush_of(64))}));
  running.to_end();
  EXPECT_EQ(running.created(1), kProcess + kDurable);
  EXPECT_EQ(running.number({"per_requester", "host", "fence_wait_ns"}), (kProcess + kDurable).ns());
}

// A clflush in a core waits in the store buffer: it holds up the fence behind it, and not the reads.
TEST(Flush, OfACoreWaitsInTheStoreBuffer) {
  const auto all = flush_latencies(
      flush_system({flush_of(0), test::access_to(64)}, {{"core", Value::Map{{"window", 1}}}}));
  EXPECT_EQ(all[0], kProcess + kDurable);
  Running running(flush_system({flush_of(0), test::access_to(64)}, {{"core", Value::Map{{"window", 1}}}}));
  running.to_end();
  EXPECT_LT(running.created(1), kProcess);
}

// A program may do so: what it does to memory is the same, and nothing is durable.
TEST(Flush, OfVolatileMemoryWritesTheLineAndIsNoted) {
  for (const bool cached : {false, true}) {
    const std::vector<Access> accesses{test::access_to(64, AccessKind::kWrite), fenced(flush_of(64))};
    Running running(flush_system(accesses, cached ? with_cache() : Value::Map{}, ""));
    running.to_end();
    EXPECT_EQ(running.latency(1), kProcess + kDurable + (cached ? kLookup : Time{}));
    EXPECT_EQ(running.number({"per_memory", "mem", "writes"}), cached ? 1 : 2);
  }
}

TEST(Flush, MemoryThatAnswersEarlyIsNotDurableInItsMedia) {
  const auto build = [](const Value::Map& mem, const std::string& persistence) {
    test::SpecBuilder system;
    system.device("host", "host")
        .device("mem", "memory", mem)
        .link("host", "mem")
        .region({"mem"}, {{"persistence", persistence}});
    Running running(system);
  };
  const auto refused = [&](const Value::Map& mem, const std::string& persistence) {
    return std::string(input_error([&] { build(mem, persistence); }).what());
  };
  const Value::Map buffered{{"media", Value::Map{{"kind", "nvm"}, {"write_buffer", 8}}}};
  const Value::Map posted{{"posted_writes", true}, {"write_buffer", 4}};
  EXPECT_TRUE(contains(refused(buffered, "media"), "media.write_buffer"));
  EXPECT_TRUE(contains(refused(posted, "media"), "posted_writes"));
  const Value::Map dram{{"kind", "dram"}, {"preset", "DDR5-4800"}};
  const Value::Map flash{{"kind", "flash"}};
  const Value::Map cached{{"kind", "cached"}, {"size", "1MiB"}, {"backing", Value::Map{{"kind", "nvm"}}}};
  for (const Value::Map& media : {dram, flash, cached})
    EXPECT_TRUE(contains(refused({{"media", media}}, "media"), "address_map[0].to[0]"));
  build(buffered, "controller");
  build(posted, "controller");
  EXPECT_TRUE(contains(refused({{"dynamic_capacity", Value::Map{}}}, "controller"), "dynamic capacity"));
}

}  // namespace
}  // namespace cxloom
