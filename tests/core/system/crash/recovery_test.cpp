// Recovery, played: it takes the time of its drains, and comes to the same end wherever power fails again.
#include "system/crash/recovery.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/support/crash_systems.hpp"
#include "system/crash/power_loss.hpp"
#include "system/crash/recovery_cuts.hpp"

namespace cxloom::test {
namespace {

/// A run of a chain whose buffers have so many lines each at its end.
Running at_end(PersistChain chain, std::uint64_t lines) {
  std::vector<Access> accesses;
  for (std::uint64_t i = 0; i < lines; ++i) accesses.push_back(behind_fence(flush_of(64 * i)));
  return Running(chain.with(accesses));
}

Time time_of_recovery(Running& running, const Registry& kinds = Running::registry()) {
  running.to_end();
  const Recovery recovery(kinds, running.simulation().spec());
  return recovery.play(durable_state(running.simulation().system(), {}), [](const DurableState&) {});
}

// A drain, D of docs/model/persist.md, from the only switch; of a chain the buffer next to memory first.
TEST(Recovery, TakesADrainForEachBufferOfAChain) {
  PersistChain one;
  one.buffers = {{1, forwarding()}};
  Running single = at_end(one, 1);
  EXPECT_EQ(time_of_recovery(single), drain_time(1, kMediaWrite));

  PersistChain two;
  two.switches = 2;
  two.buffers = {{1, forwarding({{"entries", 2}})}, {2, forwarding({{"entries", 2}})}};
  Running chained = at_end(two, 5);
  const DurableState left = [&] {
    chained.to_end();
    return durable_state(chained.simulation().system(), {});
  }();
  ASSERT_GT(left.entries.size(), 1U);
  EXPECT_NE(left.entries.front().buffer, left.entries.back().buffer);
  EXPECT_EQ(left.entries.front().buffer, chained.node("sw2"));
  EXPECT_EQ(time_of_recovery(chained), drain_time(1, kMediaWrite) + drain_time(2, kMediaWrite));
}

// States of a recovery of two lines: each is stored, and then its entry Empty.
TEST(Recovery, ShowsEachStateThatItComesThrough) {
  PersistChain chain;
  chain.buffers = {{1, forwarding()}};
  Running running = at_end(chain, 2);
  running.to_end();
  const Recovery recovery(Running::registry(), running.simulation().spec());
  const DurableState left = durable_state(running.simulation().system(), {});
  ASSERT_EQ(left.entries.size(), 2U);
  std::vector<DurableState> states;
  recovery.play(left, [&](const DurableState& state) { states.push_back(state); });
  ASSERT_EQ(states.size(), 4U);
  EXPECT_TRUE(states.back().entries.empty());
  EXPECT_EQ(states.back().memory, contents_after(left));
  for (const DurableState& state : states) EXPECT_EQ(contents_after(state), contents_after(left));
}

/// What is found at every event of a run, with all recoveries that are cut so often.
struct Explored {
  std::size_t lost = 0;
  std::size_t other_ends = 0;
  std::uint64_t recoveries = 0;
};

Explored explore(Running& running, std::uint32_t depth, const RecoveryOrder& rules = kRecoveryOrder,
                 const Registry& kinds = Running::registry()) {
  Explored all;
  PowerLoss power(kinds, running.simulation().spec(), rules);
  at_every_event(running.simulation(), [&] {
    const PowerLossFound found = power.at(running.simulation().system(), {depth, nullptr});
    all.lost += found.lost.size();
    all.other_ends += found.one_end ? 0 : 1;
    all.recoveries += found.recovery.recoveries;
  });
  return all;
}

constexpr std::uint32_t kAnyDepth = ~std::uint32_t{0};

// At every event of the run, and at every event of the recovery, and of the recovery after that, and so on
// for ever: a recovery depends on what is left alone, and there are few such states.
TEST(Recovery, ComesToTheSameEndHoweverOftenItIsCut) {
  for (const CrashShape& shape : crash_shapes()) {
    Running running(powered(shape, 2, 16));
    const Explored all = explore(running, kAnyDepth);
    EXPECT_EQ(all.lost, 0U);
    EXPECT_EQ(all.other_ends, 0U);
    EXPECT_GT(all.recoveries, 100U);
  }
}

TEST(Recovery, MoreCutsLeadToMoreRecoveries) {
  std::uint64_t before = 0;
  for (const std::uint32_t depth : {0U, 1U, 2U}) {
    Running running(powered({2, {1, 2}, 1, {{"entries", 4}}}, 2, 16));
    const Explored all = explore(running, depth);
    EXPECT_GT(all.recoveries, before);
    before = all.recoveries;
  }
}

TEST(Recovery, CutsAreDrawnInLargeSystems) {
  Running running(powered({2, {1, 2}, 2, {{"entries", 8}, {"policy", "forward"}}}, 2));
  PowerLoss power(Running::registry(), running.simulation().spec());
  RandomStream draw(1, "recovery", "cuts");
  std::uint64_t recoveries = 0;
  std::uint64_t instants = 0;
  at_every_event(running.simulation(), [&] {
    const PowerLossFound found = power.at(running.simulation().system(), {2, &draw});
    EXPECT_TRUE(found.lost.empty());
    EXPECT_TRUE(found.one_end);
    EXPECT_LE(found.recovery.recoveries, 3U);
    recoveries += found.recovery.recoveries;
    ++instants;
  });
  EXPECT_GT(recoveries, instants);
}

// There is memory before the second buffer and behind it: both buffers are next to one. Which of them drains
// a line first is by the memory of that line.
TEST(Recovery, OfTheBuffersOnTheWayToALineTheOneNextToItsMemoryIsFirst) {
  SpecBuilder system;
  system.device("host", "host")
      .device("sw1", "switch", {{"persist_buffer", Value::Map{}}})
      .device("sw2", "switch", {{"persist_buffer", Value::Map{}}})
      .device("near", "memory", {{"media", slow_to_write("5us")}, {"capacity", "1MiB"}})
      .device("far", "memory", {{"media", slow_to_write("5us")}})
      .link("host", "sw1")
      .link("sw1", "near")
      .link("sw1", "sw2")
      .link("sw2", "far")
      .region({"near"}, {{"persistence", "media"}})
      .region({"far"}, {{"persistence", "media"}})
      .outputs({{"versions", true}});
  const std::uint64_t far = 1U << 20U;
  std::vector<Access> accesses{flush_of(0)};
  for (int i = 0; i < 4; ++i) accesses.push_back(behind_fence(flush_of(far)));
  Running running(system.replay("host", accesses));
  PowerLoss power(Running::registry(), running.simulation().spec());
  std::size_t in_both = 0;
  at_every_event(running.simulation(), [&] {
    const auto& entries = durable_state(running.simulation().system(), {}).entries;
    for (const auto& a : entries) {
      for (const auto& b : entries)
        in_both +=
            a.kept.line == b.kept.line && a.buffer != b.buffer && a.kept.version < b.kept.version ? 1 : 0;
    }
    const PowerLossFound found = power.at(running.simulation().system(), {1, nullptr});
    EXPECT_TRUE(found.lost.empty());
    EXPECT_TRUE(found.one_end);
  });
  EXPECT_GT(in_both, 0U);
}

// An entry that is Empty once its drain is sent is not there any more when power fails during recovery.
TEST(Recovery, ADrainThatIsSentIsNotADrainThatIsAnswered) {
  PersistRules naive;
  naive.empty_when_answered = false;
  const Registry kinds = with_rules(naive);
  PersistChain chain;
  chain.kind = "naive-switch";
  chain.buffers = {{1, forwarding()}};
  Running running(chain.with({flush_of(0)}), kinds);
  running.to_end();
  PowerLoss power(kinds, running.simulation().spec());
  const auto at_depth = [&](std::uint32_t depth) {
    return power.at(running.simulation().system(), {depth, nullptr});
  };
  EXPECT_TRUE(at_depth(0).lost.empty());
  EXPECT_EQ(at_depth(1).lost.size(), 1U);
  EXPECT_FALSE(at_depth(1).one_end);
}

// Entries that were drained are Empty: whoever drains them again puts old versions over new ones at the
// second attempt, if not at the first.
TEST(Recovery, NaiveRulesLoseLinesWhenPlayed) {
  NaiveRecovery empties;
  empties.skip_empty = false;
  NaiveRecovery from_host;
  from_host.from_memory = false;
  NaiveRecovery newest;
  newest.oldest_first = false;
  for (const NaiveRecovery& naive : {empties, from_host, newest}) {
    Running running(powered({2, {1, 2}, 1, {{"entries", 4}, {"policy", "drain"}}}, 2, 24));
    EXPECT_GT(explore(running, 0, naive).lost, 0U);
  }
}

}  // namespace
}  // namespace cxloom::test
