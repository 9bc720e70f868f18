// What each flow costs when nothing else is under way: the sum of its parts, to the picosecond.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/support/coherence_flows.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

/// From the home back.
constexpr Time kBack = kWay;

struct DcohStep {
  int host;
  std::uint64_t address;
  AccessKind kind;
};

struct DcohOptions {
  Value::Map cache;
  Value::Map dcoh;
  Value::Map filter;
};

/// Hosts before one coherent memory, whose accesses come far apart: the latency of each of them, in the order
/// of the steps.
struct DcohRun {
  DcohRun(int hosts, const std::vector<DcohStep>& steps, const DcohOptions& options = {}) {
    SpecBuilder system;
    Value::Map cache{{"access_time", "12ns"}, {"ways", 0}};
    for (const auto& each : options.cache) cache.emplace_back(each);
    if (!Value(cache).find("size")) cache.emplace_back("size", "1KiB");
    Value::Map dcoh{{"lookup_time", "7ns"}};
    for (const auto& each : options.dcoh) dcoh.emplace_back(each);
    if (!options.filter.empty()) dcoh.emplace_back("filter", options.filter);
    system.device("mem", "memory",
                  {{"capacity", "1MiB"},
                   {"controller_time", "40ns"},
                   {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "60ns"}}},
                   {"dcoh", dcoh}});
    for (int h = 0; h < hosts; ++h) {
      const std::string name = "h" + std::to_string(h);
      system.device(name, "host", {{"process_time", "10ns"}, {"cache", cache}});
      system.link(name, "bus", {{"port_delay", "25ns"}});
      std::vector<Access> accesses;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].host != h) continue;
        Access access = access_to(steps[i].address, steps[i].kind);
        access.timed = true;
        access.timestamp = 10_us * static_cast<std::int64_t>(i);
        accesses.push_back(access);
      }
      if (hosts > 1) {  // a last access of each, so that the window stays open for the steps of all
        Access last = access_to(0x10000 + kLineBytes * static_cast<std::uint64_t>(h));
        last.timed = true;
        last.timestamp = 10_us * static_cast<std::int64_t>(steps.size());
        accesses.push_back(last);
      }
      system.replay(name, accesses, {{"replay", "timestamps"}});
    }
    system.device("bus", "bus", {{"bus_time", "0ns"}});
    system.link("bus", "mem", {{"port_delay", "0ns"}});
    system.region({"mem"}, {{"coherence", "hdm-db"}});
    run = std::make_unique<Running>(system);
    run->to_end();
    latency.resize(steps.size() + 1);
    rows.resize(steps.size() + 1);
    for (std::size_t row = 0; row < run->table().rows(); ++row) {
      const auto step = static_cast<std::size_t>(run->created(row).ps() / (10_us).ps());
      latency[step] = run->latency(row);
      rows[step] = row;
    }
    latency.pop_back();
  }
  std::unique_ptr<Running> run;
  std::vector<Time> latency;
  std::vector<std::size_t> rows;
};

TEST(CoherenceLatency, HitsEndInTheCache) {
  const DcohRun played(1, {{0, 0, R}, {0, 0, R}, {0, 0, W}, {0, 0, W}});
  EXPECT_EQ(played.latency[0], kThere + kMemoryRead + kBack);
  for (const int hit : {1, 2, 3}) EXPECT_EQ(played.latency[hit], kProcess + kCache) << hit;
}

TEST(CoherenceLatency, ACleanMissOfAnotherHostWaitsForTheOwnersAnswer) {
  const Time snoop = kWay + kCache + kWay;
  const DcohRun played(2, {{0, 0, R}, {1, 0, R}, {0, 0, R}, {1, 0, R}});
  EXPECT_EQ(played.latency[1], kThere + snoop + kMemoryRead + kBack);
  EXPECT_EQ(played.latency[2], kProcess + kCache);  // it kept a shared copy
  EXPECT_EQ(played.latency[3], kProcess + kCache);
}

TEST(CoherenceLatency, ADirtyMissWaitsForTheWriteBackToo) {
  const Time write_back = kWay + kLookup + kMemoryWrite + kWay;
  const Time snoop = kWay + kCache + write_back + kWay;
  for (const AccessKind second : {R, W}) {
    const DcohRun played(2, {{0, 0, W}, {1, 0, second}});
    EXPECT_EQ(played.latency[0], kThere + kMemoryRead + kBack);
    EXPECT_EQ(played.latency[1], kThere + snoop + kMemoryRead + kBack);
    EXPECT_EQ(played.run->segment(played.rows[1], Segment::kMedia), kRead + kWrite);
    EXPECT_EQ(played.run->segment(played.rows[1], Segment::kFilter), kLookup * 2);
    EXPECT_EQ(played.run->segment(played.rows[1], Segment::kSnoop), kCache);
  }
}

TEST(CoherenceLatency, AnUpgradeWaitsForTheSharersAndMovesNoData) {
  for (const int hosts : {2, 4}) {
    std::vector<DcohStep> steps;
    for (int h = 0; h < hosts; ++h) steps.push_back({h, 0, R});
    steps.push_back({0, 0, W});
    const DcohRun played(hosts, steps);
    const Time snoop = kWay + kCache + kWay;
    EXPECT_EQ(played.latency.back(), kThere + snoop + kBack) << hosts;
    EXPECT_EQ(played.run->number({"per_requester", "h0", "upgrades"}), 1.0);
    EXPECT_EQ(played.run->number({"coherence", "lines_invalidated"}), hosts - 1.0);
    EXPECT_EQ(played.run->number({"coherence", "lines_invalidated_live"}), hosts - 1.0);
  }
}

TEST(CoherenceLatency, AReadForASharedCopyMakesTheFirstWriteAsk) {
  for (const bool shared : {false, true}) {
    DcohOptions options;
    if (shared) options.cache = {{"read_state", "shared"}};
    const DcohRun played(1, {{0, 0, R}, {0, 0, W}}, options);
    EXPECT_EQ(played.latency[1], shared ? kThere + kBack : kProcess + kCache);
  }
}

TEST(CoherenceLatency, AFullFilterTakesALineBackFirst) {
  DcohOptions options;
  options.filter = {{"entries", 1}};
  for (const bool dirty : {false, true}) {
    const DcohRun played(1, {{0, 0, dirty ? W : R}, {0, 64, R}, {0, 0, R}}, options);
    const Time write_back = dirty ? kWay + kLookup + kMemoryWrite + kWay : 0_ns;
    const Time snoop = kWay + kCache + write_back + kWay;
    EXPECT_EQ(played.latency[1], kThere + snoop + kMemoryRead + kBack);
    EXPECT_EQ(played.latency[2], kThere + kWay + kCache + kWay + kMemoryRead + kBack);
    EXPECT_EQ(played.run->number({"coherence", "filter_evictions"}), 2.0);
    EXPECT_EQ(played.run->number({"coherence", "bisnp_sent"}), 2.0);
  }
}

TEST(CoherenceLatency, AFullSetEvictsFromAFilterWithRoom) {
  DcohOptions options;
  options.filter = {{"entries", 4}, {"ways", 1}};
  const DcohRun played(1, {{0, 0, R}, {0, 64, R}, {0, 256, R}}, options);  // lines 0 and 4 share a set
  EXPECT_EQ(played.latency[2], kThere + kWay + kCache + kWay + kMemoryRead + kBack);
  EXPECT_EQ(played.run->number({"coherence", "filter_evictions_conflict"}), 1.0);
  EXPECT_EQ(played.run->number({"coherence", "filter_evictions_capacity"}), 0.0);
  EXPECT_EQ(played.run->number({"coherence", "filter_entries"}), 2.0);
}

TEST(CoherenceLatency, ClearingALineTakesItsTime) {
  DcohOptions options;
  options.cache = {{"clear_time", "30ns"}};
  const DcohRun played(2, {{0, 0, R}, {1, 0, W}, {0, 0, R}}, options);
  EXPECT_EQ(played.latency[1], kThere + kWay + kCache + 30_ns + kWay + kMemoryRead + kBack);
  // A snoop that leaves a copy clears nothing.
  const Time write_back = kWay + kLookup + kMemoryWrite + kWay;
  EXPECT_EQ(played.latency[2], kThere + kWay + kCache + write_back + kWay + kMemoryRead + kBack);
}

TEST(CoherenceLatency, FalseSharingSendsTheLineToAndFro) {
  for (const int hosts : {2, 3, 4}) {
    std::vector<DcohStep> steps;
    for (int i = 0; i < 3 * hosts; ++i)
      steps.push_back({i % hosts, static_cast<std::uint64_t>(8 * (i % hosts)), W});
    const DcohRun played(hosts, steps);
    const Time write_back = kWay + kLookup + kMemoryWrite + kWay;
    for (std::size_t i = 1; i < steps.size(); ++i) {
      EXPECT_EQ(played.latency[i], kThere + kWay + kCache + write_back + kWay + kMemoryRead + kBack) << i;
    }
  }
}

TEST(CoherenceLatency, NoticesOfCleanLinesSpareSnoopsInVain) {
  DcohOptions options;
  options.filter = {{"entries", 2}};
  for (const bool notified : {false, true}) {
    options.cache = {{"size", "64B"}, {"clean_evictions", notified ? "notified" : "silent"}};
    const DcohRun played(1, {{0, 0, R}, {0, 64, R}, {0, 128, R}}, options);
    const Time snoop = notified ? 0_ns : kWay + kCache + kWay;
    EXPECT_EQ(played.latency[2], kThere + snoop + kMemoryRead + kBack) << notified;
    EXPECT_EQ(played.run->number({"coherence", "lines_invalidated"}), notified ? 0.0 : 1.0);
    EXPECT_EQ(played.run->number({"coherence", "lines_invalidated_live"}), 0.0);
  }
}

TEST(CoherenceLatency, AHitCostsTheLookupsUpToItsLevel) {
  DcohOptions options;
  // One line, then two, then four: line 0 goes further back with each that follows.
  options.cache = {
      {"size", "64B"},
      {"levels", Value::List{Value::Map{{"size", "128B"}, {"ways", 0}, {"access_time", "5ns"}},
                             Value::Map{{"size", "256B"}, {"ways", 0}, {"access_time", "20ns"}}}}};
  const DcohRun played(1, {{0, 0, R}, {0, 0, R}, {0, 64, R}, {0, 0, R}, {0, 64, R}, {0, 128, R}, {0, 0, R}},
                       options);
  const Time miss = kProcess + kCache + 5_ns + 20_ns + kWay + kLookup + kMemoryRead + kBack;
  EXPECT_EQ(played.latency[0], miss);
  EXPECT_EQ(played.latency[1], kProcess + kCache);
  EXPECT_EQ(played.latency[2], miss);
  EXPECT_EQ(played.latency[3], kProcess + kCache + 5_ns);
  EXPECT_EQ(played.latency[4], kProcess + kCache + 5_ns);
  EXPECT_EQ(played.latency[5], miss);
  EXPECT_EQ(played.latency[6], kProcess + kCache + 5_ns + 20_ns);
  const Value summary = played.run->summary();
  const Value* levels = summary.find("per_requester")->find("h0")->find("cache_levels");
  ASSERT_TRUE(levels && levels->as_list());
  const std::vector<std::pair<int, int>> expected{{7, 1}, {6, 2}, {4, 1}};  // lookups, hits
  for (std::size_t level = 0; level < 3; ++level) {
    const Value& each = (*levels->as_list())[level];
    EXPECT_EQ(*each.find("lookups")->as_integer(), expected[level].first) << level;
    EXPECT_EQ(*each.find("hits")->as_integer(), expected[level].second) << level;
  }
}

TEST(CoherenceLatency, WhatLeavesAnInclusiveLevelLeavesTheNearerOnes) {
  for (const bool inclusive : {false, true}) {
    DcohOptions options;
    options.cache = {
        {"size", "128B"},
        {"levels", Value::List{Value::Map{
                       {"size", "64B"}, {"ways", 1}, {"access_time", "5ns"}, {"inclusive", inclusive}}}}};
    const DcohRun played(1, {{0, 0, W}, {0, 64, R}, {0, 0, R}}, options);
    const Time full = kProcess + kCache + 5_ns + kWay + kLookup + kMemoryRead + kBack;
    EXPECT_EQ(played.latency[2], inclusive ? full : kProcess + kCache);
    EXPECT_EQ(played.run->number({"per_requester", "h0", "write_backs"}), inclusive ? 1.0 : 0.0);
  }
}

}  // namespace
}  // namespace cxloom::test
