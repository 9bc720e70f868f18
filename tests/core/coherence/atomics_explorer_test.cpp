// Every state that small systems can reach whose requesters make atomic operations, in the caches and at the
// home. What is checked is that of explorer_test.cpp.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "core/support/coherence_bench.hpp"
#include "core/support/coherence_explorer.hpp"
#include "core/support/coherence_visit.hpp"

namespace cxloom::test {
namespace {

/// Two caches, whose requesters change the first line, too, and the others instead of writing them.
CoherenceSetup changing(AtomicsAt first, AtomicsAt second, CoherenceSetup setup = two_caches(1, 2, 1)) {
  setup.hosts[0].atomics = first;
  setup.hosts[1].atomics = second;
  for (HostSetup& host : setup.hosts) {
    for (Step& step : host.plan.steps) {
      if (step.kind == AccessKind::kWrite && step.line > 0) step = atomic_of(step.line);
    }
    host.plan.steps.push_back(atomic_of(0));
  }
  return setup;
}
CoherenceSetup flipping_after(std::uint32_t accesses, CoherenceSetup setup) {
  setup.home.flip_after = accesses;
  return hdm_d(std::move(setup));
}

constexpr AtomicsAt kByCache = AtomicsAt::kCache;
constexpr AtomicsAt kByHome = AtomicsAt::kHome;
constexpr AtomicsAt kByEither = AtomicsAt::kCacheOrHome;

TEST(AtomicsExplorer, InTheCaches) {
  if (!large_systems()) GTEST_SKIP() << kTakesLong;
  visit_all(changing(kByCache, kByCache), 8000, {"MemInv", "BISnpInv", "BIConflict"});
}

TEST(AtomicsExplorer, AtADcoh) {
  visit_all(changing(kByHome, kByHome), 6000, {"MemAtomic", "MemWr", "BISnpInv", "BIConflict"});
  visit_all(changing(kByHome, kByHome, two_caches(2, 1, 2)), 6000, {"MemAtomic", "BISnpInv"});
}

TEST(AtomicsExplorer, AtAHomeAgent) {
  visit_all(hdm_h(changing(kByHome, kByHome)), 8000,
            {"Atomic", "WritePull", "D2H-Data", "H2D-Data", "DirtyEvict"});
  visit_all(hdm_h(changing(kByHome, kByHome, two_caches(2, 1, 2))), 8000, {"Atomic", "SnpInv"});
}

TEST(AtomicsExplorer, AtABiasAgent) {
  for (const std::uint32_t flip_after : {0U, 1U})
    visit_all(flipping_after(flip_after, changing(kByHome, kByHome)), 8000,
              {"MemAtomic", "RdOwnNoData", "MemRdFwd"});
}

TEST(AtomicsExplorer, InTheCacheOrAtTheHome) {
  visit_all(changing(kByEither, kByCache), 8000, {"MemAtomic", "MemInv", "BISnpInv", "BIConflict"});
  visit_all(hdm_h(changing(kByEither, kByEither)), 8000, {"Atomic", "SnpInv"});
}

TEST(AtomicsExplorer, WithNotices) {
  CoherenceSetup setup = changing(kByHome, kByHome);
  for (HostSetup& host : setup.hosts) host.cache->clean_evictions = CleanEvictions::kNotified;
  visit_all(setup, 8000, {"MemAtomic", "MemClnEvct"});
}

TEST(AtomicsExplorer, ARequesterWithoutACache) {
  CoherenceSetup setup = changing(kByHome, kByHome, two_caches(2, 2, 2));
  setup.hosts[1].cache.reset();
  setup.hosts[1].plan.steps = {atomic_of(0), write_of(1)};
  visit_all(setup, 1500, {"MemAtomic", "BISnpInv"});
  setup.hosts[1].plan.steps = {atomic_of(0), read_of(1)};
  visit_all(hdm_h(setup), 2000, {"Atomic", "SnpInv"});
}

TEST(AtomicsExplorer, TwoInFlight) {
  if (!large_systems()) GTEST_SKIP() << kTakesLong;
  CoherenceSetup setup = changing(kByEither, kByHome, two_caches(2, 1, 1));
  setup.hosts[0].plan.in_flight = 2;
  setup.hosts[0].plan.steps = {read_of(0), atomic_of(0), write_of(1)};
  visit_all(setup, 4000, {"MemAtomic", "BISnpInv"});
  visit_all(hdm_h(setup), 4000, {"Atomic", "SnpInv"});
}

TEST(AtomicsExplorer, FingerprintsSayEnough) {
  if (!large_systems()) GTEST_SKIP() << kTakesLong;
  for (CoherenceSetup setup : {changing(kByHome, kByCache), hdm_h(changing(kByHome, kByCache))}) {
    setup.hosts[0].plan.steps = {write_of(0), atomic_of(0)};
    setup.hosts[1].plan.steps = {atomic_of(0)};
    Explorer explorer([&] { return std::make_unique<CoherenceBench>(setup); });
    EXPECT_TRUE(explorer.explore().whole);
    EXPECT_EQ(explorer.check_fingerprints(), "");
  }
}

}  // namespace
}  // namespace cxloom::test
