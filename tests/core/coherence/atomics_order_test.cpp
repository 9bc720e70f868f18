// Requesters that fetch and add on few words, all at once: the values that they get back are those of some
// order, one after the other, wherever the operations are made.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "coherence/common/coherence_home.hpp"
#include "core/support/coherence_oracle.hpp"
#include "core/support/system.hpp"
#include "device/requester/requester.hpp"
#include "device/requester/sequencer.hpp"

namespace cxloom::test {
namespace {

constexpr int kRequesters = 4;
constexpr std::size_t kOperations = 120;  // of each

/// Each version of a line was read once. Returns how many were changed by memory.
std::size_t read_once_each(const CoherenceOracle& oracle, std::uint64_t words) {
  std::map<std::uint64_t, std::vector<CoherenceOracle::Version>> seen;  // by line
  std::size_t by_memory = 0;
  for (const CoherenceOracle::Atomic& each : oracle.atomics()) {
    seen[each.line.number()].push_back(each.read);
    by_memory += each.by_memory ? 1 : 0;
  }
  EXPECT_EQ(seen.size(), words);
  for (auto& [line, versions] : seen) {
    std::sort(versions.begin(), versions.end());
    for (std::size_t i = 0; i < versions.size(); ++i) EXPECT_EQ(versions[i], i) << "line " << line;
  }
  return by_memory;
}

/// Some in the cache, some at the home, as `where` says for each requester; "none" has no cache.
void fetch_and_add(const std::string& coherence, const std::vector<std::string>& where, std::uint64_t words) {
  SCOPED_TRACE(coherence + ", " + where[0] + " and " + where[1]);
  SpecBuilder system;
  const Value::Map memory{{"capacity", "1MiB"}, {"atomic_time", "7ns"}};
  const bool bias = coherence == "hdm-d";
  Value::Map region{{"coherence", coherence}};
  std::string home = bias ? "h0" : "home";
  const auto with = [](Value::Map base, const std::string& key, const Value& value) {
    base.emplace_back(key, value);
    return base;
  };
  if (coherence == "hdm-db") system.device(home, "memory", with(memory, "dcoh", Value::Map{}));
  if (coherence == "hdm-h") {
    system.device(home, "host", {{"memory", memory}, {"home_agent", Value::Map{}}});
    region.emplace_back("home", home);
  }
  system.device("sw", "switch");
  if (!bias) system.link(home, "sw");
  for (int i = 0; i < kRequesters; ++i) {
    const std::string name = "h" + std::to_string(i);
    const std::string& at = where[static_cast<std::size_t>(i) % where.size()];
    Value::Map params{{"queue", 6}};
    if (bias && i == 0) params.emplace_back("memory", with(memory, "bias", Value::Map{{"flip_after", 2}}));
    // One host may hold lines of memory with bias.
    if (at != "none" && (!bias || i < 2)) {
      params.emplace_back("cache", Value::Map{{"size", "128B"}, {"ways", 0}, {"atomic_time", "15ns"}});
      params.emplace_back("atomics", at);
    }
    system.device(name, bias && i == 0 ? "accelerator" : "host", params);
    system.link(name, "sw", {{"port_delay", std::to_string(5 * i) + "ns"}});
    std::vector<Access> accesses;
    for (std::size_t n = 0; n < kOperations; ++n) {
      Access access = access_to(64 * ((n + static_cast<std::size_t>(i)) % words), AccessKind::kAtomic);
      access.size = kAtomicBytes;
      accesses.push_back(access);
    }
    system.replay(name, accesses);
  }
  system.region({home}, region);
  Running run(system);
  const System& built = run.simulation().system();
  CoherenceOracle oracle(built.address_map());
  for (int i = 0; i < kRequesters; ++i) {
    const NodeId node = built.component("h" + std::to_string(i)).id();
    if (const CacheAgent* const cache = built.roles().of<Requester>(node)->cache())
      oracle.add(node, *cache, CleanEvictions::kSilent);
  }
  for (const auto& [component, agent] : built.roles().all<CoherenceHome>())
    oracle.add(component->id(), static_cast<DirectoryAgent&>(*agent));
  run.simulation().watch(&oracle);
  run.to_end();
  oracle.idle();
  EXPECT_EQ(oracle.violation(), "");

  EXPECT_EQ(oracle.atomics().size(), kRequesters * kOperations);
  const std::size_t by_memory = read_once_each(oracle, words);
  const auto made = [&](const std::string& at) {
    return std::find(where.begin(), where.end(), at) != where.end();
  };
  EXPECT_EQ(by_memory > 0, made("home") || made("none") || made("cache-or-home") || bias);
  EXPECT_EQ(by_memory < oracle.atomics().size(), made("cache"));
}

TEST(AtomicsOrder, OldValuesAreAPermutation) {
  for (const char* const coherence : {"hdm-db", "hdm-h", "hdm-d"}) {
    for (const std::uint64_t words : {1U, 5U}) {
      for (const std::vector<std::string>& where : {std::vector<std::string>{"cache", "cache"},
                                                    {"home", "home"},
                                                    {"cache", "home"},
                                                    {"none", "cache"},
                                                    {"cache-or-home", "cache"}})
        fetch_and_add(coherence, where, words);
    }
  }
}

}  // namespace
}  // namespace cxloom::test
