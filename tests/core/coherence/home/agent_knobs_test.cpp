// Each parameter of a home agent changes what it says, in the direction that it says; and what cannot be is refused.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

struct HomeKnobs {
  Value::Map agent;
  Value::Map filter;
  Value::Map cache;
  const char* reads = "50%";
};

/// A host and two devices that share 64 lines of the host's memory, all measures of a run.
class SharedHome {
 public:
  explicit SharedHome(const HomeKnobs& knobs) : run_(system_of(knobs)) { run_.to_end(); }
  double operator()(const std::vector<std::string_view>& keys) const { return run_.number(keys); }
  double time() const { return run_.number({"simulated_time_ns"}); }
  double latency() const { return run_.number({"latency_ns", "mean"}); }
  double segment(const char* name) const { return run_.number({"breakdown_ns", name}); }
  double of_agent(const char* name) const { return run_.number({"per_home", "host", name}); }

 private:
  static SpecBuilder system_of(const HomeKnobs& knobs) {
    SpecBuilder system;
    Value::Map cache = knobs.cache;
    cache.emplace_back("size", "2KiB");
    cache.emplace_back("ways", 4);
    Value::Map agent = knobs.agent;
    Value::Map filter = knobs.filter;
    if (!Value(filter).find("entries")) filter.emplace_back("entries", 64);
    agent.emplace_back("filter", filter);
    const Value::Map memory{{"capacity", "1MiB"},
                            {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}};
    system.device("host", "host",
                  {{"queue", 16}, {"cache", cache}, {"memory", memory}, {"home_agent", agent}});
    system.device("sw", "switch").link("host", "sw");
    system.region({"host"}, {{"coherence", "hdm-h"}});
    const Value::Map work{
        {"pattern", "random"}, {"reads", knobs.reads}, {"requests", 4000}, {"footprint", "4KiB"}};
    system.work("host", work);
    for (const char* device : {"d0", "d1"}) {
      system.device(device, "accelerator", {{"queue", 16}, {"cache", cache}}).link(device, "sw");
      system.work(device, work);
    }
    return system.run_with({{"warmup", 500}});
  }

  mutable Running run_;
};

TEST(HomeAgentKnobs, LookupTimeIsPaidByEveryRequest) {
  const SharedHome fast({.agent = {{"lookup_time", "1ns"}}});
  const SharedHome slow({.agent = {{"lookup_time", "100ns"}}});
  EXPECT_GT(slow.segment("filter"), fast.segment("filter") + 50);
  EXPECT_GT(slow.latency(), fast.latency());
}

TEST(HomeAgentKnobs, LookupIntervalBoundsTheRate) {
  const SharedHome free({});
  const SharedHome bound({.agent = {{"lookup_interval", "100ns"}}});
  const double lookups = bound.of_agent("filter_hits") + bound.of_agent("filter_misses");
  EXPECT_GE(bound.time(), 100.0 * (lookups - 64));
  EXPECT_LT(free.time(), bound.time());
}

TEST(HomeAgentKnobs, MoreTransactionsAreNoSlower) {
  double before = 1e30;
  for (const int transactions : {1, 2, 4, 8, 32}) {
    const SharedHome run({.agent = {{"transactions", transactions}}});
    EXPECT_LT(run.time(), before * 1.01) << transactions;
    before = run.time();
  }
  const SharedHome one({.agent = {{"transactions", 1}}});
  const SharedHome all({});
  EXPECT_GT(one.segment("home_queue"), all.segment("home_queue"));
}

TEST(HomeAgentKnobs, MoreEntriesAreFaster) {
  double time = 1e30;
  for (const int entries : {1, 4, 16, 32, 64}) {
    const SharedHome run({.filter = {{"entries", entries}}});
    EXPECT_LT(run.time(), time) << entries;
    time = run.time();
    EXPECT_EQ(run.of_agent("filter_evictions") > 0, entries < 64) << entries;
  }
}

TEST(HomeAgentKnobs, NarrowSetsEvictWithRoomElsewhere) {
  const SharedHome wide({.filter = {{"entries", 96}}});
  const SharedHome narrow({.filter = {{"entries", 96}, {"ways", 1}}});
  EXPECT_EQ(wide.of_agent("filter_evictions"), 0);
  EXPECT_EQ(narrow.of_agent("filter_evictions_capacity"), 0);
}

TEST(HomeAgentKnobs, ThePolicyChoosesTheVictims) {
  const SharedHome lru({.filter = {{"entries", 32}, {"policy", "lru"}}});
  const SharedHome lifo({.filter = {{"entries", 32}, {"policy", "lifo"}}});
  EXPECT_NE(lru.of_agent("filter_evictions"), lifo.of_agent("filter_evictions"));
}

TEST(HomeAgentKnobs, NoticesKeepTheFilterAsSmallAsTheCaches) {
  const SharedHome silent({});
  const SharedHome notified({.cache = {{"clean_evictions", "notified"}}});
  EXPECT_EQ(silent({"per_requester", "d0", "clean_evictions"}), 0);
  EXPECT_GT(notified({"per_requester", "d0", "clean_evictions"}), 0);
  EXPECT_LT(notified.of_agent("lines_invalidated"), silent.of_agent("lines_invalidated"));
}

TEST(HomeAgentKnobs, WritesPastTheCacheFetchNothing) {
  const SharedHome past({.cache = {{"write_allocate", false}}, .reads = "0%"});
  EXPECT_EQ(past.of_agent("lines_invalidated"), 0);
  EXPECT_EQ(past.of_agent("filter_entries"), 0);
  EXPECT_EQ(past({"per_requester", "d0", "write_backs"}), 0);
}

/// What a region of the host's memory, or of a memory's, is refused with.
std::string home_refusal(const Value::Map& host, const Value::Map& region, const std::string& to,
                         const Value::Map& link = {}) {
  SpecBuilder system;
  Value::Map params{{"cache", Value::Map{}}};
  for (const auto& each : host) params.emplace_back(each);
  system.device("host", "host", params).device("sw", "switch");
  system.device("mem", "memory", {{"capacity", "1MiB"}, {"dcoh", Value::Map{}}});
  system.device("d", "accelerator", {{"cache", Value::Map{}}});
  system.link("host", "sw", link).link("sw", "mem").link("sw", "d");
  system.region({to}, region);
  system.work("d", {{"pattern", "random"}, {"requests", 10}, {"footprint", "64KiB"}});
  try {
    Running run(system);
    run.to_end();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(HomeAgentKnobs, ARegionNeedsAHomeThatSpeaksItsProtocol) {
  const Value::Map memory{{"memory", Value::Map{{"capacity", "1MiB"}}}};
  Value::Map all = memory;
  all.emplace_back("home_agent", Value::Map{});
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_EQ(home_refusal(all, {{"coherence", "hdm-h"}}, "host"), "");
  EXPECT_EQ(home_refusal(all, {{"coherence", "hdm-h"}, {"home", "host"}}, "mem"), "");
  EXPECT_EQ(home_refusal(all, {}, "host"), "");  // the home agent lets pass what nobody keeps coherent
  EXPECT_EQ(home_refusal({{"home_agent", Value::Map{}}}, {{"coherence", "hdm-h"}, {"home", "host"}}, "mem"),
            "");
  EXPECT_TRUE(has(home_refusal(memory, {{"coherence", "hdm-h"}}, "host"), "without a home agent"));
  EXPECT_TRUE(has(home_refusal(all, {{"coherence", "hdm-h"}}, "mem"), "without a home agent"));
  EXPECT_TRUE(
      has(home_refusal(all, {{"coherence", "hdm-h"}, {"home", "mem"}}, "mem"), "without a home agent"));
  EXPECT_TRUE(has(home_refusal(all, {{"coherence", "hdm-db"}}, "host"), "without a coherency agent"));
  EXPECT_TRUE(has(home_refusal(all, {{"coherence", "hdm-db"}, {"home", "host"}}, "mem"),
                  "without a coherency agent"));
  // 68B flits carry CXL.cache; what fails requests does not go with coherent caches.
  EXPECT_EQ(home_refusal(all, {{"coherence", "hdm-h"}}, "host", {{"phy", "pcie5-x16"}, {"flit", "68B"}}), "");
  EXPECT_TRUE(has(home_refusal(all, {{"coherence", "hdm-h"}}, "host",
                               {{"phy", "pcie6-x16"},
                                {"outage", Value::Map{{"at", "1us"}, {"length", "1us"}, {"fail", true}}}}),
                  "a link that fails requests"));
}

TEST(HomeAgentKnobs, ALinkThatFailsRequestsBetweenHomeAndMemoryIsRefused) {
  for (const bool by_host : {true, false}) {
    SpecBuilder system;
    system.device("host", "host", {{"home_agent", Value::Map{}}}).device("agent", "dcoh");
    system.device("d", "accelerator", {{"cache", Value::Map{}}}).device("sw", "switch");
    system.device("mem", "memory", {{"capacity", "1MiB"}});
    for (const char* device : {"host", "agent", "d"}) system.link(device, "sw");
    system.link(
        "sw", "mem",
        {{"phy", "pcie6-x16"}, {"outage", Value::Map{{"at", "1us"}, {"length", "1us"}, {"fail", true}}}});
    system.region({"mem"},
                  {{"coherence", by_host ? "hdm-h" : "hdm-db"}, {"home", by_host ? "host" : "agent"}});
    system.work("d", {{"pattern", "random"}, {"requests", 10}, {"footprint", "64KiB"}});
    try {
      Running run(system);
      FAIL() << "not refused";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("a link that fails requests"), std::string::npos);
    }
  }
}

TEST(HomeAgentKnobs, WhatSnoopsTakeIsWrittenBackUnderBothProtocols) {
  const auto run = [](bool by_host) {
    SpecBuilder system;
    system.device("host", "host", {{"home_agent", Value::Map{}}})
        .device("agent", "dcoh")
        .device("sw", "switch");
    system.device("mem", "memory", {{"capacity", "1MiB"}});
    for (const char* device : {"host", "agent", "mem"}) system.link(device, "sw");
    for (const char* device : {"d0", "d1"}) {
      system.device(device, "accelerator", {{"cache", Value::Map{{"size", "4KiB"}}}}).link(device, "sw");
      system.work(device,
                  {{"pattern", "random"}, {"reads", "0%"}, {"requests", 2000}, {"footprint", "1KiB"}});
    }
    system.region({"mem"},
                  {{"coherence", by_host ? "hdm-h" : "hdm-db"}, {"home", by_host ? "host" : "agent"}});
    auto ran = std::make_unique<Running>(system);
    ran->to_end();
    const double write_backs = ran->number({"write_backs"});
    // Each was modified; those on their way at the end of the window are in one count and not in the other.
    EXPECT_NEAR(write_backs, ran->number({"coherence", "lines_invalidated"}), 32) << by_host;
    return write_backs;
  };
  EXPECT_GT(run(true), 100);
  EXPECT_GT(run(false), 100);
}

}  // namespace
}  // namespace cxloom::test
