// Atomic operations in the cache: what each flow costs, to the picosecond, and its waiters.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/support/atomic_systems.hpp"
#include "core/support/coherence_flows.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr Time kCacheOperation = 30_ns;

AtomicOptions in_cache(const std::string& coherence, const char* atomic_time = "30ns") {
  return {.coherence = coherence, .cache = {{"atomic_time", atomic_time}}};
}

/// What a requester waits for at the home because another has modified the line.
Time taken(const std::string& coherence) {
  return coherence == "hdm-h" ? kSnoop : kSnoop + kWriteBack + kMemoryRead;
}

TEST(CacheAtomics, AHitTakesTheTimeOfTheOperationMore) {
  for (const char* const coherence : {"none", "hdm-db", "hdm-h", "hdm-d"}) {
    for (const AccessKind before : {R, W, A}) {
      const AtomicRun run(1 + (coherence == std::string("hdm-d")),
                          {{"h0", 0, before}, {"h0", 8, A}, {"h0", 0, R}}, in_cache(coherence));
      EXPECT_EQ(run.latency(1), kProcess + kCache + kCacheOperation) << coherence;
      EXPECT_EQ(run.segment(1, Segment::kCache), kCache + kCacheOperation);
      EXPECT_EQ(run.latency(2), kProcess + kCache);
      EXPECT_EQ(run.number({"per_requester", "h0", "cache_atomics"}), before == A ? 2.0 : 1.0);
    }
  }
}

TEST(CacheAtomics, AMissFetchesTheLineAlone) {
  for (const char* const coherence : {"none", "hdm-db", "hdm-h", "hdm-d"}) {
    const AtomicRun run(1 + (coherence == std::string("hdm-d")),
                        {{"h0", 0, A}, {"h0", 0, W}, {"h0", 64, W}, {"h0", 64, A}}, in_cache(coherence));
    const Time lookup = coherence == std::string("none") ? 0_ns : kLookup;
    EXPECT_EQ(run.latency(0), kProcess + kCache + kWay + lookup + kMemoryRead + kWay + kCacheOperation)
        << coherence;
    EXPECT_EQ(run.latency(1), kProcess + kCache);  // the line is modified
  }
}

TEST(CacheAtomics, AnUpgradeMovesNoData) {
  for (const char* const coherence : {"hdm-db", "hdm-h"}) {
    const AtomicRun run(2, {{"h0", 0, R}, {"h1", 0, R}, {"h0", 0, A}, {"h0", 0, A}}, in_cache(coherence));
    EXPECT_EQ(run.latency(2), kThere + kSnoop + kWay + kCacheOperation) << coherence;
    EXPECT_EQ(run.latency(3), kProcess + kCache + kCacheOperation);
    EXPECT_EQ(run.number({"per_requester", "h0", "upgrades"}), 1.0);
  }
}

TEST(CacheAtomics, TheResultIsAModifiedLine) {
  for (const char* const coherence : {"hdm-db", "hdm-h"}) {
    const AtomicRun run(2, {{"h0", 0, A}, {"h1", 0, A}}, in_cache(coherence));
    EXPECT_EQ(run.latency(1), kThere + taken(coherence) + kWay + kCacheOperation) << coherence;
  }
}

TEST(CacheAtomics, OfAPageOfTheHostTheDeviceAsksFirst) {
  AtomicOptions options = in_cache("hdm-d");
  options.agent = {{"flip_after", 0}};
  const AtomicRun run(2, {{"h0", 0, A}, {"h1", 0, A}, {"h1", 0, A}, {"h0", 0, A}}, options);
  const Time inside = kProcess + kCache + kLookup;
  EXPECT_EQ(run.latency(1), inside + taken("hdm-d") + kCacheOperation);
  EXPECT_EQ(run.latency(2), kProcess + kCache + kCacheOperation);
  const Time from_device = kCache + kLookup + kMemoryWrite + kMemoryRead;
  EXPECT_EQ(run.latency(3), kThere + from_device + kWay + kCacheOperation);
}

// The loser's snoop comes with the winner's line, and waits for the end of the operation; the lookup of the
// snoop goes on meanwhile.
TEST(CacheAtomics, TwoContendersSendTheLineToAndFro) {
  for (const char* const coherence : {"hdm-db", "hdm-h"}) {
    for (const Time operation : {5_ns, 30_ns}) {
      const AtomicRun run(2, {{"h0", 0, A}, {"h1", 0, A, true}},
                          in_cache(coherence, operation == 5_ns ? "5ns" : "30ns"));
      const Time granted = kThere + kMemoryRead + kWay;
      const auto [first, second] = std::minmax({run.latency(0), run.latency(1)});
      EXPECT_EQ(first, granted + operation) << coherence;
      const Time after_snoop = taken(coherence) - kWay - kCache + kWay;  // its answer, and what follows
      EXPECT_EQ(second, granted + std::max(operation, kCache) + after_snoop + operation) << coherence;
    }
  }
}

// Operations of one requester on one line follow each other; on different lines they do not wait.
TEST(CacheAtomics, OnOneLineOneAfterTheOther) {
  for (const char* const coherence : {"none", "hdm-db", "hdm-h"}) {
    const AtomicRun run(1,
                        {{"h0", 0, R},
                         {"h0", 64, R},
                         {"h0", 0, A},
                         {"h0", 8, A, true},
                         {"h0", 16, R, true},
                         {"h0", 64, A, true}},
                        in_cache(coherence));
    EXPECT_EQ(run.latency(2), kProcess + kCache + kCacheOperation) << coherence;
    EXPECT_EQ(run.latency(3), kProcess + kCache + kCacheOperation + kCacheOperation);
    EXPECT_EQ(run.segment(3, Segment::kMshr), kCacheOperation);
    EXPECT_EQ(run.latency(4), kProcess + kCache + kCacheOperation + kCacheOperation);
    EXPECT_EQ(run.latency(5), kProcess + kCache + kCacheOperation);
  }
}

// A cache of one line: another line comes in while the operation is made, and the first one leaves behind it,
// to be asked for again when memory has it.
TEST(CacheAtomics, AVictimLeavesAtTheEnd) {
  for (const char* const coherence : {"none", "hdm-db", "hdm-h"}) {
    AtomicOptions options = in_cache(coherence, "400ns");
    options.cache.emplace_back("size", "64B");
    const AtomicRun run(1, {{"h0", 0, R}, {"h0", 0, A}, {"h0", 64, R, true}, {"h0", 0, R}}, options);
    const Time lookup = coherence == std::string("none") ? 0_ns : kLookup;
    const Time miss = kProcess + kCache + kWay + lookup + kMemoryRead + kWay;
    EXPECT_EQ(run.latency(1), kProcess + kCache + 400_ns) << coherence;
    EXPECT_EQ(run.latency(2), miss);
    EXPECT_EQ(run.latency(3), miss);
    EXPECT_EQ(run.number({"per_requester", "h0", "write_backs"}), 1.0);
  }
}

// ... and a snoop that waits for the operation finds the line on its way out.
TEST(CacheAtomics, AVictimThatIsSnoopedMeanwhile) {
  for (const char* const coherence : {"hdm-db", "hdm-h"}) {
    AtomicOptions options = in_cache(coherence, "400ns");
    options.cache.emplace_back("size", "64B");
    const AtomicRun run(2, {{"h0", 0, R}, {"h0", 0, A}, {"h0", 64, R, true}, {"h1", 0, R, true}}, options);
    const Time operated = kProcess + kCache + 400_ns;
    EXPECT_EQ(run.latency(1), operated);
    // DCOH: the victim passes the pipeline of requests, and is in memory before the snoop is answered.
    // CXL.cache: its data answer the snoop at once.
    const Time answered =
        coherence == std::string("hdm-h") ? kWay : kProcess + kCache + kWriteBack + kWay + kMemoryRead;
    EXPECT_EQ(run.latency(3), operated + answered + kWay) << coherence;
  }
}

TEST(CacheAtomics, WithoutAllocationOfWritesTheLineIsFetchedAllTheSame) {
  AtomicOptions options = in_cache("hdm-db");
  options.cache.emplace_back("write_allocate", false);
  const AtomicRun run(1, {{"h0", 0, A}, {"h0", 0, W}}, options);
  EXPECT_EQ(run.latency(0), kThere + kMemoryRead + kWay + kCacheOperation);
  EXPECT_EQ(run.latency(1), kProcess + kCache);
}

TEST(CacheAtomics, AreAKindOfTheirOwnInTheSummary) {
  const AtomicRun run(1, {{"h0", 0, A}, {"h0", 0, A}, {"h0", 0, R}, {"h0", 0, W}}, in_cache("hdm-db"));
  EXPECT_EQ(run.number({"requests"}), 5.0);
  EXPECT_EQ(run.number({"atomics"}), 2.0);
  EXPECT_EQ(run.number({"reads"}), 2.0);
  EXPECT_EQ(run.number({"writes"}), 1.0);
  EXPECT_EQ(run.number({"atomic", "requests"}), 2.0);
  EXPECT_EQ(run.number({"atomic", "latency_ns", "min"}), (kProcess + kCache + kCacheOperation).ns());
  const AtomicRun none(1, {{"h0", 0, W}}, in_cache("hdm-db"));
  EXPECT_EQ(none.summary().find("atomics"), nullptr);
  EXPECT_EQ(none.summary().find("atomic"), nullptr);
  EXPECT_EQ(none.summary().find("per_requester")->find("h0")->find("cache_atomics"), nullptr);
}

}  // namespace
}  // namespace cxloom::test
