// Atomic operations of a home's memory: what each flow costs, to the picosecond, and its waiters.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/support/atomic_systems.hpp"
#include "core/support/coherence_flows.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr Time kMemoryOperation = 20_ns;
constexpr Time kMake = kController + kRead + kMemoryOperation + kWrite;  // in the memory

AtomicOptions at_home(const std::string& coherence, const char* where = "home") {
  return {.coherence = coherence,
          .requester = {{"atomics", where}},
          .cache = {{"atomic_time", "30ns"}},
          .memory = {{"atomic_time", "20ns"}}};
}
bool by_host(const std::string& coherence) { return coherence == "hdm-h"; }
/// From the lookup to the answer: CXL.cache pulls the operand first.
Time made(const std::string& coherence) { return (by_host(coherence) ? kWay + kWay : 0_ns) + kMake + kWay; }
Time there(const std::string& coherence) { return coherence == "none" ? kThere - kLookup : kThere; }

TEST(HomeAtomics, OfALineThatNobodyHas) {
  for (const std::string coherence : {"none", "hdm-db", "hdm-h", "hdm-d"}) {
    const AtomicRun run(1 + (coherence == "hdm-d"), {{"h0", 0, A}, {"h0", 8, A}, {"h0", 0, R}},
                        at_home(coherence));
    EXPECT_EQ(run.latency(0), there(coherence) + made(coherence)) << coherence;
    EXPECT_EQ(run.latency(1), there(coherence) + made(coherence));
    EXPECT_EQ(run.latency(2), there(coherence) + kMemoryRead + kWay);  // it has left no copy
    EXPECT_EQ(run.segment(0, Segment::kController), kController + kMemoryOperation);
    EXPECT_EQ(run.segment(0, Segment::kMedia), kRead + kWrite);
    EXPECT_EQ(run.number({"per_requester", "h0", "home_atomics"}), 2.0);
    const std::string memory = coherence == "hdm-d" ? "h1" : "home";
    EXPECT_EQ(run.number({"per_memory", memory, "atomics"}), 2.0);
    EXPECT_EQ(run.number({"per_memory", memory, "reads"}), 1.0);
    EXPECT_EQ(run.number({"per_memory", memory, "writes"}), 0.0);
  }
}

TEST(HomeAtomics, OfARequesterWithoutACache) {
  for (const std::string coherence : {"none", "hdm-db", "hdm-h", "hdm-d"}) {
    AtomicOptions options = at_home(coherence);
    options.cached = false;
    options.requester.clear();
    const AtomicRun run(1 + (coherence == "hdm-d"), {{"h0", 0, A}}, options);
    EXPECT_EQ(run.latency(0), there(coherence) - kCache + made(coherence)) << coherence;
  }
}

TEST(HomeAtomics, OthersGiveTheirCopiesUp) {
  for (const std::string coherence : {"hdm-db", "hdm-h"}) {
    const AtomicRun clean(2, {{"h1", 0, R}, {"h0", 0, A}, {"h1", 0, R}}, at_home(coherence));
    EXPECT_EQ(clean.latency(1), kThere + kSnoop + made(coherence)) << coherence;
    EXPECT_EQ(clean.latency(2), kThere + kMemoryRead + kWay);
    const AtomicRun modified(2, {{"h1", 0, W}, {"h0", 0, A}, {"h1", 0, R}}, at_home(coherence));
    const Time to_memory = by_host(coherence) ? kMemoryWrite : kWriteBack;
    EXPECT_EQ(modified.latency(1), kThere + kSnoop + to_memory + made(coherence)) << coherence;
    EXPECT_EQ(modified.latency(2), kThere + kMemoryRead + kWay);
  }
}

TEST(HomeAtomics, ItsOwnCleanCopyGoesWithoutAMessage) {
  for (const std::string coherence : {"none", "hdm-db", "hdm-h", "hdm-d"}) {
    for (const char* const notices : {"silent", "notified"}) {
      AtomicOptions options = at_home(coherence);
      options.cache.emplace_back("clean_evictions", notices);
      const AtomicRun run(1 + (coherence == "hdm-d"), {{"h0", 0, R}, {"h0", 0, A}, {"h0", 0, R}}, options);
      EXPECT_EQ(run.latency(1), there(coherence) + made(coherence)) << coherence;
      EXPECT_EQ(run.latency(2), there(coherence) + kMemoryRead + kWay);
    }
  }
}

TEST(HomeAtomics, ItsOwnModifiedCopyIsWrittenBackFirst) {
  for (const std::string coherence : {"none", "hdm-db", "hdm-h", "hdm-d"}) {
    const AtomicRun run(1 + (coherence == "hdm-d"), {{"h0", 0, W}, {"h0", 0, A}, {"h0", 0, R}},
                        at_home(coherence));
    const Time lookup = coherence == "none" ? 0_ns : kLookup;
    // CXL.cache: the request goes out with the data, and waits at the home for their write.
    const Time write_back = by_host(coherence) ? kWay + kLookup + kWay + kWay + kMemoryWrite
                                               : kWay + lookup + kMemoryWrite + kWay;
    const Time request = by_host(coherence) ? 0_ns : kWay + lookup;
    EXPECT_EQ(run.latency(1), kProcess + kCache + write_back + request + made(coherence)) << coherence;
    EXPECT_EQ(run.latency(2), there(coherence) + kMemoryRead + kWay);
    EXPECT_EQ(run.number({"per_requester", "h0", "write_backs"}), 1.0);
    EXPECT_EQ(run.number({"per_requester", "h0", "home_atomics"}), 1.0);
  }
}

// The home takes one after the other; where there is none, the memory does, whose controller works on the
// second one meanwhile.
TEST(HomeAtomics, TwoContendersFollowEachOther) {
  for (const std::string coherence : {"none", "hdm-db", "hdm-h"}) {
    for (const bool same : {true, false}) {
      const AtomicRun run(2, {{"h0", 0, A}, {"h1", same ? 8U : 64U, A, true}}, at_home(coherence));
      const auto [first, second] = std::minmax({run.latency(0), run.latency(1)});
      EXPECT_EQ(first, there(coherence) + made(coherence)) << coherence;
      const Time behind = coherence == "none" ? kMake - kController : made(coherence) - kWay;
      EXPECT_EQ(second, first + (same ? behind : 0_ns)) << coherence;
      if (same) {
        const std::size_t last = run.latency(0) == second ? 0 : 1;
        const Segment waits = coherence == "none" ? Segment::kMediaQueue : Segment::kHomeQueue;
        EXPECT_EQ(run.segment(last, waits), behind) << coherence;
      }
    }
  }
}

TEST(HomeAtomics, InTheCacheIfThatHasTheLineAloneOtherwiseAtTheHome) {
  for (const std::string coherence : {"hdm-db", "hdm-h"}) {
    const AtomicRun run(2,
                        {{"h0", 0, A},   // nobody has it: at the home, and nobody has it still
                         {"h0", 0, R},   // alone
                         {"h0", 0, A},   // in the cache
                         {"h0", 0, A},   // ... which has it modified
                         {"h1", 64, R},  // two share
                         {"h0", 64, R},  //
                         {"h0", 64, A},  // at the home, and both have lost it
                         {"h1", 64, R}},
                        at_home(coherence, "cache-or-home"));
    EXPECT_EQ(run.latency(0), kThere + made(coherence)) << coherence;
    EXPECT_EQ(run.latency(2), kProcess + kCache + 30_ns);
    EXPECT_EQ(run.latency(3), kProcess + kCache + 30_ns);
    EXPECT_EQ(run.latency(6), kThere + kSnoop + made(coherence));
    EXPECT_EQ(run.latency(7), kThere + kMemoryRead + kWay);
    EXPECT_EQ(run.number({"per_requester", "h0", "cache_atomics"}), 2.0);
    EXPECT_EQ(run.number({"per_requester", "h0", "home_atomics"}), 2.0);
  }
}

TEST(HomeAtomics, OfADeviceInPagesOfItsOwnAndOfTheHost) {
  AtomicOptions own = at_home("hdm-d");
  own.agent = {{"initial", "device"}};
  EXPECT_EQ(AtomicRun(2, {{"h1", 0, A}}, own).latency(0), kInside + kMake);
  AtomicOptions shared = at_home("hdm-d");
  shared.agent = {{"flip_after", 0}};
  for (const AccessKind held : {R, W}) {
    const AtomicRun run(2, {{"h0", 0, held}, {"h1", 0, A}, {"h0", 0, R}}, shared);
    EXPECT_EQ(run.latency(1), kInside + kSnoop + (held == W ? kWriteBack : 0_ns) + kMake);
    EXPECT_EQ(run.latency(2), kThere + kMemoryRead + kWay);  // it has given its copy up
  }
  // An operation of the host leaves no copy there, and the page as it is.
  const AtomicRun run(2, {{"h1", 0, W}, {"h0", 0, A}, {"h1", 0, R}}, own);
  EXPECT_EQ(run.latency(1), kThere + kCache + kLookup + kMemoryWrite + kMake + kWay);
  EXPECT_EQ(run.latency(2), kInside + kMemoryRead);
  EXPECT_EQ(run.number({"per_home", "h1", "bias_flips_to_host"}), 0.0);
}

TEST(HomeAtomics, TakeAMissRegister) {
  for (const bool one : {false, true}) {
    AtomicOptions options = at_home("hdm-db");
    if (one) options.cache.emplace_back("mshrs", 1);
    const AtomicRun run(1, {{"h0", 0, A}, {"h0", 64, A, true}}, options);
    EXPECT_EQ(run.latency(1), kThere + made("hdm-db") + (one ? kWay + kLookup + made("hdm-db") : 0_ns));
  }
}

TEST(HomeAtomics, SayWhereTheyAreMade) {
  AtomicOptions options = at_home("hdm-db", "cache");
  options.cached = false;
  try {
    const AtomicRun run(1, {{"h0", 0, A}}, options);
    ADD_FAILURE() << "taken";
  } catch (const InputError& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("atomics has no effect unless there is a cache"), std::string::npos) << said;
    EXPECT_NE(said.find("devices.h0"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace cxloom::test
