// Memory kept coherent by bias (HDM-D): what each flow costs, to the picosecond, and what each parameter
// does.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/support/coherence_flows.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr int kDevice = -1;

/// An access of a host, or of the device.
struct BiasStep {
  int host;
  std::uint64_t address;
  AccessKind kind;
};

struct BiasOptions {
  Value::Map bias;
  int hosts = 1;
  bool cached = true;  // the device has a cache
};

/// A device with memory, and hosts, whose accesses come far apart: the latency of each, in the order of the
/// steps.
struct BiasRun {
  explicit BiasRun(const std::vector<BiasStep>& steps, const BiasOptions& options = {}) {
    SpecBuilder system;
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
        Access access = access_to(steps[i].address, steps[i].kind);
        access.timed = true;
        access.timestamp = 10_us * static_cast<std::int64_t>(i);
        accesses.push_back(access);
      }
      // A last access of each to other memory, so that the window stays open for the steps of all.
      Access last = access_to(0x100000 + kLineBytes * static_cast<std::uint64_t>(who + 1));
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

const BiasOptions kNeverFlips{.bias = {{"flip_after", 0}}};

TEST(Bias, TheDeviceUsesItsPagesWithoutAskingAnybody) {
  const BiasRun played({{kDevice, 0, R}, {kDevice, 64, W}, {kDevice, 0, W}, {kDevice, 64, R}},
                       {.bias = {{"initial", "device"}}});
  EXPECT_EQ(played.latency[0], kInside + kMemoryRead);
  EXPECT_EQ(played.latency[1], kInside + kMemoryRead);
  EXPECT_EQ(played.latency[2], kProcess + kCache);
  EXPECT_EQ(played.latency[3], kProcess + kCache);
  EXPECT_EQ(played.of_agent("snoops_sent"), 0);
}

TEST(Bias, AHostReadsOverTheLink) {
  const BiasRun played({{0, 0, R}, {0, 0, W}, {0, 64, W}, {0, 64, R}});
  EXPECT_EQ(played.latency[0], kThere + kMemoryRead + kWay);
  EXPECT_EQ(played.latency[1], kProcess + kCache);  // its copy was exclusive
  EXPECT_EQ(played.latency[2], kThere + kMemoryRead + kWay);
  EXPECT_EQ(played.latency[3], kProcess + kCache);
}

TEST(Bias, OfAPageOfTheHostTheDeviceAsksForEachLine) {
  for (const AccessKind held : {R, W}) {
    for (const AccessKind wanted : {R, W}) {
      const BiasRun played({{0, 0, held}, {kDevice, 0, wanted}, {kDevice, 0, R}, {kDevice, 64, R}, {0, 0, R}},
                           kNeverFlips);
      EXPECT_EQ(played.latency[1], kInside + kSnoop + (held == W ? kWriteBack : 0_ns) + kMemoryRead);
      EXPECT_EQ(played.latency[2], kProcess + kCache);
      EXPECT_EQ(played.latency[3],
                kInside + kSnoop + kMemoryRead);  // the host has nothing of it, which it has to say
      // After a read both share the line; after a write the host fetches it from the device's cache.
      const Time taken = kCache + kLookup + kMemoryWrite;
      EXPECT_EQ(played.latency[4], wanted == R ? kProcess + kCache : kThere + taken + kMemoryRead + kWay);
      EXPECT_EQ(played.of_agent("bias_flips_to_device"), 0);
    }
  }
}

TEST(Bias, AnUpgradeOfASharedLineAsksTheHost) {
  const BiasRun played({{0, 0, R}, {kDevice, 0, R}, {kDevice, 0, W}, {0, 0, W}, {kDevice, 64, R}},
                       kNeverFlips);
  EXPECT_EQ(played.latency[2], kInside + kSnoop);
  EXPECT_EQ(played.latency[3], kThere + kCache + kLookup + kMemoryWrite + kMemoryRead + kWay);
}

TEST(Bias, AFlipTakesAllLinesOfThePageAtOnce) {
  for (const int modified : {0, 1, 3}) {
    std::vector<BiasStep> steps;
    for (int line = 0; line < 4; ++line)
      steps.push_back({0, static_cast<std::uint64_t>(64 * line), line < modified ? W : R});
    steps.push_back({kDevice, 0, R});        // flips
    steps.push_back({kDevice, 64 * 9, W});   // another line of the page
    steps.push_back({kDevice, 4096, R});     // another page: nobody has used it, and it flips, too
    steps.push_back({0, 64, R});             // the host comes back
    steps.push_back({kDevice, 64 * 20, R});  // flips again
    const BiasRun played(steps, {.bias = {{"flip_after", 1}}});
    EXPECT_EQ(played.latency[4], kInside + kSnoop + (modified > 0 ? kWriteBack : 0_ns) + kMemoryRead)
        << modified;
    EXPECT_EQ(played.latency[5], kInside + kMemoryRead);
    EXPECT_EQ(played.latency[6], kInside + kSnoop + kMemoryRead);
    EXPECT_EQ(played.latency[7], kThere + kMemoryRead + kWay);
    EXPECT_EQ(played.latency[8], kInside + kSnoop + kMemoryRead);
    EXPECT_EQ(played.of_agent("bias_flips_to_device"), 3);
    EXPECT_EQ(played.of_agent("bias_flips_to_host"), 1);
    EXPECT_EQ(played.of_agent("snoops_sent"), 3 * 64);
    EXPECT_EQ(played.run->number({"per_requester", "h0", "lines_lost"}), 5);
  }
}

TEST(Bias, ASecondHostThatCachesIsRefused) {
  BiasOptions options = kNeverFlips;
  options.hosts = 2;
  try {
    const BiasRun played({{0, 0, R}, {1, 64, R}}, options);
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'h0' and 'h1' cache that of dev"), std::string::npos)
        << error.what();
  }
}

TEST(Bias, WithoutACacheTheDeviceReadsAndWritesPastTheCaches) {
  BiasOptions options = kNeverFlips;
  options.cached = false;
  const BiasRun played({{0, 0, W}, {kDevice, 0, R}, {0, 0, R}, {kDevice, 0, W}, {0, 0, R}}, options);
  EXPECT_EQ(played.latency[1], kInside - kCache + kSnoop + kWriteBack + kMemoryRead);
  EXPECT_EQ(played.latency[2], kProcess + kCache);  // the host kept its copy
  EXPECT_EQ(played.latency[3], kInside - kCache + kSnoop + kMemoryWrite);
  EXPECT_EQ(played.latency[4], kThere + kMemoryRead + kWay);
}

// --- parameters

struct BiasMix {
  explicit BiasMix(const Value::Map& bias, const Value::Map& filter = {}) {
    SpecBuilder system;
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
  const BiasMix never(Value::Map{{"flip_after", 0}});
  const BiasMix late(Value::Map{{"flip_after", 32}});
  const BiasMix soon(Value::Map{{"flip_after", 1}});
  EXPECT_EQ(never.of_agent("bias_flips_to_device"), 0);
  EXPECT_GT(late.of_agent("bias_flips_to_device"), 0);
  EXPECT_GT(soon.of_agent("bias_flips_to_device"), late.of_agent("bias_flips_to_device"));
  EXPECT_LT(soon.latency(), late.latency());
  EXPECT_LT(late.latency(), never.latency());
}

TEST(Bias, SmallerPagesFlipMoreOftenAndWithFewerLines) {
  const BiasMix small(Value::Map{{"page", "256B"}});
  const BiasMix large(Value::Map{{"page", "4KiB"}});
  EXPECT_GT(small.of_agent("bias_flips_to_device"), large.of_agent("bias_flips_to_device"));
  EXPECT_LT(small.of_agent("snoops_sent") / small.of_agent("bias_flips_to_device"),
            large.of_agent("snoops_sent") / large.of_agent("bias_flips_to_device"));
}

TEST(Bias, WhatNobodyHasUsedIsTheInitialOwners) {
  const BiasRun host({{0, 0, R}, {kDevice, 4096, R}}, {.bias = {{"flip_after", 0}, {"initial", "host"}}});
  const BiasRun device({{0, 0, R}, {kDevice, 4096, R}}, {.bias = {{"flip_after", 0}, {"initial", "device"}}});
  EXPECT_EQ(host.latency[1], kInside + kSnoop + kMemoryRead);
  EXPECT_EQ(device.latency[1], kInside + kMemoryRead);
}

TEST(Bias, TheOneHostThatCachesIsAskedBeforeItHasComeItself) {
  EXPECT_EQ(BiasRun({{kDevice, 0, R}, {0, 64, R}}, kNeverFlips).latency[0], kInside + kSnoop + kMemoryRead);
  const BiasRun flips({{kDevice, 0, R}, {kDevice, 64, R}});
  EXPECT_EQ(flips.latency[0], kInside + kSnoop + kMemoryRead);
  EXPECT_EQ(flips.latency[1], kInside + kMemoryRead);
  // The device does not know which of two it will be.
  BiasOptions options = kNeverFlips;
  options.hosts = 2;
  const BiasRun two({{kDevice, 0, R}, {1, 64, R}, {kDevice, 128, R}}, options);
  EXPECT_EQ(two.latency[0], kInside + kMemoryRead);
  EXPECT_EQ(two.latency[2], kInside + kSnoop + kMemoryRead);
}

TEST(Bias, LookupsTakeTheirTimeAndTheirTurn) {
  const BiasMix plain({});
  EXPECT_GT(BiasMix(Value::Map{{"lookup_time", "100ns"}}).segment("filter"), plain.segment("filter") + 50);
  EXPECT_GT(BiasMix(Value::Map{{"lookup_interval", "100ns"}}).segment("filter"), plain.segment("filter"));
}

TEST(Bias, TheFilterHasTheLinesOfTheDevicesOwnCache) {
  const BiasMix small(Value::Map{}, {{"entries", 16}});
  const BiasMix large(Value::Map{}, {{"entries", 64}});
  EXPECT_GT(small.of_agent("filter_evictions"), large.of_agent("filter_evictions"));
  EXPECT_GT(small.latency(), large.latency());
  const BiasMix lru(Value::Map{}, {{"entries", 16}});
  const BiasMix lifo(Value::Map{}, {{"entries", 16}, {"policy", "lifo"}});
  EXPECT_NE(lru.latency(), lifo.latency());
  const BiasMix narrow(Value::Map{}, {{"entries", 64}, {"ways", 1}});
  EXPECT_EQ(narrow.of_agent("filter_evictions_capacity"), 0);
}

std::string bias_refusal(const Value::Map& memory, const std::vector<std::string>& to) {
  SpecBuilder system;
  Value::Map params{{"capacity", "1MiB"}};
  for (const auto& each : memory) params.emplace_back(each);
  for (const char* device : {"d0", "d1"})
    system.device(device, "accelerator", {{"memory", params}}).link(device, "sw");
  system.device("sw", "switch").device("h", "host").link("h", "sw");
  system.region(to, {{"coherence", "hdm-d"}});
  system.work("h", {{"pattern", "random"}, {"requests", 10}, {"footprint", "64KiB"}});
  return refusal_of(system);
}

TEST(Bias, WhatCannotBeIsRefusedWithTheReason) {
  const Value::Map bias{{"bias", Value::Map{}}};
  EXPECT_EQ(bias_refusal(bias, {"d0"}), "");
  EXPECT_NE(bias_refusal(bias, {"d0", "d1"}).find("hdm-d does not interleave"), std::string::npos);
  EXPECT_NE(bias_refusal({}, {"d0"}).find("without a bias"), std::string::npos);
  EXPECT_NE(bias_refusal({{"dcoh", Value::Map{}}}, {"d0"}).find("without a bias"), std::string::npos);
  EXPECT_NE(bias_refusal({{"dcoh", Value::Map{}}, {"bias", Value::Map{}}}, {"d0"}).find("not both"),
            std::string::npos);
  EXPECT_NE(
      bias_refusal({{"bias", Value::Map{{"page", "4MiB"}}}}, {"d0"}).find("a power of two from 64B to 2MiB"),
      std::string::npos);
}

}  // namespace
}  // namespace cxloom::test
