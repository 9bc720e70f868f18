// Every state that small systems can reach whose caches ask for lines ahead of their use, for each kind of
// home. What is checked is that of explorer_test.cpp.
#include <gtest/gtest.h>

#include <memory>

#include "core/support/coherence_bench.hpp"
#include "core/support/coherence_explorer.hpp"
#include "core/support/coherence_visit.hpp"

namespace cxloom::test {
namespace {

/// Two caches; the first, or both, ask for the second line when the first one is new.
CoherenceSetup asking_ahead(CoherenceSetup setup, bool both = false) {
  for (HostSetup& host : setup.hosts) {
    host.cache->prefetch = {"next-line", Value::Map{{"page", "128B"}}};
    if (!both) break;
  }
  return setup;
}

TEST(PrefetchExplorer, ADcoh) {
  visit_all(asking_ahead(small_caches()), 9000, {"MemRdData", "MemInv", "BISnpData", "BIConflict"});
  visit_all(asking_ahead(small_filter()), 9000, {"MemRdData", "BISnpInv", "BIConflict"});
}

TEST(PrefetchExplorer, BothCachesAsk) {
  if (!large_systems()) GTEST_SKIP() << kTakesLong;
  CoherenceSetup setup = asking_ahead(small_filter(), true);
  setup.hosts[1].plan.steps = {read_of(0), write_of(1)};
  visit_all(setup, 9000, {"MemRdData", "BISnpInv", "BIConflict"});
}

TEST(PrefetchExplorer, AHomeAgent) {
  CoherenceSetup setup = asking_ahead(small_caches());
  setup.home.coherence = Coherence::kHdmH;
  visit_all(setup, 9000, {"RdAny", "SnpData", "SnpInv", "DirtyEvict"});
}

TEST(PrefetchExplorer, ABiasAgent) {
  CoherenceSetup setup = small_caches();
  setup.hosts[1].cache->prefetch =
      asking_ahead(small_caches()).hosts[0].cache->prefetch;  // not the device itself
  setup.home.coherence = Coherence::kHdmD;
  setup.home.in_first = true;
  setup.hosts[0].plan.steps = {write_of(0), write_of(1)};
  setup.hosts[1].plan.steps = {read_of(0)};
  visit_all(setup, 9000, {"MemRdData", "RdOwnNoData", "MemRdFwd"});
}

TEST(PrefetchExplorer, WithNoticesAndOneRequestAtATime) {
  CoherenceSetup setup = asking_ahead(small_caches());
  for (HostSetup& host : setup.hosts) host.cache->clean_evictions = CleanEvictions::kNotified;
  setup.home.transactions = 1;
  visit_all(setup, 9000, {"MemClnEvct", "BIConflict"});
}

TEST(PrefetchExplorer, BehindAtomicOperations) {
  if (!large_systems()) GTEST_SKIP() << kTakesLong;
  CoherenceSetup setup = asking_ahead(small_caches());
  setup.hosts[0].plan.steps = {atomic_of(0), atomic_of(1), read_of(0)};
  for (const AtomicsAt where : {AtomicsAt::kCache, AtomicsAt::kHome}) {
    setup.hosts[0].atomics = where;
    visit_all(setup, 3000, {"BIConflict"});
  }
}

TEST(PrefetchExplorer, FingerprintsSayEnough) {
  if (!large_systems()) GTEST_SKIP() << kTakesLong;
  CoherenceSetup setup = asking_ahead(small_caches());
  setup.hosts[1].plan.steps = {
      write_of(1)};  // few states: each is compared with all that share its fingerprint
  Explorer explorer([&] { return std::make_unique<CoherenceBench>(setup); });
  EXPECT_TRUE(explorer.explore().whole);
  EXPECT_EQ(explorer.check_fingerprints(), "");
}

}  // namespace
}  // namespace cxloom::test
