// Parameters of a home agent beside those that every home has (knobs_test.cpp); and what cannot be is
// refused.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/support/home_knobs.hpp"

namespace cxloom::test {
namespace {

SharedLines with_agent(const HomeKnobs& knobs) { return {HomeIs::kAgent, knobs}; }

TEST(HomeAgentKnobs, NarrowSetsEvictWithRoomElsewhere) {
  const SharedLines wide = with_agent({.filter = {{"entries", 96}}});
  const SharedLines narrow = with_agent({.filter = {{"entries", 96}, {"ways", 1}}});
  EXPECT_EQ(wide.of_home("filter_evictions"), 0);
  EXPECT_EQ(narrow.of_home("filter_evictions_capacity"), 0);
}

TEST(HomeAgentKnobs, ThePolicyChoosesTheVictims) {
  const SharedLines lru = with_agent({.filter = {{"entries", 32}, {"policy", "lru"}}});
  const SharedLines lifo = with_agent({.filter = {{"entries", 32}, {"policy", "lifo"}}});
  EXPECT_NE(lru.of_home("filter_evictions"), lifo.of_home("filter_evictions"));
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
  return refusal_of(system);
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
    EXPECT_NE(refusal_of(system).find("a link that fails requests"), std::string::npos);
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
