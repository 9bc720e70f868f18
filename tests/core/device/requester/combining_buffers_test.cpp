// Memory types and stores past the caches: each access takes what the rules of docs/model/sharing.md say, to
// the picosecond.
#include "device/requester/combining_buffers.hpp"

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

// A message takes 50 ns to the memory, which answers anything 140 ns later, and as long back.
constexpr Time kPipeline{10'000};
constexpr Time kTags{12'000};
constexpr Time kRoundTrip = Time{2 * 50'000 + 40'000 + 100'000};

constexpr auto kLoad = AccessKind::kRead;
constexpr auto kStore = AccessKind::kWrite;

Access small(Access access) {
  access.size = 8;
  return access;
}
Access after_all(Access access) {
  access.dependence = kAllBefore;
  return access;
}
Access past(Access access) {
  access.past = true;
  return access;
}

SpecBuilder host_with(Value::Map host, std::vector<Access> accesses, const std::string& type = "wb") {
  host.emplace_back("process_time", "10ns");
  return SpecBuilder()
      .device("host", "host", std::move(host))
      .device("mem", "memory",
              {{"controller_time", "40ns"}, {"media", Value::Map{{"kind", "fixed"}, {"latency", "100ns"}}}})
      .link("host", "mem", {{"port_delay", "25ns"}})
      .region({"mem"}, {{"type", type}})
      .replay("host", std::move(accesses));
}

Value::Map cached() {
  return {{"cache", Value::Map{{"size", "4KiB"}, {"ways", 1}, {"access_time", "12ns"}}}};
}

struct Seen {
  std::vector<Time> created;
  std::vector<Time> latency;
  double writes = 0;
  double write_backs = 0;
};

Seen seen_of(const SpecBuilder& system) {
  Running run(system);
  run.to_end();
  Seen seen;
  seen.created.resize(run.table().rows());
  seen.latency.resize(run.table().rows());
  for (std::size_t row = 0; row < run.table().rows(); ++row) {
    seen.created[run.table().id[row]] = run.created(row);
    seen.latency[run.table().id[row]] = run.latency(row);
  }
  seen.writes = run.number({"per_memory", "mem", "writes"});
  seen.write_backs = run.number({"write_backs"});
  return seen;
}

TEST(MemoryTypes, WriteThroughCachesReadsAndSendsEachStore) {
  const Seen seen = seen_of(host_with(cached(),
                                      {access_to(0), after_all(access_to(0, kStore)), after_all(access_to(0)),
                                       after_all(access_to(64, kStore)), after_all(access_to(64))},
                                      "wt"));
  EXPECT_EQ(seen.latency[0], kPipeline + kTags + kRoundTrip);
  EXPECT_EQ(seen.latency[1], kPipeline + kTags + kRoundTrip) << "a store to a line that is there";
  EXPECT_EQ(seen.latency[2], kPipeline + kTags) << "whose copy is as new as memory";
  EXPECT_EQ(seen.latency[3], kPipeline + kTags + kRoundTrip);
  EXPECT_EQ(seen.latency[4], kPipeline + kTags + kRoundTrip) << "a store brings no line";
  EXPECT_EQ(seen.writes, 2);
  EXPECT_EQ(seen.write_backs, 0);
}

TEST(MemoryTypes, UncacheableMemoryIsAccessedOneAtATime) {
  for (const bool has_cache : {false, true}) {
    const Seen seen = seen_of(host_with(has_cache ? cached() : Value::Map{},
                                        {access_to(0), access_to(0), access_to(64, kStore)}, "uc"));
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(seen.latency[i], kPipeline + kRoundTrip);
      EXPECT_EQ(seen.created[i], (kPipeline + kRoundTrip) * static_cast<std::int64_t>(i));
    }
  }
}

// Beside write-back memory: what is before an uncacheable access ends first, and what is behind it begins
// later.
TEST(MemoryTypes, UncacheableMemoryOrdersWhatIsAroundIt) {
  SpecBuilder system = SpecBuilder()
                           .device("host", "host", cached())
                           .device("mem", "memory",
                                   {{"controller_time", "40ns"},
                                    {"capacity", "1MiB"},
                                    {"media", Value::Map{{"kind", "fixed"}, {"latency", "100ns"}}}})
                           .link("host", "mem", {{"port_delay", "25ns"}})
                           .region({"mem"}, {{"size", "64KiB"}})
                           .region({"mem"}, {{"size", "64KiB"}, {"type", "uc"}})
                           .replay("host", {access_to(0), access_to(65536), access_to(0), access_to(64)});
  const Seen seen = seen_of(system);
  const Time first = kPipeline + kTags + kRoundTrip;
  const Time second = first + kPipeline + kRoundTrip;
  EXPECT_EQ(seen.created[1], first);
  EXPECT_EQ(seen.created[2], second);
  EXPECT_EQ(seen.created[3], second);
  EXPECT_EQ(seen.latency[2], kPipeline + kTags);
}

TEST(MemoryTypes, WriteCombiningGathersALine) {
  for (const bool has_cache : {false, true}) {
    std::vector<Access> accesses;
    for (std::uint64_t i = 0; i < 8; ++i) accesses.push_back(small(access_to(8 * i, kStore)));
    accesses.push_back(after_all(access_to(4096)));
    accesses.push_back(after_all(access_to(4096)));
    const Seen seen = seen_of(host_with(has_cache ? cached() : Value::Map{}, accesses, "wc"));
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(seen.latency[i], kPipeline);
    EXPECT_EQ(seen.writes, 1) << "of 64 bytes";
    EXPECT_EQ(seen.created[8], kPipeline + kRoundTrip) << "the fence waits for the line";
    EXPECT_EQ(seen.latency[8], kPipeline + kRoundTrip);
    EXPECT_EQ(seen.latency[9], kPipeline + kRoundTrip) << "reads are not cached";
  }
}

TEST(MemoryTypes, AFenceWritesWhatIsGathered) {
  const Seen seen = seen_of(host_with({}, {small(access_to(8, kStore)), after_all(access_to(4096))}, "wc"));
  EXPECT_EQ(seen.latency[0], kPipeline);
  EXPECT_EQ(seen.created[1], kPipeline + kRoundTrip);
  EXPECT_EQ(seen.writes, 1);
}

TEST(MemoryTypes, AReadOfAGatheredLineWaitsForItsWrite) {
  const Seen seen = seen_of(host_with({}, {small(access_to(8, kStore)), access_to(0), access_to(64)}, "wc"));
  EXPECT_EQ(seen.latency[1], (kPipeline + kRoundTrip) * 2);
  EXPECT_EQ(seen.latency[2], kPipeline + kRoundTrip) << "of another line, not";
}

// Each buffer writes a line in a latency.
TEST(MemoryTypes, StoresWaitForABuffer) {
  std::vector<Access> accesses;
  for (std::uint64_t i = 0; i < 5; ++i) accesses.push_back(access_to(64 * i, kStore));
  accesses.push_back(after_all(access_to(4096)));
  const Seen seen = seen_of(host_with({{"combining_buffers", 2}}, accesses, "wc"));
  const Time round = kPipeline + kRoundTrip;
  EXPECT_EQ(seen.latency[0], kPipeline);
  EXPECT_EQ(seen.latency[1], kPipeline);
  EXPECT_EQ(seen.latency[2], round);
  EXPECT_EQ(seen.latency[3], round);
  EXPECT_EQ(seen.latency[4], round * 2);
  EXPECT_EQ(seen.created[5], round * 3);
}

TEST(MemoryTypes, AStoreToAnotherLineHasTheOldestWritten) {
  const Seen seen = seen_of(host_with(
      {{"combining_buffers", 1}},
      {small(access_to(0, kStore)), small(access_to(64, kStore)), after_all(access_to(4096))}, "wc"));
  const Time round = kPipeline + kRoundTrip;
  EXPECT_EQ(seen.latency[1], round);
  EXPECT_EQ(seen.created[2], round * 2);
  EXPECT_EQ(seen.writes, 2);
}

// Two lines wait for the one buffer, and loads of the second fill the queue: the second is not waited for by
// a store that comes later. The first gathers once it has the buffer, and is written for the second.
TEST(MemoryTypes, ALineThatWaitsBehindAnotherOneHasThatWritten) {
  std::vector<Access> accesses;
  for (std::uint64_t line = 0; line < 3; ++line) accesses.push_back(small(access_to(64 * line, kStore)));
  for (int i = 0; i < 3; ++i) accesses.push_back(small(access_to(64 * 2)));
  const Seen seen = seen_of(host_with({{"combining_buffers", 1}, {"queue", 3}}, accesses, "wc"));
  const Time round = kPipeline + kRoundTrip;
  const std::vector<Time> created{Time{}, Time{}, Time{}, kPipeline, round, round * 2};
  EXPECT_EQ(seen.created, created);
  EXPECT_EQ(seen.latency[0], kPipeline);
  EXPECT_EQ(seen.latency[1], round);
  EXPECT_EQ(seen.latency[2], round * 2);
  for (std::size_t load = 3; load < 6; ++load) EXPECT_EQ(seen.created[load] + seen.latency[load], round * 4);
}

TEST(NonTemporal, StoresTakeTheLineOutOfTheCache) {
  const Time fill = kPipeline + kTags + kRoundTrip;
  // Clean: it is dropped.
  const Seen clean = seen_of(host_with(cached(), {access_to(0), after_all(past(access_to(0, kStore))),
                                                  after_all(access_to(64)), access_to(0)}));
  EXPECT_EQ(clean.latency[1], kPipeline);
  EXPECT_EQ(clean.created[2], fill + kPipeline + kRoundTrip);
  EXPECT_EQ(clean.latency[3], fill) << "it is not there any more";
  EXPECT_EQ(clean.writes, 1);
  // Dirty: it is written back before.
  const Seen dirty = seen_of(host_with(
      cached(), {access_to(0, kStore), after_all(past(access_to(0, kStore))), after_all(access_to(64))}));
  EXPECT_EQ(dirty.created[2], fill + kPipeline + kRoundTrip * 2);
  EXPECT_EQ(dirty.writes, 2);
}

// A large store is its lines: each has a buffer, and the last one that is in a buffer ends it.
TEST(NonTemporal, StoresOfSeveralLinesTakeABufferEach) {
  Access large = past(access_to(0, kStore));
  large.size = 256;
  const Seen seen = seen_of(host_with({{"combining_buffers", 2}}, {large, after_all(access_to(4096))}));
  EXPECT_EQ(seen.latency[0], kPipeline + kRoundTrip);
  EXPECT_EQ(seen.created[1], (kPipeline + kRoundTrip) * 2);
  EXPECT_EQ(seen.writes, 4);
}

// CLFLUSHOPT side by side; CLFLUSH one after the other, which is a dependence on the one before.
TEST(Flushes, OfCleanMemoryAreOrderedByTheirDependences) {
  for (const bool serial : {false, true}) {
    std::vector<Access> accesses;
    for (std::uint64_t i = 0; i < 4; ++i) accesses.push_back(access_to(64 * i, kStore));
    for (std::uint64_t i = 0; i < 4; ++i) {
      accesses.push_back(access_to(64 * i, AccessKind::kFlush));
      accesses.back().dependence = i == 0 ? kAllBefore : serial ? 1 : 0;
    }
    accesses.push_back(after_all(access_to(4096)));
    const Seen seen = seen_of(host_with(cached(), accesses));
    const Time fill = kPipeline + kTags + kRoundTrip;
    EXPECT_EQ(seen.created[8], fill + fill * (serial ? 4 : 1));
  }
}

TEST(MemoryTypes, AreRefusedWhereTheyMeanNothing) {
  const auto refused = [](Value::Map region, Value::Map host, const char* why) {
    SpecBuilder system = SpecBuilder()
                             .device("host", "host", std::move(host))
                             .device("mem", "memory", {{"dcoh", Value::Map{}}})
                             .link("host", "mem")
                             .region({"mem"}, std::move(region))
                             .replay("host", {access_to(0)});
    EXPECT_NE(refusal_of(system).find(why), std::string::npos) << refusal_of(system);
  };
  refused({{"type", "wc"}, {"coherence", "hdm-db"}}, cached(), "nobody keeps it coherent");
  refused({{"type", "uc"}, {"persistence", "controller"}}, {}, "is volatile");
  refused({{"type", "uc"}}, {{"core", Value::Map{}}}, "a requester without a core");
  SpecBuilder cores = host_with({{"core", Value::Map{}}}, {past(access_to(0, kStore))});
  EXPECT_THROW(Running(cores).to_end(), InputError);
}

}  // namespace
}  // namespace cxloom
