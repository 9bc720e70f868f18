// Every state that small systems of caches and a home agent can reach, in all orders of messages: memory of a
// host, which its own cache and those of devices hold by CXL.cache (HDM-H). What is checked is that of
// explorer_test.cpp.
#include <gtest/gtest.h>

#include <memory>

#include "core/support/coherence_bench.hpp"
#include "core/support/coherence_explorer.hpp"
#include "core/support/coherence_visit.hpp"

namespace cxloom::test {
namespace {

TEST(HomeAgentExplorer, EvictionsFromTheFilter) {
  visit_all(
      hdm_h(small_filter()), 11'000,
      {"RdAny", "RdOwn", "GO-E", "H2D-Data", "SnpInv", "RspIHitI", "RspIHitSE", "RspIFwdM", "D2H-Data"});
}

TEST(HomeAgentExplorer, EvictionsFromTheCachesThatNobodyHearsOf) {
  visit_all(hdm_h(small_caches()), 9000,
            {"DirtyEvict", "GO_WritePull", "GO_WritePull_Drop", "RdOwnNoData", "SnpData", "RspSFwdM"});
}

TEST(HomeAgentExplorer, EvictionsFromTheCachesWithNotice) {
  CoherenceSetup setup = hdm_h(small_caches());
  for (HostSetup& host : setup.hosts) host.cache->clean_evictions = CleanEvictions::kNotified;
  visit_all(setup, 10'000, {"CleanEvict", "GO_WritePull_Drop"});
}

TEST(HomeAgentExplorer, ReadsThatShare) {
  CoherenceSetup setup = hdm_h(small_caches());
  for (HostSetup& host : setup.hosts) host.cache->read_state = ReadState::kShared;
  visit_all(setup, 10'000, {"RdShared", "GO-S", "RdOwnNoData"});
}

TEST(HomeAgentExplorer, WritesPastTheCaches) {
  CoherenceSetup setup = hdm_h(small_caches());
  for (HostSetup& host : setup.hosts) host.cache->write_allocate = false;
  visit_all(setup, 19'000, {"ItoMWr", "GO_WritePull"});
}

TEST(HomeAgentExplorer, ARequesterWithoutACache) {
  CoherenceSetup setup = hdm_h(two_caches(2, 2, 2));
  setup.hosts[1].cache.reset();
  visit_all(setup, 14'000, {"RdCurr", "SnpCur", "RspVFwdV", "ItoMWr", "GO_WritePull"});
}

TEST(HomeAgentExplorer, WritesOfPartsOfLines) {
  CoherenceSetup setup = hdm_h(two_caches(2, 2, 2));
  setup.hosts[1] = {std::nullopt, {{write_in(0), write_of(1)}, true}};
  visit_all(setup, 4000, {"WrInv", "WritePull", "GO-I", "D2H-Data", "ItoMWr"});
}

TEST(HomeAgentExplorer, TwoRequestsInFlight) {
  CoherenceSetup setup = hdm_h(two_caches(2, 1, 1));
  setup.hosts[0].plan.in_flight = 2;
  visit_all(setup, 22'000, {"SnpInv"});
}

TEST(HomeAgentExplorer, AnAgentOfOneTransaction) {
  CoherenceSetup setup = hdm_h(small_caches());
  setup.home.transactions = 1;
  visit_all(setup, 6000, {"SnpInv"});
}

TEST(HomeAgentExplorer, ANetworkThatReordersLines) {
  CoherenceSetup setup = hdm_h(two_caches(2, 1, 1));
  setup.order = NetworkOrder::kOfLine;
  visit_all(setup, 3000, {"SnpInv"});
}

// Answers to different lines overtake each other: a snoop waits for all that were sent before it, and not for
// as many.
TEST(HomeAgentExplorer, ANetworkThatReordersAnswers) {
  CoherenceSetup setup = hdm_h(two_caches(2, 2, 1));
  setup.hosts[0].plan = {{write_of(0), read_of(1)}, true, 2};
  setup.hosts[1].plan.steps = {write_of(0)};
  setup.order = NetworkOrder::kOfLine;
  visit_all(setup, 100, {"SnpInv"});
}

// The host's own cache is beside the agent, and what they say to each other takes time, too.
TEST(HomeAgentExplorer, TheHostsOwnCache) {
  CoherenceSetup setup = hdm_h(small_caches());
  setup.home.in_first = true;
  visit_all(setup, 9000, {"SnpInv", "SnpData"});
}

TEST(HomeAgentExplorer, FingerprintsSayEnough) {
  if (!large_systems()) GTEST_SKIP() << kTakesLong;
  CoherenceSetup setup = hdm_h(small_caches());
  setup.hosts[1].plan.steps = {write_of(0)};
  Explorer explorer([&] { return std::make_unique<CoherenceBench>(setup); });
  EXPECT_TRUE(explorer.explore().whole);
  EXPECT_EQ(explorer.check_fingerprints(), "");
}

}  // namespace
}  // namespace cxloom::test
