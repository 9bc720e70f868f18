// Every state that small systems of caches and a bias agent can reach, in all orders of messages: memory of a
// device, which the device's own cache and that of one host hold (HDM-D). What is checked is that of
// explorer_test.cpp.
#include <gtest/gtest.h>

#include <memory>

#include "core/support/coherence_bench.hpp"
#include "core/support/coherence_explorer.hpp"
#include "core/support/coherence_visit.hpp"

namespace cxloom::test {
namespace {

TEST(BiasAgentExplorer, EvictionsFromTheFilter) {
  visit_all(hdm_d(small_filter()), 17'000, {"RdOwnNoData", "MemRdFwd"});
}

TEST(BiasAgentExplorer, EvictionsFromTheCaches) {
  visit_all(hdm_d(small_caches()), 8000, {"RdOwnNoData", "MemRdFwd"});
}

TEST(BiasAgentExplorer, PagesThatStayWithTheHost) {
  CoherenceSetup setup = hdm_d(small_caches());
  setup.home.flip_after = 0;
  visit_all(setup, 9000, {"RdShared", "RdOwnNoData", "MemRdFwd"});
}

TEST(BiasAgentExplorer, PagesThatAreTheDevicesAtFirst) {
  CoherenceSetup setup = hdm_d(small_caches());
  setup.home.initial = Bias::kDevice;
  visit_all(setup, 8000, {"RdOwnNoData"});
}

TEST(BiasAgentExplorer, PagesOfTwoLines) {
  CoherenceSetup setup = hdm_d(small_caches());
  setup.home.page = Bytes{2 * kLineBytes};
  setup.home.flip_after = 2;
  visit_all(setup, 11'000, {"RdOwnNoData"});
}

TEST(BiasAgentExplorer, WithNotice) {
  CoherenceSetup setup = hdm_d(small_caches());
  for (HostSetup& host : setup.hosts) host.cache->clean_evictions = CleanEvictions::kNotified;
  visit_all(setup, 9000, {"MemClnEvct"});
}

TEST(BiasAgentExplorer, ADeviceWithoutACache) {
  CoherenceSetup setup = hdm_d(two_caches(2, 2, 2));
  setup.hosts[0].cache.reset();
  setup.home.flip_after = 0;
  visit_all(setup, 3000, {"RdCurr", "RdOwnNoData", "MemRdFwd"});
}

TEST(BiasAgentExplorer, AHostWithoutACache) {
  CoherenceSetup setup = hdm_d(two_caches(2, 2, 2));
  setup.hosts[1].cache.reset();
  visit_all(setup, 6000, {"BISnpInv", "BISnpCur"});
}

// The questions of the device are reordered, as with a home agent.
TEST(BiasAgentExplorer, ANetworkThatReordersAnswers) {
  CoherenceSetup setup = hdm_d(two_caches(2, 2, 1));
  setup.hosts[0].plan.steps = {write_of(0)};
  setup.hosts[1].plan = {{write_of(0), read_of(1)}, true, 2};
  setup.home.flip_after = 0;
  setup.order = NetworkOrder::kOfLine;
  visit_all(setup, 100, {"RdOwnNoData"});
}

TEST(BiasAgentExplorer, FingerprintsSayEnough) {
  CoherenceSetup setup = hdm_d(small_caches());
  setup.hosts[1].plan.steps = {write_of(0)};
  Explorer explorer([&] { return std::make_unique<CoherenceBench>(setup); });
  EXPECT_TRUE(explorer.explore().whole);
  EXPECT_EQ(explorer.check_fingerprints(), "");
}

}  // namespace
}  // namespace cxloom::test
