// Memory kept coherent by bias (HDM-D): what each flow costs, to the picosecond, and what each parameter does.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::Running;
using test::System;

constexpr Time kProcess = 10_ns;
constexpr Time kCache = 12_ns;
constexpr Time kWay = 50_ns;  // between a host and the device
constexpr Time kLookup = 7_ns;
constexpr Time kRead = 40_ns + 45_ns;
constexpr Time kWrite = 40_ns + 60_ns;
/// From a request's start until the agent has looked it up: of a host, and of the device itself.
constexpr Time kThere = kProcess + kCache + kWay + kLookup;
constexpr Time kInside = kProcess + kCache + kLookup;
/// The device asks a host for a line; the host writes a modified one back first.
constexpr Time kAsk = kWay + kCache + kWay;
constexpr Time kWriteBack = kWay + kLookup + kWrite + kWay;

constexpr AccessKind kR = AccessKind::kRead;
constexpr AccessKind kW = AccessKind::kWrite;
constexpr int kDevice = -1;

/// An access of a host, or of the device.
struct Step {
  int host;
  std::uint64_t address;
  AccessKind kind;
};

struct Options {
  Value::Map bias;
  int hosts = 1;
  bool cached = true;  // the device has a cache
};

/// A device with memory, and hosts, whose accesses come far apart: the latency of each, in the order of the steps.
struct Played {
  explicit Played(const std::vector<Step>& steps, const Options& options = {}) {
    System system;
    const Value::Map cache{{"access_time", "12ns"}, {"ways", 0}, {"size", "1KiB"}};
    Value::Map bias{{"lookup_time", "7ns"}};
    for (const auto& each : options.bias) bias.emplace_back(each);
    const Value::Map memory{
        {"capacity", "1MiB"},
        {"controller_time", "40ns"},
        {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "60ns"}}},
        {"bias", bias}};
    Value::Map device{{"process_time", "10ns"}, {"memory", memory}};
    if (options.cached) device.emplace_back("cache", cache);
    system.device("dev", "accelerator", device).device("sw", "switch", {{"switching_time", "0ns"}});
    system.link("dev", "sw", {{"port_delay", "25ns"}});
    system.device("other", "memory", {{"capacity", "1MiB"}}).link("sw", "other");
    const auto replay = [&](const std::string& name, int who) {
      std::vector<Access> accesses;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].host != who) continue;
        Access access = test::access_to(steps[i].address, steps[i].kind);
        access.timed = true;
        access.timestamp = 10_us * static_cast<std::int64_t>(i);
        accesses.push_back(access);
      }
      // A last access of each to other memory, so that the window stays open for the steps of all.
      Access last = test::access_to(0x100000 + kLineBytes * static_cast<std::uint64_t>(who + 1));
      last.timed = true;
      last.timestamp = 10_us * static_cast<std::int64_t>(steps.size());
      accesses.push_back(last);
      system.replay(name, accesses, {{"replay", "timestamps"}});
    };
    replay("dev", kDevice);
    for (int h = 0; h < options.hosts; ++h) {
      const std::string name = "h" + std::to_string(h);
      system.device(name, "host", {{"process_time", "10ns"}, {"cache", cache}});
      system.link(name, "sw", {{"port_delay", "0ns"}});
      replay(name, h);
    }
    system.region({"dev"}, {{"coherence", "hdm-d"}}).region({"other"});
    run = std::make_unique<Running>(system);
    run->to_end();
    latency.resize(steps.size() + 1);
    for (std::size_t row = 0; row < run->table().rows(); ++row)
      latency[static_cast<std::size_t>(run->created(row).ps() / (10_us).ps())] = run->latency(row);
    latency.pop_back();
  }
  double of_agent(std::string_view measure) const { return run->number({"per_home", "dev", measure}); }

  std::unique_ptr<Running> run;
  std::vector<Time> latency;
};

const Options kNeverFlips{.bias = {{"flip_after", 0}}};

TEST(Bias, TheDeviceUsesItsPagesWithoutAskingAnybody) {
  const Played played({{kDevice, 0, kR}, {kDevice, 64, kW}, {kDevice, 0, kW}, {kDevice, 64, kR}},
                      {.bias = {{"initial", "device"}}});
  EXPECT_EQ(played.latency[0], kInside + kRead);
  EXPECT_EQ(played.latency[1], kInside + kRead);
  EXPECT_EQ(played.latency[2], kProcess + kCache);
  EXPECT_EQ(played.latency[3], kProcess + kCache);
  EXPECT_EQ(played.of_agent("snoops_sent"), 0);
}

TEST(Bias, AHostReadsOverTheLink) {
  const Played played({{0, 0, kR}, {0, 0, kW}, {0, 64, kW}, {0, 64, kR}});
  EXPECT_EQ(played.latency[0], kThere + kRead + kWay);
  EXPECT_EQ(played.latency[1], kProcess + kCache);  // its copy was exclusive
  EXPECT_EQ(played.latency[2], kThere + kRead + kWay);
  EXPECT_EQ(played.latency[3], kProcess + kCache);
}

TEST(Bias, OfAPageOfTheHostTheDeviceAsksForEachLine) {
  for (const AccessKind held : {kR, kW}) {
    for (const AccessKind wanted : {kR, kW}) {
      const Played played(
          {{0, 0, held}, {kDevice, 0, wanted}, {kDevice, 0, kR}, {kDevice, 64, kR}, {0, 0, kR}}, kNeverFlips);
      EXPECT_EQ(played.latency[1], kInside + kAsk + (held == kW ? kWriteBack : 0_ns) + kRead);
      EXPECT_EQ(played.latency[2], kProcess + kCache);
      EXPECT_EQ(played.latency[3],
                kInside + kAsk + kRead);  // the host has nothing of it, which it has to say
      // After a read both share the line; after a write the host fetches it from the device's cache.
      const Time taken = kCache + kLookup + kWrite;
      EXPECT_EQ(played.latency[4], wanted == kR ? kProcess + kCache : kThere + taken + kRead + kWay);
      EXPECT_EQ(played.of_agent("bias_flips_to_device"), 0);
    }
  }
}

TEST(Bias, AnUpgradeOfASharedLineAsksTheHost) {
  const Played played({{0, 0, kR}, {kDevice, 0, kR}, {kDevice, 0, kW}, {0, 0, kW}, {kDevice, 64, kR}},
                      kNeverFlips);
  EXPECT_EQ(played.latency[2], kInside + kAsk);
  EXPECT_EQ(played.latency[3], kThere + kCache + kLookup + kWrite + kRead + kWay);
}

TEST(Bias, AFlipTakesAllLinesOfThePageAtOnce) {
  for (const int modified : {0, 1, 3}) {
    std::vector<Step> steps;
    for (int line = 0; line < 4; ++line)
      steps.push_back({0, static_cast<std::uint64_t>(64 * line), line < modified ? kW : kR});
    steps.push_back({kDevice, 0, kR});        // flips
    steps.push_back({kDevice, 64 * 9, kW});   // another line of the page
    steps.push_back({kDevice, 4096, kR});     // another page: nobody has used it, and it flips, too
    steps.push_back({0, 64, kR});             // the host comes back
    steps.push_back({kDevice, 64 * 20, kR});  // flips again
    const Played played(steps, {.bias = {{"flip_after", 1}}});
    EXPECT_EQ(played.latency[4], kInside + kAsk + (modified > 0 ? kWriteBack : 0_ns) + kRead) << modified;
    EXPECT_EQ(played.latency[5], kInside + kRead);
    EXPECT_EQ(played.latency[6], kInside + kAsk + kRead);
    EXPECT_EQ(played.latency[7], kThere + kRead + kWay);
    EXPECT_EQ(played.latency[8], kInside + kAsk + kRead);
    EXPECT_EQ(played.of_agent("bias_flips_to_device"), 3);
    EXPECT_EQ(played.of_agent("bias_flips_to_host"), 1);
    EXPECT_EQ(played.of_agent("snoops_sent"), 3 * 64);
    EXPECT_EQ(played.run->number({"per_requester", "h0", "lines_lost"}), 5);
  }
}

TEST(Bias, ASecondHostThatCachesIsRefused) {
  Options options = kNeverFlips;
  options.hosts = 2;
  try {
    const Played played({{0, 0, kR}, {1, 64, kR}}, options);
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'h0' and 'h1' cache that of dev"), std::string::npos)
        << error.what();
  }
}

TEST(Bias, WithoutACacheTheDeviceReadsAndWritesPastTheCaches) {
  Options options = kNeverFlips;
  options.cached = false;
  const Played played({{0, 0, kW}, {kDevice, 0, kR}, {0, 0, kR}, {kDevice, 0, kW}, {0, 0, kR}}, options);
  EXPECT_EQ(played.latency[1], kInside - kCache + kAsk + kWriteBack + kRead);
  EXPECT_EQ(played.latency[2], kProcess + kCache);  // the host kept its copy
  EXPECT_EQ(played.latency[3], kInside - kCache + kAsk + kWrite);
  EXPECT_EQ(played.latency[4], kThere + kRead + kWay);
}

// --- parameters

struct Mixed {
  explicit Mixed(const Value::Map& bias, const Value::Map& filter = {}) {
    System system;
    const Value::Map cache{{"ways", 4}, {"size", "2KiB"}};
    Value::Map params = bias;
    if (!filter.empty()) params.emplace_back("filter", filter);
    system.device(
        "dev", "accelerator",
        {{"queue", 8}, {"cache", cache}, {"memory", Value::Map{{"capacity", "1MiB"}, {"bias", params}}}});
    system.device("h", "host", {{"queue", 8}, {"cache", cache}}).link("h", "dev");
    system.region({"dev"}, {{"coherence", "hdm-d"}});
    system.work("dev",
                {{"pattern", "sequential"}, {"requests", 6000}, {"footprint", "64KiB"}, {"reads", 0.5}});
    system.work("h", {{"pattern", "random"}, {"requests", 300}, {"footprint", "64KiB"}, {"rate", "1M/s"}});
    system.run_with({{"warmup", 100}});
    run = std::make_unique<Running>(system);
    run->to_end();
  }
  double of_agent(std::string_view measure) const { return run->number({"per_home", "dev", measure}); }
  double latency() const { return run->number({"per_requester", "dev", "latency_ns", "mean"}); }
  double segment(const char* name) const { return run->number({"breakdown_ns", name}); }
  std::unique_ptr<Running> run;
};

TEST(Bias, FlippingSoonerAsksForFewerLinesOneByOne) {
  const Mixed never(Value::Map{{"flip_after", 0}});
  const Mixed late(Value::Map{{"flip_after", 32}});
  const Mixed soon(Value::Map{{"flip_after", 1}});
  EXPECT_EQ(never.of_agent("bias_flips_to_device"), 0);
  EXPECT_GT(late.of_agent("bias_flips_to_device"), 0);
  EXPECT_GT(soon.of_agent("bias_flips_to_device"), late.of_agent("bias_flips_to_device"));
  EXPECT_LT(soon.latency(), late.latency());
  EXPECT_LT(late.latency(), never.latency());
}

TEST(Bias, SmallerPagesFlipMoreOftenAndWithFewerLines) {
  const Mixed small(Value::Map{{"page", "256B"}});
  const Mixed large(Value::Map{{"page", "4KiB"}});
  EXPECT_GT(small.of_agent("bias_flips_to_device"), large.of_agent("bias_flips_to_device"));
  EXPECT_LT(small.of_agent("snoops_sent") / small.of_agent("bias_flips_to_device"),
            large.of_agent("snoops_sent") / large.of_agent("bias_flips_to_device"));
}

TEST(Bias, WhatNobodyHasUsedIsTheInitialOwners) {
  const Played host({{0, 0, kR}, {kDevice, 4096, kR}}, {.bias = {{"flip_after", 0}, {"initial", "host"}}});
  const Played device({{0, 0, kR}, {kDevice, 4096, kR}},
                      {.bias = {{"flip_after", 0}, {"initial", "device"}}});
  EXPECT_EQ(host.latency[1], kInside + kAsk + kRead);
  EXPECT_EQ(device.latency[1], kInside + kRead);
}

TEST(Bias, LookupsTakeTheirTimeAndTheirTurn) {
  const Mixed plain({});
  EXPECT_GT(Mixed(Value::Map{{"lookup_time", "100ns"}}).segment("filter"), plain.segment("filter") + 50);
  EXPECT_GT(Mixed(Value::Map{{"lookup_interval", "100ns"}}).segment("filter"), plain.segment("filter"));
}

TEST(Bias, TheFilterHasTheLinesOfTheDevicesOwnCache) {
  const Mixed small(Value::Map{}, {{"entries", 16}});
  const Mixed large(Value::Map{}, {{"entries", 64}});
  EXPECT_GT(small.of_agent("filter_evictions"), large.of_agent("filter_evictions"));
  EXPECT_GT(small.latency(), large.latency());
  const Mixed lru(Value::Map{}, {{"entries", 16}});
  const Mixed lifo(Value::Map{}, {{"entries", 16}, {"policy", "lifo"}});
  EXPECT_NE(lru.latency(), lifo.latency());
  const Mixed narrow(Value::Map{}, {{"entries", 64}, {"ways", 1}});
  EXPECT_EQ(narrow.of_agent("filter_evictions_capacity"), 0);
}

std::string refusal(const Value::Map& memory, const std::vector<std::string>& to) {
  System system;
  Value::Map params{{"capacity", "1MiB"}};
  for (const auto& each : memory) params.emplace_back(each);
  for (const char* device : {"d0", "d1"})
    system.device(device, "accelerator", {{"memory", params}}).link(device, "sw");
  system.device("sw", "switch").device("h", "host").link("h", "sw");
  system.region(to, {{"coherence", "hdm-d"}});
  system.work("h", {{"pattern", "random"}, {"requests", 10}, {"footprint", "64KiB"}});
  try {
    Running run(system);
    run.to_end();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(Bias, WhatCannotBeIsRefusedWithTheReason) {
  const Value::Map bias{{"bias", Value::Map{}}};
  EXPECT_EQ(refusal(bias, {"d0"}), "");
  EXPECT_NE(refusal(bias, {"d0", "d1"}).find("hdm-d does not interleave"), std::string::npos);
  EXPECT_NE(refusal({}, {"d0"}).find("without a bias"), std::string::npos);
  EXPECT_NE(refusal({{"dcoh", Value::Map{}}}, {"d0"}).find("without a bias"), std::string::npos);
  EXPECT_NE(refusal({{"dcoh", Value::Map{}}, {"bias", Value::Map{}}}, {"d0"}).find("not both"),
            std::string::npos);
  EXPECT_NE(refusal({{"bias", Value::Map{{"page", "4MiB"}}}}, {"d0"}).find("a power of two from 64B to 2MiB"),
            std::string::npos);
}

}  // namespace
}  // namespace cxloom
