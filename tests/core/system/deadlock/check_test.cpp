#include "system/deadlock/check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::Running;

/// Switches in a circle, each with a host and a memory.
test::SpecBuilder ring(std::uint64_t switches, const std::string& queueing,
                       std::optional<std::uint64_t> credits, std::uint64_t virtual_channels = 1) {
  test::SpecBuilder system;
  Value::Map link{{"bandwidth", "16GB/s"}};
  if (credits) link.emplace_back("credits", number(*credits));
  if (virtual_channels > 1) link.emplace_back("virtual_channels", number(virtual_channels));
  std::vector<std::string> memories;
  for (std::uint64_t i = 0; i < switches; ++i)
    system.device("sw" + std::to_string(i), "switch", {{"queueing", queueing}});
  for (std::uint64_t i = 0; i < switches; ++i) {
    const std::string at = "sw" + std::to_string(i);
    const std::string host = "host" + std::to_string(i);
    memories.push_back("mem" + std::to_string(i));
    system.device(host, "host", {{"queue", number(std::uint64_t{64})}});
    system.device(memories.back(), "memory");
    system.link(at, "sw" + std::to_string((i + 1) % switches), link);
    system.link(host, at, link).link(memories.back(), at, link);
    system.work(host, {{"pattern", "random"},
                       {"requests", number(std::uint64_t{300})},
                       {"reads", 0.5},
                       {"footprint", "1MiB"}});
  }
  return system.region(memories, {{"policy", "weighted"}, {"interleave", "256B"}});
}

DeadlockCheck check(const test::SpecBuilder& system) {
  const Running running(system);
  return check_deadlock(const_cast<Running&>(running).simulation().system());
}

bool finishes(const test::SpecBuilder& system) {
  try {
    Running(system).to_end();
    return true;
  } catch (const SimulationError&) {
    return false;
  }
}

TEST(DeadlockCheck, ARingWithLimitedBuffersHasACircleOfItsLinks) {
  for (const char* queueing : {"voq", "fifo"}) {
    const DeadlockCheck found = check(ring(5, queueing, 1));
    ASSERT_EQ(found.circle.size(), 5U);
    std::set<std::string> links(found.circle.begin(), found.circle.end());
    EXPECT_EQ(links.size(), 5U);
    for (const std::string& each : found.circle) {
      EXPECT_NE(each.find("sw"), std::string::npos);
      EXPECT_NE(each.find(" ("), std::string::npos) << "which class: " << each;
    }
    EXPECT_FALSE(finishes(ring(5, queueing, 1)));
  }
}

// Each of three switches is the next one's neighbour: no message goes on past one of them.
TEST(DeadlockCheck, OfThreeSwitchesEachReachesTheOthersAtOnce) {
  EXPECT_FALSE(check(ring(3, "voq", 1)).possible());
  EXPECT_TRUE(finishes(ring(3, "voq", 1)));
}

TEST(DeadlockCheck, WithoutLimitsNothingWaits) {
  const DeadlockCheck unlimited = check(ring(5, "voq", std::nullopt));
  EXPECT_EQ(unlimited.channels, 0U);
  EXPECT_FALSE(unlimited.possible());
  const DeadlockCheck outputs = check(ring(5, "output", 1));
  EXPECT_GT(outputs.channels, 0U);
  EXPECT_EQ(outputs.dependences, 0U) << "switches with queues at their outputs make room at once";
  EXPECT_FALSE(outputs.possible());
}

TEST(DeadlockCheck, CountsChannelsAndDependences) {
  test::SpecBuilder system;
  const Value::Map limited{{"credits", Value::Map{{"M2S Req", number(std::uint64_t{4})}}}};
  system.device("host", "host").device("sw", "switch", {{"queueing", "voq"}}).device("mem", "memory");
  system.link("host", "sw", limited).link("sw", "mem", limited).region({"mem"});
  system.work("host", {{"pattern", "random"}, {"requests", number(std::uint64_t{1})}});
  const DeadlockCheck found = check(system);
  EXPECT_EQ(found.channels, 4U);
  EXPECT_EQ(found.dependences, 1U) << "requests go from host to memory and nowhere else";
}

/// Requests go to the memory by `v`, and answers come back by `b`; `v` may have virtual switches.
test::SpecBuilder square(const Value::Map& of_v) {
  const Value::Map limited{{"credits", number(std::uint64_t{2})}};
  test::SpecBuilder system;
  system.device("host", "host").device("mem", "memory");
  for (const char* name : {"a", "b", "c"}) system.device(name, "switch", {{"queueing", "voq"}});
  Value::Map v{{"queueing", "voq"}};
  v.insert(v.end(), of_v.begin(), of_v.end());
  system.device("v", "switch", std::move(v));
  system.link("host", "a", limited).link("a", "v", limited).link("a", "b", limited);
  system.link("v", "c", limited).link("b", "c", limited).link("c", "mem", limited).region({"mem"});
  const Value::Map there{{"at", "a"}, {"to", Value::List{"mem"}}, {"by", Value::List{"v"}}};
  const Value::Map back{{"at", "c"}, {"to", Value::List{"host"}}, {"by", Value::List{"b"}}};
  system.run_with({{"routes", Value::List{there, back}}});
  return system.work("host", {{"pattern", "random"}, {"requests", number(std::uint64_t{1})}});
}

// Requests and writes have a turn at each of three switches, and so have the two sorts of answers. What v
// refuses comes back by a, which no other answer does.
TEST(DeadlockCheck, CountsTheErrorAnswersOfVirtualSwitches) {
  EXPECT_EQ(check(square({})).dependences, 12U);
  const Value::Map vcs{{"upstream", "a"}, {"bind", Value::List{"c"}}};
  EXPECT_EQ(check(square({{"vcs", Value::List{vcs}}})).dependences, 12U + 2U);
}

TEST(DeadlockCheck, TwoVirtualChannelsBreakTheCirclesOfARing) {
  for (const std::uint64_t switches : {5U, 8U, 13U}) {
    for (const char* queueing : {"voq", "fifo"}) {
      EXPECT_TRUE(check(ring(switches, queueing, 1)).possible());
      EXPECT_FALSE(check(ring(switches, queueing, 1, 2)).possible()) << switches;
      EXPECT_TRUE(finishes(ring(switches, queueing, 1, 2))) << switches;
    }
  }
}

/// A torus with a host and a memory on each switch.
test::SpecBuilder torus(std::uint64_t size, const std::string& routing, std::uint64_t virtual_channels) {
  test::SpecBuilder system;
  const Value::Map link{{"bandwidth", "16GB/s"},
                        {"credits", number(std::uint64_t{1})},
                        {"virtual_channels", number(virtual_channels)}};
  std::vector<std::string> memories;
  for (std::uint64_t i = 0; i < size * size; ++i)
    system.device("sw" + std::to_string(i), "switch", {{"queueing", "voq"}});
  for (std::uint64_t i = 0; i < size * size; ++i) {
    const std::string at = "sw" + std::to_string(i);
    const std::uint64_t row = i / size * size;
    system.link(at, "sw" + std::to_string(row + (i + 1) % size), link);
    system.link(at, "sw" + std::to_string((i + size) % (size * size)), link);
    memories.push_back("mem" + std::to_string(i));
    const std::string host = "host" + std::to_string(i);
    system.device(host, "host", {{"queue", number(std::uint64_t{64})}}).device(memories.back(), "memory");
    system.link(host, at, link).link(memories.back(), at, link);
    system.work(host, {{"pattern", "random"},
                       {"requests", number(std::uint64_t{200})},
                       {"reads", 0.5},
                       {"footprint", "1MiB"}});
  }
  return system.region(memories, {{"policy", "weighted"}, {"interleave", "256B"}})
      .run_with({{"routing", routing}});
}

// A torus needs as many as docs/model/deadlock.md says, and one less is not enough.
TEST(DeadlockCheck, ATorusTakesTwoVirtualChannelsOrThree) {
  for (const auto& [routing, needed] : {std::pair{"deterministic", 2U}, {"adaptive", 3U}, {"random", 3U}}) {
    EXPECT_FALSE(check(torus(4, routing, needed)).possible()) << routing;
    EXPECT_TRUE(check(torus(4, routing, needed - 1)).possible()) << routing;
    EXPECT_TRUE(finishes(torus(4, routing, needed))) << routing;
  }
  EXPECT_FALSE(finishes(torus(4, "random", 1)));
}

// Only what is sent counts: with all hosts at one switch and all memories at another, each direction has one
// class.
TEST(DeadlockCheck, TrafficThatClosesNoCircleIsNoDeadlock) {
  test::SpecBuilder system;
  const Value::Map link{{"credits", number(std::uint64_t{1})}};
  for (int i = 0; i < 6; ++i) system.device("sw" + std::to_string(i), "switch", {{"queueing", "voq"}});
  for (int i = 0; i < 6; ++i) system.link("sw" + std::to_string(i), "sw" + std::to_string((i + 1) % 6), link);
  system.device("host", "host").device("mem", "memory");
  system.link("host", "sw0", link).link("mem", "sw3", link).region({"mem"});
  system.work("host", {{"pattern", "random"}, {"requests", number(std::uint64_t{500})}});
  EXPECT_FALSE(check(system).possible());
  EXPECT_TRUE(finishes(system));
}

std::string name(const char* kind, std::uint64_t i) { return kind + std::to_string(i); }

/// Links of a tree, a ring or a torus of switches.
std::vector<std::pair<std::uint64_t, std::uint64_t>> random_skeleton(RandomStream& random,
                                                                     std::uint64_t& switches) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  const std::uint64_t kind = random.below(3);
  if (kind == 0) {
    switches = 4 + random.below(6);
    for (std::uint64_t i = 1; i < switches; ++i) pairs.emplace_back(i, random.below(i));
    for (std::uint64_t i = random.below(switches + 2); i > 0; --i) {
      const std::uint64_t a = random.below(switches);
      const std::uint64_t b = random.below(switches);
      if (a != b) pairs.emplace_back(a, b);
    }
  } else if (kind == 1) {
    switches = 4 + random.below(5);
    for (std::uint64_t i = 0; i < switches; ++i) pairs.emplace_back(i, (i + 1) % switches);
  } else {
    const std::uint64_t width = 3 + random.below(2);
    const std::uint64_t height = 2 + random.below(3);
    switches = width * height;
    for (std::uint64_t i = 0; i < switches; ++i) {
      const std::uint64_t row = i / width * width;
      pairs.emplace_back(i, row + (i + 1) % width);
      if (height > 2 || i < width) pairs.emplace_back(i, (i + width) % switches);
    }
  }
  return pairs;
}

constexpr std::array kStrategies{"deterministic", "flow-hash", "random", "adaptive", "valiant", "ugal"};
constexpr std::span kWithoutDetours = std::span<const char* const>(kStrategies).first(4);

/// What fails during the first microseconds, and mostly is repaired: links of the skeleton, and a switch.
void add_failures(RandomStream& random, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& pairs,
                  std::uint64_t switches, test::SpecBuilder& system) {
  const auto text = [](std::uint64_t ns) { return std::to_string(ns) + "ns"; };
  std::uint64_t at = 100 + random.below(1000);
  for (std::uint64_t i = 1 + random.below(3); i > 0; --i) {
    Value::Map part;
    if (random.chance(0.8)) {
      const auto& [a, b] = pairs[random.below(pairs.size())];
      part = {{"link", Value::List{"sw" + std::to_string(a), "sw" + std::to_string(b)}}};
    } else {
      part = {{"device", "sw" + std::to_string(random.below(switches))}};
    }
    Value::Map fail = part;
    fail.emplace_back("reroute_time", text(random.below(500)));
    system.event({{"at", text(at)}, {"fail", std::move(fail)}});
    at += random.below(1500);
    // Without a repair nothing fails after it: it might be the same once more.
    if (random.chance(0.3)) return;
    system.event({{"at", text(at)}, {"repair", std::move(part)}});
    at += random.below(1500);
  }
}

/// A connected graph of switches, mostly with queues at their inputs, hosts and memories on them, few
/// buffers, and more work than passes.
test::SpecBuilder random_fabric(std::uint64_t seed, const char* route_by,
                                std::span<const char* const> strategies, bool fails = false) {
  RandomStream random(seed, "deadlock", "fabric");
  test::SpecBuilder system;
  const char* const queueing = random.chance(0.7) ? "voq" : "fifo";
  const std::uint64_t channels = 1 + random.below(4);
  const auto link = [&] {
    return Value::Map{
        {"bandwidth", "8GB/s"},
        {"credits", number(1 + random.below(2))},
        {"virtual_channels", number(std::uint64_t{random.chance(0.9) ? channels : 1 + random.below(4)})},
        {"delay", "5ns"}};
  };
  std::uint64_t switches = 0;
  const auto pairs = random_skeleton(random, switches);
  for (std::uint64_t i = 0; i < switches; ++i) {
    const bool output = random.chance(0.1);
    system.device(name("sw", i), "switch",
                  {{"queueing", output ? "output" : queueing}, {"switching_time", "5ns"}});
  }
  for (const auto& [a, b] : pairs) system.link(name("sw", a), name("sw", b), link());
  std::vector<std::string> memories;
  for (std::uint64_t i = 0; i < switches; ++i) {
    if (random.chance(0.3)) continue;
    memories.push_back(name("mem", i));
    system.device(memories.back(), "memory", {{"controller_time", "5ns"}});
    system.link(memories.back(), name("sw", random.below(switches)), link());
  }
  if (memories.empty()) {
    memories.emplace_back("mem");
    system.device("mem", "memory").link("mem", "sw0", link());
  }
  for (std::uint64_t i = 0; i < switches; ++i) {
    system.device(name("host", i), "host", {{"queue", number(std::uint64_t{32})}});
    system.link(name("host", i), name("sw", random.below(switches)), link());
    system.work(name("host", i), {{"pattern", "random"},
                                  {"requests", number(std::uint64_t{100})},
                                  {"reads", 0.5},
                                  {"footprint", "256KiB"}});
  }
  if (fails) add_failures(random, pairs, switches, system);
  return system.region(memories, {{"policy", "weighted"}, {"interleave", "256B"}})
      .run_with({{"routing", strategies[random.below(strategies.size())]},
                 {"seed", number(seed)},
                 {"route_by", route_by}});
}

// Sanitized code is some ten times as slow.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// How many random fabrics: as many as CXLOOM_FABRICS says (make fabric-check), by default what an ordinary
/// test run has time for.
std::uint64_t fabrics_or(std::uint64_t ordinary) {
  const char* const wanted = std::getenv("CXLOOM_FABRICS");
  return wanted ? std::stoull(wanted) : ordinary;
}

TEST(DeadlockCheck, RandomFabricsFinishWhereItSaysSoAndOthersDeadlock) {
  const std::uint64_t fabrics = fabrics_or(kSanitized ? 100 : 250);
  std::uint64_t proven = 0;
  std::uint64_t circular = 0;
  std::uint64_t deadlocked = 0;
  for (std::uint64_t seed = 0; seed < fabrics; ++seed) {
    const test::SpecBuilder system = random_fabric(seed, "hops", kStrategies);
    const bool possible = check(system).possible();
    const bool finished = finishes(system);
    (possible ? circular : proven) += 1;
    deadlocked += finished ? 0U : 1U;
    ASSERT_TRUE(possible || finished) << "fabric " << seed << " deadlocks";
  }
  RecordProperty("proven", static_cast<int>(proven));
  RecordProperty("circular", static_cast<int>(circular));
  RecordProperty("deadlocked", static_cast<int>(deadlocked));
  // Both happen often, or this would test nothing.
  EXPECT_GT(proven, fabrics / 4);
  EXPECT_GT(deadlocked, fabrics / 100) << circular << " with a circle";
}

/// Five switches, all joined, with a host and a memory each; the chords of the ring fail, so that a ring is
/// left.
test::SpecBuilder pentagon(std::uint64_t virtual_channels, bool fails) {
  test::SpecBuilder system = ring(5, "voq", 1, virtual_channels);
  Value::Map link{{"bandwidth", "16GB/s"}, {"credits", number(std::uint64_t{1})}};
  if (virtual_channels > 1) link.emplace_back("virtual_channels", number(virtual_channels));
  for (std::uint64_t i = 0; i < 5; ++i) {
    const std::string a = name("sw", i);
    const std::string b = name("sw", (i + 2) % 5);
    system.link(a, b, link);
    if (!fails) continue;
    const Value::Map part{{"link", Value::List{a, b}}, {"reroute_time", "500ns"}};
    system.event({{"at", "1us"}, {"fail", part}});
  }
  return system;
}

TEST(DeadlockCheck, SaysFromWhichFailureOnACircleCanClose) {
  const DeadlockCheck before = check(pentagon(1, false));
  EXPECT_FALSE(before.possible());
  EXPECT_EQ(before.epochs, 1U);
  EXPECT_TRUE(finishes(pentagon(1, false)));
  const DeadlockCheck after = check(pentagon(1, true));
  EXPECT_EQ(after.epochs, 6U) << "five links, found one after the other";
  ASSERT_TRUE(after.possible());
  ASSERT_TRUE(after.from);
  EXPECT_EQ(after.from->at, 1500_ns);
  EXPECT_NE(after.from->cause.find("fail link sw"), std::string::npos) << after.from->cause;
  EXPECT_FALSE(finishes(pentagon(1, true)));
}

// They are planned anew: the ring that is left has datelines. What is under way may still be on any of them.
TEST(DeadlockCheck, VirtualChannelsArePlannedAnewForTheRoutesAfterFailures) {
  for (const std::uint64_t channels : {2U, 3U, 4U}) {
    const DeadlockCheck found = check(pentagon(channels, true));
    EXPECT_TRUE(found.from && found.only_while_routes_change) << channels;
    EXPECT_TRUE(finishes(pentagon(channels, true))) << channels;
  }
}

// Routes that change while messages are under way, and the virtual channels that are planned for them.
TEST(DeadlockCheck, RandomFabricsWithFailuresFinishWhereItSaysSo) {
  const std::uint64_t ordinary = 120;
  const std::uint64_t end = fabrics_or(ordinary);
  // The first that deadlocks is 106. Of those before it an ordinary run has some.
  const std::uint64_t begin = kSanitized ? std::min<std::uint64_t>(end, 90) : end == ordinary ? 60 : 0;
  std::uint64_t proven = 0;
  std::uint64_t proven_before = 0;
  std::uint64_t deadlocked_after = 0;
  for (std::uint64_t seed = begin; seed < end; ++seed) {
    const test::SpecBuilder system =
        random_fabric(seed, seed % 3 == 0 ? "up-down" : "hops", kStrategies, true);
    const DeadlockCheck found = check(system);
    const bool finished = finishes(system);
    ASSERT_TRUE(found.possible() || finished) << "fabric " << seed << " deadlocks";
    proven += found.possible() ? 0U : 1U;
    proven_before += found.from ? 1U : 0U;
    deadlocked_after += found.from && !finished ? 1U : 0U;
  }
  RecordProperty("proven", static_cast<int>(proven));
  RecordProperty("proven_before", static_cast<int>(proven_before));
  RecordProperty("deadlocked_after", static_cast<int>(deadlocked_after));
  EXPECT_GT(proven, (end - begin) / 3);
  EXPECT_GT(deadlocked_after, 0U) << "of " << proven_before << " that can deadlock once something has failed";
}

TEST(DeadlockCheck, UpAndThenDownThereAreNoCircles) {
  const std::uint64_t fabrics = fabrics_or(kSanitized ? 40 : 80);
  for (std::uint64_t seed = 0; seed < fabrics; ++seed) {
    // A detour goes up and down twice.
    const test::SpecBuilder system = random_fabric(seed, "up-down", kWithoutDetours);
    ASSERT_FALSE(check(system).possible()) << "fabric " << seed;
    if (seed % 10 == 0) {
      ASSERT_TRUE(finishes(system)) << "fabric " << seed;
    }
  }
}

}  // namespace
}  // namespace cxloom
