// Who has seen which stores: litmus tests of two hosts that share memory without coherence. A missing flush
// is seen as a stale read, or as a lost update, and a present one is not.
#include "component/shared_lines.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/support/system.hpp"

namespace cxloom {
namespace {

using test::access_to;
using test::refusal_of;
using test::Running;
using test::SpecBuilder;

constexpr std::int64_t kMicrosecond = 1'000'000;

/// In that microsecond of the run: each access has its time.
Access at(std::int64_t microsecond, Access access) {
  access.timed = true;
  access.timestamp = Time{microsecond * kMicrosecond};
  return access;
}
Access read_of(std::uint64_t address) { return access_to(address); }
Access store_to(std::uint64_t address) {
  Access access = access_to(address, AccessKind::kWrite);
  access.size = 8;
  return access;
}
Access flush_of(std::uint64_t address) { return access_to(address, AccessKind::kFlush); }

SpecBuilder two_hosts(std::vector<Access> writer, std::vector<Access> reader, Value::Map region = {},
                      bool has_cache = true) {
  const Value::Map host =
      has_cache ? Value::Map{{"cache", Value::Map{{"size", "4KiB"}, {"ways", 1}}}} : Value::Map{};
  return SpecBuilder()
      .device("a", "host", host)
      .device("b", "host", host)
      .device("sw", "switch")
      .device("mem", "memory", {{"dcoh", Value::Map{}}})
      .link("a", "sw")
      .link("b", "sw")
      .link("sw", "mem")
      .region({"mem"}, std::move(region))
      .replay("a", std::move(writer), {{"replay", "timestamps"}})
      .replay("b", std::move(reader), {{"replay", "timestamps"}})
      .outputs({{"sharing", true}});
}

struct Missed {
  double stale;
  double lost;
  bool operator==(const Missed&) const = default;
};

Missed missed_by(const SpecBuilder& system) {
  Running run(system);
  run.to_end();
  return {run.number({"sharing", "stale_reads"}), run.number({"sharing", "lost_updates"})};
}

// The reader has the old line, and reads it again when the store is over.
Missed message(bool flushes, bool drops, Access store, const Value::Map& region = {}, bool cached = true) {
  std::vector<Access> writer{at(1, store)};
  if (flushes) writer.push_back(at(2, flush_of(0)));
  std::vector<Access> reader{at(0, read_of(0))};
  if (drops) reader.push_back(at(3, flush_of(0)));
  reader.push_back(at(4, read_of(0)));
  return missed_by(two_hosts(std::move(writer), std::move(reader), region, cached));
}

TEST(SharedLines, AMissingFlushIsSeen) {
  EXPECT_EQ(message(false, false, store_to(0)), (Missed{1, 0})) << "in its cache";
  EXPECT_EQ(message(false, true, store_to(0)), (Missed{1, 0})) << "in memory";
  EXPECT_EQ(message(true, false, store_to(0)), (Missed{1, 0})) << "the writer alone does not help";
  EXPECT_EQ(message(true, true, store_to(0)), (Missed{0, 0}));
}

TEST(SharedLines, MemoryTypesNeedFewerFlushes) {
  EXPECT_EQ(message(false, true, store_to(0), {{"type", "wt"}}), (Missed{0, 0}));
  EXPECT_EQ(message(false, false, store_to(0), {{"type", "wt"}}), (Missed{1, 0})) << "the copy of the reader";
  EXPECT_EQ(message(false, false, store_to(0), {{"type", "uc"}}), (Missed{0, 0}));
  EXPECT_EQ(message(false, false, store_to(0), {{"type", "wc"}}), (Missed{0, 0}));
  EXPECT_EQ(message(false, false, store_to(0), {}, false), (Missed{0, 0})) << "hosts without caches";
}

TEST(SharedLines, StoresPastTheCacheNeedNoFlushOfTheWriter) {
  Access store = store_to(0);
  store.past = true;
  EXPECT_EQ(message(false, true, store), (Missed{0, 0}));
  EXPECT_EQ(message(false, false, store), (Missed{1, 0}));
}

// Two hosts store to two words of one line. Whoever writes the line back later takes the other's word with
// it.
TEST(SharedLines, ALineWrittenBackOverAnothersIsALostUpdate) {
  const std::vector<Access> a{at(0, store_to(0)), at(2, flush_of(0))};
  EXPECT_EQ(missed_by(two_hosts(a, {at(1, store_to(8)), at(3, flush_of(0))})), (Missed{0, 1}));
  // Nothing is lost of lines of their own, or one after the other.
  EXPECT_EQ(missed_by(two_hosts(a, {at(1, store_to(64)), at(3, flush_of(64))})), (Missed{0, 0}));
  EXPECT_EQ(missed_by(two_hosts(a, {at(4, store_to(8)), at(5, flush_of(0))})), (Missed{0, 0}));
  // What memory puts together itself is not lost either.
  EXPECT_EQ(missed_by(two_hosts(a, {at(1, store_to(8))}, {{"type", "uc"}})), (Missed{0, 0}));
}

TEST(SharedLines, LinesAndPairsAreNamed) {
  Running run(two_hosts({at(1, store_to(0)), at(1, store_to(128))},
                        {at(0, read_of(0)), at(0, read_of(128)), at(3, read_of(128)), at(4, read_of(0)),
                         at(5, read_of(128)), at(6, read_of(192))}));
  run.to_end();
  EXPECT_EQ(run.number({"sharing", "lines"}), 2);
  EXPECT_EQ(run.number({"sharing", "per_line", "0x80", "stale_reads"}), 2);
  EXPECT_EQ(run.number({"sharing", "per_line", "0x0", "stale_reads"}), 1);
  EXPECT_EQ(run.number({"sharing", "per_pair", "b from a", "stale_reads"}), 3);
  EXPECT_THROW(run.number({"sharing", "per_pair", "a from b", "stale_reads"}), std::exception);
}

// The read began before the store was over: it may bring either.
TEST(SharedLines, WhatHappensAtTheSameTimeIsNotStale) {
  EXPECT_EQ(missed_by(two_hosts({at(1, store_to(0))}, {at(1, read_of(0))})), (Missed{0, 0}));
}

TEST(SharedLines, CoherentMemoryIsNotFollowed) {
  SpecBuilder system = two_hosts({at(1, store_to(0))}, {at(0, read_of(0))}, {{"coherence", "hdm-db"}});
  EXPECT_NE(refusal_of(system).find("a volatile region without coherence"), std::string::npos);
}

}  // namespace
}  // namespace cxloom
