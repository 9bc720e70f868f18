// Every state that small systems of caches and a coherency agent can reach: whatever the order of messages
// and requests, each read sees the latest write, a line has one writer or readers, the filter has whoever
// holds a line, every request is answered, and no agent stops with a broken invariant
// (support/coherence_oracle.hpp, support/coherence_explorer.hpp).
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/support/coherence_bench.hpp"
#include "core/support/coherence_explorer.hpp"
#include "core/support/coherence_visit.hpp"

namespace cxloom::test {
namespace {

TEST(CoherenceExplorer, EvictionsFromTheFilter) {
  visit_all(small_filter(), 7000,
            {"MemRdData", "MemRd", "MemWr", "MemData", "Cmp", "Cmp-E", "BISnpInv", "BIRspI", "BIConflict",
             "BI-ConflictAck"});
}

TEST(CoherenceExplorer, EvictionsFromTheCachesThatNobodyHearsOf) {
  visit_all(small_caches(), 8000,
            {"MemRdData", "MemInv", "Cmp-S", "BISnpData", "BIRspS", "BIConflict", "BI-ConflictAck"});
}

TEST(CoherenceExplorer, EvictionsFromTheCachesWithNotice) {
  CoherenceSetup setup = small_caches();
  for (HostSetup& host : setup.hosts) host.cache->clean_evictions = CleanEvictions::kNotified;
  visit_all(setup, 9000, {"MemClnEvct", "BISnpData", "BIConflict"});
}

TEST(CoherenceExplorer, ReadsThatShare) {
  CoherenceSetup setup = small_caches();
  for (HostSetup& host : setup.hosts) host.cache->read_state = ReadState::kShared;
  visit_all(setup, 9000, {"MemRd", "MemInv", "Cmp-S"});
}

TEST(CoherenceExplorer, WritesPastTheCaches) {
  CoherenceSetup setup = small_caches();
  for (HostSetup& host : setup.hosts) host.cache->write_allocate = false;
  visit_all(setup, 7000, {"MemWr", "MemInv", "BISnpInv", "BIConflict"});
}

TEST(CoherenceExplorer, ARequesterWithoutACache) {
  CoherenceSetup setup = two_caches(2, 2, 2);
  setup.hosts[1].cache.reset();
  visit_all(setup, 4000, {"BISnpCur", "BIRspE", "BISnpInv", "BIConflict"});
}

TEST(CoherenceExplorer, TwoCachesAndARequesterWithoutOneOfOneLine) {
  CoherenceSetup setup;
  setup.hosts = {{small_cache(1), anything(1)}, {small_cache(1), anything(1)}, {std::nullopt, anything(1)}};
  setup.home = small_home(1);
  setup.lines = 1;
  visit_all(setup, 10'000, {"BISnpCur", "BIRspE", "BIRspS", "BISnpInv", "BISnpData", "BIConflict"});
}

TEST(CoherenceExplorer, TwoRequestsInFlight) {
  CoherenceSetup setup = two_caches(2, 1, 1);
  setup.hosts[0].plan.in_flight = 2;
  visit_all(setup, 17'000, {"BISnpInv", "BIConflict"});
}

TEST(CoherenceExplorer, BlocksOfTwoLines) {
  CoherenceSetup setup = two_caches(3, 2, 1);
  setup.home.filter.block = 2;
  setup.lines = 3;  // the third needs the entries of both others
  setup.hosts[0].plan.steps = {write_of(0), write_of(1), write_of(2)};
  setup.hosts[1].plan = {{write_of(0), read_of(2)}, true};
  visit_all(setup, 9000, {"BISnpInvBlk", "BIRspIBlk", "BISnpInv", "BISnpData", "BIConflict"});
}

TEST(CoherenceExplorer, TwoLevels) {
  CoherenceSetup setup = small_caches();
  for (HostSetup& host : setup.hosts) {
    CacheLevelParams behind;
    static_cast<CacheParams&>(behind) = small_cache(1);
    host.cache->levels = {behind};
  }
  visit_all(setup, 12'000, {"MemInv", "BISnpData", "BIConflict"});
}

// A flush writes back as an eviction does, and its line stays or leaves.
TEST(CoherenceExplorer, FlushesBesideSnoops) {
  for (const bool keeps : {true, false}) {
    for (const CleanEvictions notices : {CleanEvictions::kSilent, CleanEvictions::kNotified}) {
      CoherenceSetup setup = two_caches(2, 1, 1);
      for (HostSetup& host : setup.hosts) {
        host.cache->clean_evictions = notices;
        host.plan = {{write_of(0), read_of(0), flush_step(0, keeps)}, true};
      }
      visit_all(setup, 300, {"MemWr", "BISnpInv", "BIConflict"});
    }
  }
}

// One request in the agent at a time. What its snoops wait for comes in all the same.
TEST(CoherenceExplorer, AnAgentOfOneTransaction) {
  CoherenceSetup setup = small_caches();
  setup.home.transactions = 1;
  visit_all(setup, 7000, {"BISnpInv", "BIConflict"});
}

// Whether the network keeps the order of messages of one class to different lines does not matter.
TEST(CoherenceExplorer, ANetworkThatReordersLines) {
  CoherenceSetup setup = two_caches(2, 1, 1);
  setup.hosts[0].plan.in_flight = 2;
  setup.order = NetworkOrder::kOfLine;
  visit_all(setup, 17'000, {"BISnpInv", "BIConflict"});
}

// States that the explorer takes for the same have the same futures, whichever way led there.
TEST(CoherenceExplorer, FingerprintsSayEnough) {
  CoherenceSetup few_lines = small_caches();
  few_lines.hosts[1].plan.steps = {write_of(0)};
  std::vector<CoherenceSetup> setups{few_lines};
  if (large_systems()) setups.push_back(small_filter());
  for (const CoherenceSetup& setup : setups) {
    Explorer explorer([&] { return std::make_unique<CoherenceBench>(setup); });
    EXPECT_TRUE(explorer.explore().whole);
    EXPECT_EQ(explorer.check_fingerprints(), "");
  }
}

}  // namespace
}  // namespace cxloom::test
