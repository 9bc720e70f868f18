// Each parameter of caches and of the filter of a coherency agent changes what it says, in the direction that
// it says.
#include <gtest/gtest.h>

#include <string>

#include "core/support/home_knobs.hpp"

namespace cxloom::test {
namespace {

SharedLines with_dcoh(const HomeKnobs& knobs) { return {HomeIs::kDcoh, knobs}; }

TEST(CoherenceKnobs, BlocksTakeSeveralLinesWithOneSnoop) {
  const SharedLines one = with_dcoh({.filter = {{"entries", 32}, {"policy", "longest-block"}}});
  const SharedLines four = with_dcoh(
      {.filter = {{"entries", 32}, {"policy", "longest-block"}, {"block", 4}, {"alignment", "free"}}});
  const double lines_of_one = one.of_home("filter_evictions");
  EXPECT_GT(lines_of_one, 0);
  EXPECT_GT(four.of_home("filter_evictions"), lines_of_one);
  EXPECT_LT(four.of_home("bisnp_sent") / four.of_home("lines_invalidated"),
            one.of_home("bisnp_sent") / one.of_home("lines_invalidated"));
}

TEST(CoherenceKnobs, AFewMissRegistersMakeRequestsWait) {
  const SharedLines one = with_dcoh({.cache = {{"mshrs", 1}}});
  const SharedLines many = with_dcoh({});
  EXPECT_GT(one.segment("mshr"), 2 * many.segment("mshr"));
  EXPECT_GT(one.time(), many.time());
}

TEST(CoherenceKnobs, FillsAndClearingHoldUpTheCache) {
  const SharedLines plain = with_dcoh({});
  const SharedLines fills = with_dcoh({.cache = {{"fill_time", "50ns"}}});
  const SharedLines clears = with_dcoh({.cache = {{"clear_time", "50ns"}}});
  EXPECT_GT(fills.segment("cache"), plain.segment("cache"));
  EXPECT_GT(clears.segment("cache"), plain.segment("cache"));
  EXPECT_GT(clears.segment("snoop"), plain.segment("snoop"));
}

TEST(CoherenceKnobs, WritesPastTheCacheFetchNothing) {
  const SharedLines allocate = with_dcoh({.reads = "0%"});
  const SharedLines past = with_dcoh({.cache = {{"write_allocate", false}}, .reads = "0%"});
  EXPECT_GT(allocate({"per_memory", "mem", "reads"}), 0);
  EXPECT_EQ(past({"per_memory", "mem", "reads"}), 0);
}

TEST(CoherenceKnobs, ReadsForSharedCopiesUpgradeMore) {
  const SharedLines any = with_dcoh({});
  const SharedLines shared = with_dcoh({.cache = {{"read_state", "shared"}}});
  const auto upgrades = [](const SharedLines& run) {
    return run({"per_requester", "h0", "upgrades"}) + run({"per_requester", "h1", "upgrades"});
  };
  EXPECT_GT(upgrades(shared), upgrades(any));
}

std::string dcoh_refusal(const HomeKnobs& knobs) {
  return refusal_of(SharedLines::spec_of(HomeIs::kDcoh, knobs));
}

TEST(CoherenceKnobs, WhatCannotBeIsRefusedWithTheReason) {
  EXPECT_NE(dcoh_refusal({.filter = {{"entries", 2}, {"ways", 4}}}).find("entries must be at least ways"),
            std::string::npos);
  EXPECT_NE(dcoh_refusal({.filter = {{"entries", 0}}}).find("entries"), std::string::npos);
  EXPECT_NE(dcoh_refusal({.link = {{"phy", "pcie5-x16"}, {"flit", "68B"}}})
                .find("68B flits have no back-invalidate"),
            std::string::npos);
  EXPECT_NE(dcoh_refusal({.link = {{"phy", "pcie6-x16"},
                                   {"outage", Value::Map{{"at", "1us"}, {"length", "1us"}, {"fail", true}}}}})
                .find("a link that fails requests"),
            std::string::npos);
}

std::string region_refusal(Value::Map region, bool own, bool agent) {
  SpecBuilder system;
  system.device("h", "host", {{"cache", Value::Map{}}});
  Value::Map memory{{"capacity", "1MiB"}};
  if (own) memory.emplace_back("dcoh", Value::Map{});
  system.device("mem", "memory", memory).device("other", "memory", {{"capacity", "1MiB"}});
  system.device("sw", "switch");
  if (agent) system.device("home", "dcoh").link("sw", "home");
  system.link("h", "sw").link("sw", "mem").link("sw", "other");
  system.region({"mem"}, region);
  system.work("h", {{"pattern", "random"}, {"requests", 10}, {"footprint", "64KiB"}});
  return refusal_of(system);
}

TEST(CoherenceKnobs, ARegionNeedsAnAgentThatServesIt) {
  EXPECT_EQ(region_refusal({{"coherence", "hdm-db"}}, true, false), "");
  EXPECT_EQ(region_refusal({{"coherence", "hdm-db"}, {"home", "home"}}, false, true), "");
  EXPECT_NE(region_refusal({{"coherence", "hdm-db"}}, false, false).find("without a coherency agent"),
            std::string::npos);
  EXPECT_NE(region_refusal({{"coherence", "hdm-db"}, {"home", "other"}}, true, false)
                .find("without a coherency agent"),
            std::string::npos);
  EXPECT_NE(region_refusal({{"home", "home"}}, false, true).find("needs coherence: hdm-db"),
            std::string::npos);
}

}  // namespace
}  // namespace cxloom::test
