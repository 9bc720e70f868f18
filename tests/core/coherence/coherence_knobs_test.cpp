// Each parameter of caches and coherency agents changes what it says, in the direction that it says.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

struct DcohKnobs {
  Value::Map cache;
  Value::Map dcoh;
  Value::Map filter;
  const char* pattern = "random";
  const char* reads = "50%";
  Value::Map link;
};

/// Two hosts that share 64 lines of one memory, all measures of a run.
class SharedDcoh {
 public:
  explicit SharedDcoh(const DcohKnobs& knobs) : run_(system_of(knobs)) { run_.to_end(); }
  double operator()(const std::vector<std::string_view>& keys) const { return run_.number(keys); }
  double latency() const { return run_.number({"latency_ns", "mean"}); }
  double segment(const char* name) const { return run_.number({"breakdown_ns", name}); }
  double of_agent(const char* name) const { return run_.number({"coherence", name}); }

 private:
  static SpecBuilder system_of(const DcohKnobs& knobs) {
    SpecBuilder system;
    Value::Map cache = knobs.cache;
    if (!Value(cache).find("size")) cache.emplace_back("size", "2KiB");
    cache.emplace_back("ways", 4);
    Value::Map dcoh = knobs.dcoh;
    Value::Map filter = knobs.filter;
    if (!Value(filter).find("entries")) filter.emplace_back("entries", 64);
    dcoh.emplace_back("filter", filter);
    system.device("bus", "bus");
    system.device("mem", "memory",
                  {{"capacity", "1MiB"},
                   {"dcoh", dcoh},
                   {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}});
    system.link("bus", "mem", knobs.link);
    system.region({"mem"}, {{"coherence", "hdm-db"}});
    for (const char* host : {"h0", "h1"}) {
      system.device(host, "host", {{"queue", 16}, {"cache", cache}});
      system.link(host, "bus");
      system.work(
          host,
          {{"pattern", knobs.pattern}, {"reads", knobs.reads}, {"requests", 4000}, {"footprint", "4KiB"}});
    }
    return system.run_with({{"warmup", 500}});
  }

  mutable Running run_;
};

TEST(CoherenceKnobs, LookupTimeIsPaidByEveryRequest) {
  const SharedDcoh fast({.dcoh = {{"lookup_time", "1ns"}}});
  const SharedDcoh slow({.dcoh = {{"lookup_time", "100ns"}}});
  EXPECT_GT(slow.segment("filter"), fast.segment("filter") + 50);
  EXPECT_GT(slow.latency(), fast.latency());
}

TEST(CoherenceKnobs, LookupIntervalBoundsTheRate) {
  const SharedDcoh free({});
  const SharedDcoh bound({.dcoh = {{"lookup_interval", "100ns"}}});
  EXPECT_GT(bound.segment("filter"), free.segment("filter"));
  // A hundred nanoseconds for each message that looks the filter up.
  const double lookups = bound.of_agent("filter_hits") + bound.of_agent("filter_misses");
  EXPECT_GE(bound({"simulated_time_ns"}), 100.0 * (lookups - 64));
  EXPECT_LT(free({"simulated_time_ns"}), bound({"simulated_time_ns"}));
}

TEST(CoherenceKnobs, MoreTransactionsAreNoSlower) {
  double before = 1e30;
  for (const int transactions : {1, 2, 4, 8, 32}) {
    const SharedDcoh run({.dcoh = {{"transactions", transactions}}});
    EXPECT_LT(run({"simulated_time_ns"}), before * 1.01) << transactions;
    before = run({"simulated_time_ns"});
  }
  const SharedDcoh one({.dcoh = {{"transactions", 1}}});
  const SharedDcoh all({});
  EXPECT_GT(one.segment("home_queue"), all.segment("home_queue"));
}

TEST(CoherenceKnobs, MoreEntriesEvictLess) {
  double time = 1e30;
  double evictions = 1e30;
  for (const int entries : {1, 4, 16, 32, 64}) {
    const SharedDcoh run({.filter = {{"entries", entries}}});
    EXPECT_LT(run({"simulated_time_ns"}), time) << entries;
    time = run({"simulated_time_ns"});
    // With fewer than the requests under way, requests to one line wait for each other and share an entry.
    if (entries > 16) {
      EXPECT_LT(run.of_agent("filter_evictions"), evictions) << entries;
    }
    evictions = run.of_agent("filter_evictions");
  }
  EXPECT_EQ(evictions, 0);  // 64 lines
}

TEST(CoherenceKnobs, BlocksTakeSeveralLinesWithOneSnoop) {
  const SharedDcoh one({.filter = {{"entries", 32}, {"policy", "longest-block"}}});
  const SharedDcoh four(
      {.filter = {{"entries", 32}, {"policy", "longest-block"}, {"block", 4}, {"alignment", "free"}}});
  const double lines_of_one = one.of_agent("filter_evictions");
  EXPECT_GT(lines_of_one, 0);
  EXPECT_GT(four.of_agent("filter_evictions"), lines_of_one);
  EXPECT_LT(four.of_agent("bisnp_sent") / four.of_agent("lines_invalidated"),
            one.of_agent("bisnp_sent") / one.of_agent("lines_invalidated"));
}

TEST(CoherenceKnobs, AFewMissRegistersMakeRequestsWait) {
  const SharedDcoh one({.cache = {{"mshrs", 1}}});
  const SharedDcoh many({});
  EXPECT_GT(one.segment("mshr"), 2 * many.segment("mshr"));
  EXPECT_GT(one({"simulated_time_ns"}), many({"simulated_time_ns"}));
}

TEST(CoherenceKnobs, FillsAndClearingHoldUpTheCache) {
  const SharedDcoh plain({});
  const SharedDcoh fills({.cache = {{"fill_time", "50ns"}}});
  const SharedDcoh clears({.cache = {{"clear_time", "50ns"}}});
  EXPECT_GT(fills.segment("cache"), plain.segment("cache"));
  EXPECT_GT(clears.segment("cache"), plain.segment("cache"));
  EXPECT_GT(clears.segment("snoop"), plain.segment("snoop"));
}

TEST(CoherenceKnobs, WritesPastTheCacheFetchNothing) {
  const SharedDcoh allocate({.reads = "0%"});
  const SharedDcoh past({.cache = {{"write_allocate", false}}, .reads = "0%"});
  EXPECT_GT(allocate({"per_memory", "mem", "reads"}), 0);
  EXPECT_EQ(past({"per_memory", "mem", "reads"}), 0);
  EXPECT_EQ(past.of_agent("lines_invalidated"), 0);
}

TEST(CoherenceKnobs, ReadsForSharedCopiesUpgradeMore) {
  const SharedDcoh any({});
  const SharedDcoh shared({.cache = {{"read_state", "shared"}}});
  const auto upgrades = [](const SharedDcoh& run) {
    return run({"per_requester", "h0", "upgrades"}) + run({"per_requester", "h1", "upgrades"});
  };
  EXPECT_GT(upgrades(shared), upgrades(any));
}

TEST(CoherenceKnobs, NoticesKeepTheFilterAsSmallAsTheCaches) {
  const SharedDcoh silent({.cache = {{"size", "512B"}}});
  const SharedDcoh notified({.cache = {{"size", "512B"}, {"clean_evictions", "notified"}}});
  EXPECT_EQ(silent({"per_requester", "h0", "clean_evictions"}), 0);
  EXPECT_GT(notified({"per_requester", "h0", "clean_evictions"}), 0);
  EXPECT_LT(notified.of_agent("filter_entries"), silent.of_agent("filter_entries"));
  EXPECT_LT(notified.of_agent("lines_invalidated"), silent.of_agent("lines_invalidated"));
}

std::string dcoh_refusal(const DcohKnobs& knobs) {
  try {
    const SharedDcoh run(knobs);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
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
  try {
    Running run(system);
    run.to_end();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
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
