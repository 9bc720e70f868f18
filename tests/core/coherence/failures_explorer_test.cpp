// Every state that small systems of caches and a home can reach of which one part fails, at any moment: the
// link of a requester, which may be repaired, or the requester itself. What is checked is that of
// explorer_test.cpp, among those that are left: a reader sees the latest write or poison.
// docs/model/failures.md has the rules.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/support/coherence_bench.hpp"
#include "core/support/coherence_explorer.hpp"
#include "core/support/coherence_visit.hpp"

namespace cxloom::test {
namespace {

/// Two caches of one line, and a home whose memory takes no time. The requesters do these, for ever, and the
/// link of the first one fails.
CoherenceSetup failing(const std::vector<Step>& first, const std::vector<Step>& second,
                       std::uint32_t lines = 1) {
  CoherenceSetup setup;
  setup.hosts = {{small_cache(1), {first, true}}, {small_cache(1), {second, true}}};
  setup.home = small_home(lines);
  setup.lines = lines;
  setup.quick_memory = true;
  setup.failure = FailureSetup{};
  return setup;
}

CoherenceSetup of_one_line() { return failing({read_of(0), write_of(0)}, {read_of(0), write_of(0)}); }
/// Lines leave the cache of the first requester.
CoherenceSetup of_two_lines() { return failing({write_of(0), read_of(1)}, {write_of(0)}, 2); }

CoherenceSetup crashing(CoherenceSetup setup) {
  setup.failure->crashes = true;
  return setup;
}

/// The device of the home fails.
CoherenceSetup of_home(CoherenceSetup setup) {
  setup.failure->home = true;
  return setup;
}

/// The home is in the device of the first requester.
CoherenceSetup in_first(CoherenceSetup setup) {
  setup.home.in_first = true;
  return setup;
}

CoherenceSetup in_switch(CoherenceSetup setup) {
  setup.failure->in_switch = true;
  return setup;
}

/// The device is the first requester; the link of the host fails.
CoherenceSetup of_bias(CoherenceSetup setup) {
  setup = hdm_d(setup);
  setup.failure->host = 1;
  return setup;
}

/// The second requester, whose link fails, has no cache, and does these.
CoherenceSetup uncached(CoherenceSetup setup, const std::vector<Step>& steps) {
  setup.hosts[1] = {std::nullopt, {steps, true}};
  setup.failure->host = 1;
  return setup;
}

// ---- HDM-DB

TEST(FailureExplorer, ALinkThatIsRepairedOrNot) {
  visit_all(failing({read_of(0), write_of(0)}, {write_of(0)}), 10'000,
            {"MemRdData", "MemInv", "BISnpInv", "BIRspI", "BIConflict"});
}

TEST(FailureExplorer, AHostThatCrashes) {
  visit_all(crashing(failing({read_of(0), write_of(0)}, {write_of(0)})), 1000);
}

TEST(FailureExplorer, ASwitchThatLosesWhatItHas) {
  visit_all(in_switch(failing({read_of(0), write_of(0)}, {read_of(0)})), 1000, {"BISnpData", "BIRspS"});
}

TEST(FailureExplorerLong, OfOneLine) { visit_all(of_one_line(), 20'000, {"BISnpData", "BIRspS"}); }

TEST(FailureExplorerLong, LinesThatLeaveTheirCache) { visit_all(of_two_lines(), 1000, {"MemWr", "Cmp"}); }

TEST(FailureExplorer, ARequesterWithoutACache) {
  visit_all(in_switch(uncached(of_one_line(), {read_of(0), write_of(0)})), 1000, {"BISnpCur", "BISnpInv"});
}

TEST(FailureExplorerLong, TwoLinesAndTwoCaches) {
  CoherenceSetup setup = in_switch(of_two_lines());
  setup.quick_memory = false;
  visit_all(setup, 10'000);
}

TEST(FailureExplorerLong, ThreeCaches) {
  if (!large_systems()) GTEST_SKIP() << kTakesLong;
  CoherenceSetup setup = of_one_line();
  setup.hosts.push_back(setup.hosts[1]);
  visit_all(setup, 10'000);
}

TEST(FailureExplorer, AMemoryWithItsHome) {
  visit_all(of_home(uncached(of_one_line(), {read_of(0)})), 1000, {"BISnpCur"});
}

TEST(FailureExplorerLong, AMemoryWithItsHomeAndTwoCaches) {
  if (!large_systems()) GTEST_SKIP() << kTakesLong;
  visit_all(of_home(failing({read_of(0), write_of(0)}, {write_of(0)})), 10'000, {"MemInv", "BISnpInv"});
}

TEST(FailureExplorerLong, AMemoryWithItsHomeWhoseLinesLeaveTheirCache) {
  if (!large_systems()) GTEST_SKIP() << kTakesLong;
  visit_all(of_home(of_two_lines()), 1000, {"MemWr", "Cmp"});
}

// ---- HDM-H

TEST(FailureExplorer, AHostWithAHomeAgentThatCrashes) {
  visit_all(of_home(in_first(hdm_h(failing({write_of(0)}, {read_of(0)})))), 1000,
            {"RdOwn", "SnpData", "RspSFwdM", "D2H-Data"});
}

TEST(FailureExplorer, AHostWithAHomeAgentThatHasCalledForData) {
  visit_all(of_home(uncached(hdm_h(failing({read_of(0)}, {})), {write_of(0), write_in(0)})), 1000,
            {"ItoMWr", "WrInv", "WritePull", "GO_WritePull", "GO-I"});
}

TEST(FailureExplorerLong, AHostWithAHomeAgentOfOneLineThatCrashes) {
  visit_all(of_home(in_first(hdm_h(failing({read_of(0), write_of(0)}, {write_of(0)})))), 10'000,
            {"RdOwn", "SnpInv", "RspIFwdM", "D2H-Data"});
}

TEST(FailureExplorerLong, AHostWithAHomeAgentOfTwoLinesThatCrashes) {
  visit_all(of_home(in_first(hdm_h(of_two_lines()))), 1000,
            {"DirtyEvict", "GO_WritePull", "GO_WritePull_Drop"});
}

TEST(FailureExplorer, AHomeOfAHost) {
  visit_all(hdm_h(failing({read_of(0), write_of(0)}, {write_of(0)})), 1000,
            {"RdOwn", "RdOwnNoData", "SnpInv", "RspIFwdM", "D2H-Data"});
}

TEST(FailureExplorer, AHomeOfAHostBehindASwitchThatLosesWhatItHas) {
  visit_all(in_switch(hdm_h(failing({read_of(0), write_of(0)}, {read_of(0)}))), 1000, {"RspSFwdM"});
}

TEST(FailureExplorer, ADeviceOfAHostThatCrashes) { visit_all(crashing(hdm_h(of_one_line())), 1000); }

TEST(FailureExplorerLong, LinesThatLeaveTheCacheOfADevice) {
  visit_all(in_switch(hdm_h(of_two_lines())), 1000, {"DirtyEvict", "GO_WritePull", "GO_WritePull_Drop"});
}

TEST(FailureExplorer, WritesWhoseDataAreCalledFor) {
  visit_all(in_switch(uncached(hdm_h(of_one_line()), {write_of(0), write_in(0)})), 1000,
            {"ItoMWr", "WrInv", "WritePull", "GO_WritePull", "GO-I"});
}

TEST(FailureExplorerLong, OfOneLineOfAHost) {
  visit_all(hdm_h(of_one_line()), 20'000, {"SnpData", "RspSFwdM"});
}

TEST(FailureExplorerLong, TwoLinesOfAHostWhoseMemoryTakesTime) {
  CoherenceSetup setup = in_switch(hdm_h(of_two_lines()));
  setup.quick_memory = false;
  visit_all(setup, 10'000);
}

TEST(FailureExplorerLong, ThreeCachesOfAHost) {
  if (!large_systems()) GTEST_SKIP() << kTakesLong;
  CoherenceSetup setup = hdm_h(of_one_line());
  setup.hosts.push_back(setup.hosts[1]);
  visit_all(setup, 10'000);
}

// ---- HDM-D

TEST(FailureExplorer, ADeviceWithBias) {
  visit_all(of_bias(failing({write_of(0)}, {read_of(0), write_of(0)})), 1000, {"RdOwnNoData", "MemRdFwd"});
}

TEST(FailureExplorerLong, ADeviceWithBiasThatCrashes) {
  visit_all(of_home(hdm_d(failing({write_of(0)}, {read_of(0), write_of(0)}))), 1000, {"RdOwnNoData"});
}

TEST(FailureExplorerLong, OfOneLineOfADevice) { visit_all(of_bias(of_one_line()), 10'000, {"RdOwnNoData"}); }

TEST(FailureExplorerLong, ADeviceWithBiasThatNeverFlips) {
  CoherenceSetup setup = in_switch(of_bias(of_one_line()));
  setup.home.flip_after = 0;
  visit_all(setup, 1000, {"RdOwnNoData", "RdShared", "MemRdFwd"});
}

TEST(FailureExplorerLong, AHostOfADeviceThatCrashes) {
  visit_all(crashing(of_bias(failing({write_of(0), read_of(1)}, {write_of(0), write_of(1)}, 2))), 1000);
}

TEST(FailureExplorerLong, PagesOfTwoLines) {
  CoherenceSetup setup = of_bias(failing({write_of(0), read_of(1)}, {write_of(0), read_of(1)}, 2));
  setup.home.page = Bytes{2 * kLineBytes};
  visit_all(setup, 10'000);
}

// ---- That it looks closely enough

TEST(FailureExplorerLong, FingerprintsSayEnough) {
  const CoherenceSetup db = failing({write_of(0)}, {write_of(0)});
  for (const CoherenceSetup& setup : {db, hdm_h(db), of_bias(db)}) {
    Explorer explorer([&] { return std::make_unique<CoherenceBench>(setup); });
    EXPECT_TRUE(explorer.explore().whole);
    EXPECT_EQ(explorer.check_fingerprints(), "");
  }
}

void finds_with(CoherenceSetup setup, bool FailureSetup::* fault, const std::string& violation) {
  (*setup.failure).*fault = true;
  const Exploration found = Explorer([&] { return std::make_unique<CoherenceBench>(setup); }).explore();
  EXPECT_NE(found.violation.find(violation), std::string::npos) << found.violation << "\n" << found.path;
}

TEST(FailureFaults, AreFound) {
  for (const CoherenceSetup& setup : {of_one_line(), hdm_h(of_one_line()), of_bias(of_one_line())}) {
    finds_with(setup, &FailureSetup::never_times_out, "deadlock");
    finds_with(setup, &FailureSetup::trusts_poison, "data that no home has sent");
    finds_with(setup, &FailureSetup::trusts_lost_data, "the latest write is lost");
  }
}

TEST(FailureFaults, OfADeviceThatHasTheHome) {
  for (const CoherenceSetup& setup : {of_home(of_one_line()), of_home(in_first(hdm_h(of_one_line())))}) {
    finds_with(setup, &FailureSetup::never_times_out, "deadlock");
    finds_with(setup, &FailureSetup::trusts_poison, "data that no home has sent");
    finds_with(setup, &FailureSetup::keeps_lines, "holds a line of which the filter has {} as owners");
  }
}

TEST(FailureFaults, ACacheThatKeepsWhatItHas) {
  for (const CoherenceSetup& setup : {of_one_line(), hdm_h(of_one_line())})
    finds_with(setup, &FailureSetup::keeps_lines, "holds a line of which the filter has {host1} as owners");
  // The host does not hear either of answers that are lost, and waits for them before it answers the device.
  finds_with(of_bias(of_one_line()), &FailureSetup::keeps_lines, "deadlock");
}

}  // namespace
}  // namespace cxloom::test
