// Prefetches in whole systems: what they cost and save, to the picosecond, and what is counted of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/atomic_systems.hpp"
#include "core/support/coherence_flows.hpp"
#include "device/requester/requester.hpp"
#include "device/requester/sequencer.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr Time kHit = kProcess + kCache;
constexpr Time kRoundTrip = kWay + kMemoryRead + kWay;
constexpr Time kMiss = kHit + kRoundTrip;

/// A requester before a memory that replays accesses, one after the other unless `queue` says otherwise.
class Replay {
 public:
  Replay(const std::vector<Access>& accesses, const Value& prefetch, Value::Map requester = {{"queue", 1}},
         Value::Map cache = {{"size", "64KiB"}}) {
    cache.insert(cache.end(), {{"access_time", "12ns"}, {"ways", 0}, {"prefetch", prefetch}});
    requester.insert(requester.end(), {{"process_time", "10ns"}, {"cache", cache}});
    SpecBuilder system;
    system.device("host", "host", requester)
        .device("mem", "memory",
                {{"capacity", "1MiB"},
                 {"controller_time", "40ns"},
                 {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "60ns"}}}})
        .link("host", "mem", {{"port_delay", "25ns"}})
        .region({"mem"})
        .replay("host", accesses);
    run_ = std::make_unique<Running>(system);
    run_->to_end();
    for (std::size_t row = 0; row < run_->table().rows(); ++row) latency_.resize(accesses.size());
    for (std::size_t row = 0; row < run_->table().rows(); ++row)
      latency_[run_->table().id[row]] = run_->latency(row);
  }

  Time latency(std::size_t access) const { return latency_[access]; }
  double count(const char* name) const { return run_->number({"per_requester", "host", name}); }
  Running& running() { return *run_; }

 private:
  std::unique_ptr<Running> run_;
  std::vector<Time> latency_;
};

const CacheAgent& cache_of(Replay& run) {
  const System& system = run.running().simulation().system();
  return *system.roles().of<Requester>(run.running().node("host"))->cache();
}

std::vector<Access> reads_of(const std::vector<std::uint64_t>& lines) {
  std::vector<Access> accesses;
  for (const std::uint64_t line : lines) accesses.push_back(access_to(line * kLineBytes));
  return accesses;
}
std::vector<Access> sweep(std::uint64_t lines, std::uint64_t stride = 1) {
  std::vector<Access> accesses;
  for (std::uint64_t i = 0; i < lines; ++i) accesses.push_back(access_to(i * stride * kLineBytes));
  return accesses;
}
Value next_line(std::int64_t degree, Value::Map more = {}) {
  more.insert(more.end(), {{"kind", "next-line"}, {"degree", degree}});
  return more;
}

TEST(Prefetch, OneLineAheadHalvesAChain) {
  // Line k + 1 is asked for when line k is used: a hit, if that had to be waited for; then that use comes
  // early, and the wait is the whole way.
  const Replay run(sweep(64), next_line(1));
  EXPECT_EQ(run.latency(0), kMiss);
  for (std::size_t k = 1; k < 64; ++k) EXPECT_EQ(run.latency(k), k % 2 == 1 ? kHit : kRoundTrip) << k;
  EXPECT_EQ(run.count("prefetches"), 63);
}

TEST(Prefetch, FarEnoughAheadEverythingHits) {
  // Line k + d is wanted d hits behind the use of line k, at whose end it is asked for. It may come as late
  // as its own lookup ends.
  const std::int64_t enough = (kRoundTrip.ps() + kHit.ps() - 1) / kHit.ps();
  for (std::int64_t degree = enough - 1; degree < enough + 2; ++degree) {
    const Replay run(sweep(64), next_line(degree));
    Time late;
    for (std::size_t k = 30; k < 64; ++k) late += run.latency(k) - kHit;
    EXPECT_EQ(late == Time{}, degree >= enough) << degree;
    EXPECT_EQ(run.count("prefetches"), 63);
  }
}

TEST(Prefetch, NoFurtherThanThePage) {
  for (const auto& [page, lines] : std::vector<std::pair<const char*, std::uint64_t>>{
           {"128B", 2}, {"256B", 4}, {"1KiB", 16}, {"192B", 3}}) {
    const Replay run(sweep(48), next_line(static_cast<std::int64_t>(lines) - 1, {{"page", page}}));
    for (std::size_t k = 0; k < 48; ++k) EXPECT_EQ(run.latency(k) == kMiss, k % lines == 0) << page << k;
    EXPECT_EQ(run.count("prefetches"), 48 - 48 / static_cast<double>(lines));
  }
}

TEST(Prefetch, NoFurtherThanTheMemory) {
  const std::uint64_t last = (1U << 20U) / kLineBytes - 1;
  const Replay run(reads_of({last, last - 1}), next_line(2, {{"page", "2MiB"}}));
  EXPECT_EQ(run.count("prefetches"), 0);
}

TEST(Prefetch, AStrideIsFollowedFromTheThirdAccess) {
  const Replay run(sweep(12, 5), Value::Map{{"kind", "stride"}, {"degree", 9}});
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(run.latency(k), kMiss) << k;
  EXPECT_LE(run.latency(3), kHit);
  for (std::size_t k = 4; k < 12; ++k) EXPECT_EQ(run.latency(k), kHit) << k;
  EXPECT_EQ(run.count("prefetches"), 10);  // one more is in the page
}

TEST(Prefetch, NothingIsAskedForTwice) {
  const Replay run(reads_of({0, 1, 2, 1, 0, 3}), next_line(2));
  EXPECT_EQ(run.count("prefetches"), 5);  // 1 and 2; at the first uses of 1, 2 and 3: 3, 4 and 5
  EXPECT_EQ(run.count("prefetches_useful") + run.count("prefetches_late"), 3);
}

TEST(Prefetch, WhatHasNoRegisterIsDropped) {
  const Replay run(reads_of({0}), next_line(8, {{"registers", 3}}));
  EXPECT_EQ(run.count("prefetches"), 3);
  EXPECT_EQ(run.count("prefetches_dropped"), 5);
}

TEST(Prefetch, ARegisterIsFreeWhenTheLineHasCome) {
  // A line that is there gives the others the time to come.
  const Replay run(reads_of({0, 0, 10, 10, 20}), next_line(3, {{"registers", 3}}));
  EXPECT_EQ(run.count("prefetches"), 9);
  EXPECT_EQ(run.count("prefetches_dropped"), 0);
}

TEST(Prefetch, WhatNobodyUsesIsUseless) {
  // Four lines: each miss brings its own and the next one.
  const Replay run(reads_of({0, 10, 20, 30, 30, 30}), next_line(1), {{"queue", 1}}, {{"size", "256B"}});
  EXPECT_EQ(run.count("prefetches"), 4);
  EXPECT_EQ(run.count("prefetches_useless"), 2);
  EXPECT_EQ(run.count("prefetches_useful"), 0);
}

TEST(Prefetch, ItTakesNoMissRegister) {
  const std::vector<Access> accesses = reads_of({0, 10});
  const Value::Map two{{"queue", 2}};
  const Replay run(accesses, next_line(4), two, {{"size", "64KiB"}, {"mshrs", 2}});
  EXPECT_EQ(run.latency(1), kMiss);
}

TEST(Prefetch, AccessesWaitForALineOnItsWay) {
  // The second access comes 10 ns behind the first, and finds its line asked for at the first's lookup.
  const Replay run(reads_of({0, 1}), next_line(1), {{"queue", 2}, {"issue_interval", "10ns"}});
  EXPECT_EQ(run.latency(1), kMiss - 10_ns);
  EXPECT_EQ(run.count("prefetches_late"), 1);
  EXPECT_EQ(run.count("cache_hit_rate"), 0);
}

TEST(Prefetch, AWriteOfALineOnItsWay) {
  std::vector<Access> accesses = reads_of({0, 1, 1});
  accesses[1].kind = W;
  Replay run(accesses, next_line(1), {{"queue", 2}, {"issue_interval", "10ns"}});
  EXPECT_EQ(run.latency(1), kMiss - 10_ns);
  EXPECT_EQ(run.count("prefetches_late"), 1);
}

TEST(Prefetch, BytesCountOnce) {
  Replay run(sweep(64), next_line(4));
  EXPECT_EQ(run.running().number({"per_memory", "mem", "reads"}), 64);
  EXPECT_EQ(run.running().number({"per_memory", "mem", "prefetches"}), 63);
  EXPECT_EQ(run.running().number({"prefetches"}), 63);
  const double length = run.running().number({"simulated_time_ns"});
  EXPECT_NEAR(run.running().number({"bandwidth_gb_per_s"}) * length, 64.0 * kLineBytes, 1e-6);
  EXPECT_NEAR(run.count("bandwidth_gb_per_s") * length, 64.0 * kLineBytes, 1e-6);
}

// An access waits for the only miss register, and its line comes ahead of another meanwhile.
TEST(Prefetch, ALineThatSomebodyWaitsForIsUsedOnce) {
  for (const bool again : {false, true}) {
    std::vector<Access> accesses = reads_of({0, 5, 4});
    for (int i = 0; i < 20; ++i) accesses.push_back(access_to(20 * kLineBytes));
    if (again) accesses.push_back(access_to(5 * kLineBytes));
    Replay run(accesses, next_line(1), {{"queue", 3}}, {{"size", "64KiB"}, {"mshrs", 1}});
    EXPECT_FALSE(cache_of(run).prefetcher()->is_ahead(LineAddress{5}));
    EXPECT_EQ(run.count("prefetches_useful") + run.count("prefetches_late"), 1) << again;
  }
}

TEST(Prefetch, WritesPastTheCacheAskForNothingAhead) {
  std::vector<Access> accesses = sweep(32);
  for (Access& access : accesses) access.kind = W;
  Replay run(accesses, next_line(1), {{"queue", 1}}, {{"size", "64KiB"}, {"write_allocate", false}});
  EXPECT_EQ(run.count("prefetches"), 0);
  EXPECT_EQ(run.running().number({"per_memory", "mem", "writes"}), 32);
}

TEST(Prefetch, OperationsAtTheHomeAskForNothingAndUseNothing) {
  std::vector<Access> accesses = reads_of({0, 0, 0, 0, 0, 0, 1, 2});
  for (std::size_t i = 6; i < 8; ++i) {
    accesses[i].kind = A;
    accesses[i].size = kAtomicBytes;
  }
  const Replay run(accesses, next_line(2), {{"queue", 1}, {"atomics", "home"}});
  EXPECT_EQ(run.count("prefetches"), 2);
  EXPECT_EQ(run.count("prefetches_useful") + run.count("prefetches_late"), 0);
  EXPECT_EQ(run.count("prefetches_useless"), 2);
}

TEST(Prefetch, WhatDoesNotComeIsCounted) {
  SpecBuilder system;
  system.device("host", "host", {{"queue", 1}, {"cache", Value::Map{{"prefetch", next_line(3)}}}})
      .device("mem", "memory", {{"capacity", "1MiB"}})
      .link("host", "mem",
            {{"phy", "pcie5-x8"},
             {"flit", "68B"},
             {"outage", Value::Map{{"at", "1ns"}, {"length", "1us"}, {"fail", true}}}})
      .region({"mem"})
      .replay("host", reads_of({0, 0}));
  Running run(system);
  run.to_end();
  EXPECT_EQ(run.number({"errors", "requests"}), 2);
  EXPECT_EQ(run.number({"per_requester", "host", "prefetches"}),
            3);  // the second access comes too soon for more
  EXPECT_EQ(run.number({"per_requester", "host", "prefetches_failed"}), 3);
  EXPECT_EQ(run.number({"per_memory", "mem", "reads"}), 0);
}

// ---- Coherent memory

AtomicOptions ahead_of(const std::string& coherence) {
  return {.coherence = coherence, .cache = {{"prefetch", next_line(1)}}};
}

TEST(Prefetch, AWriteOfALineThatOthersShareAsksForOwnershipStill) {
  for (const char* const coherence : {"hdm-db", "hdm-h"}) {
    const AtomicRun run(2, {{"h1", 64, R}, {"h0", 0, R}, {"h0", 64, W}, {"h0", 64, W}}, ahead_of(coherence));
    const Time snoop = kWay + kCache + kWay;
    EXPECT_EQ(run.latency(2), kThere + snoop + kWay) << coherence;
    EXPECT_EQ(run.latency(3), kHit);
    EXPECT_EQ(run.number({"per_requester", "h0", "upgrades"}), 1);
    EXPECT_EQ(run.number({"per_requester", "h0", "prefetches_useful"}), 1);
  }
}

TEST(Prefetch, ASnoopTakesALineThatNobodyHasUsed) {
  for (const char* const coherence : {"hdm-db", "hdm-h"}) {
    const AtomicRun run(2, {{"h0", 0, R}, {"h1", 64, W}, {"h0", 64, R}}, ahead_of(coherence));
    EXPECT_EQ(run.number({"per_requester", "h0", "prefetches_useless"}), 1) << coherence;
    EXPECT_EQ(run.number({"per_requester", "h0", "prefetches_useful"}), 0);
    EXPECT_EQ(run.number({"per_requester", "h0", "lines_lost"}), 1);
    EXPECT_GT(run.latency(2), kMiss);
  }
}

// The price of a wrong prediction: the other's write needs a snoop.
TEST(Prefetch, APrefetchedLineMustBeAskedFor) {
  for (const char* const coherence : {"hdm-db", "hdm-h"}) {
    const std::vector<TimedStep> steps{{"h0", 0, R}, {"h1", 64, W}};
    const AtomicRun without(2, steps, {.coherence = coherence});
    const AtomicRun with(2, steps, ahead_of(coherence));
    EXPECT_EQ(with.latency(1) - without.latency(1), kWay + kCache + kWay) << coherence;
  }
}

TEST(Prefetch, AnAtomicOperationOnALineThatCameAhead) {
  for (const char* const coherence : {"none", "hdm-db", "hdm-h"}) {
    AtomicOptions options = ahead_of(coherence);
    options.cache.emplace_back("atomic_time", "30ns");
    const AtomicRun run(1, {{"h0", 0, R}, {"h0", 64, A}, {"h0", 64, A}}, options);
    EXPECT_EQ(run.latency(1), kHit + 30_ns) << coherence;
    EXPECT_EQ(run.number({"per_requester", "h0", "prefetches_useful"}), 1);
  }
}

// ---- Whatever is played

// Each line that was asked for was used, or has left, or waits for either.
TEST(Prefetch, EveryOneHasOneEnd) {
  RandomStream random(7, "prefetch", "systems");
  std::uint64_t late = 0;
  std::uint64_t useless = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<Access> accesses;
    std::uint64_t line = 0;
    for (int i = 0; i < 400; ++i) {
      line = random.below(4) == 0 ? random.below(256) : (line + 1) % 256;
      accesses.push_back(access_to(line * kLineBytes, random.below(3) == 0 ? W : R));
    }
    // All that was asked for comes meanwhile.
    for (int i = 0; i < 40; ++i) accesses.push_back(accesses.back());
    Value::Map prefetch{
        {"kind", std::vector<const char*>{"next-line", "stride", "best-offset"}[random.below(3)]},
        {"registers", static_cast<std::int64_t>(1 + random.below(6))}};
    Value::Map cache{{"size", std::to_string(64 * (1 + random.below(64))) + "B"}};
    if (random.below(2) == 0)
      cache.emplace_back("levels",
                         Value::List{Value::Map{{"size", "4KiB"}, {"inclusive", random.below(2) == 0}}});
    Replay run(accesses, prefetch, {{"queue", static_cast<std::int64_t>(1 + random.below(8))}}, cache);
    const CacheAgent& agent = cache_of(run);
    const PrefetchCounts counts = agent.prefetcher()->counts().window();
    EXPECT_EQ(counts.issued,
              counts.useful + counts.late + counts.useless + counts.failed + agent.prefetcher()->unused());
    EXPECT_EQ(agent.prefetches(), 0U);
    late += counts.late;
    useless += counts.useless;
  }
  EXPECT_GT(late, 0U);
  EXPECT_GT(useless, 0U);
}

}  // namespace
}  // namespace cxloom::test
