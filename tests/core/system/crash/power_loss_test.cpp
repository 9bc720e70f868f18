// Power that fails at every instant: what was answered, or read, is there after recovery.
#include "system/crash/power_loss.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "component/line_versions.hpp"
#include "core/support/crash_systems.hpp"
#include "core/support/errors.hpp"
#include "device/switch/persist_buffer.hpp"
#include "device/switch/persist_domain.hpp"

namespace cxloom::test {
namespace {

/// Lets the power fail before each event and at the end. Gives how many lines were lost, over all of them.
std::size_t lost_at_every_event(Running& running, const RecoveryOrder& rules = kRecoveryOrder) {
  std::size_t lost = 0;
  at_every_event(running.simulation(),
                 [&] { lost += lost_at_power_loss(running.simulation().system(), rules).size(); });
  return lost;
}

TEST(PowerLoss, NothingThatWasAnsweredIsLostAtAnyEvent) {
  for (const CrashShape& shape : crash_shapes()) {
    for (const std::uint64_t seed : {1U, 2U}) {
      Running running(powered(shape, seed));
      EXPECT_EQ(lost_at_every_event(running), 0U);
      EXPECT_EQ(running.number({"versions", "stale_reads"}), 0);
      EXPECT_EQ(running.number({"versions", "lost_updates"}), 0);
    }
  }
}

TEST(PowerLoss, WithoutABufferNothingIsLostEither) {
  Running running(powered({2, {}, 2, {}}, 3));
  EXPECT_EQ(lost_at_every_event(running), 0U);
}

// An entry that is Empty may have an old version of a line, over whose newer one it would be drained.
TEST(PowerLoss, EmptyEntriesAreNotDrained) {
  NaiveRecovery naive;
  naive.skip_empty = false;
  std::size_t lost = 0;
  for (const CrashShape& shape : crash_shapes()) {
    Running running(powered(shape, 1));
    lost += lost_at_every_event(running, naive);
  }
  EXPECT_GT(lost, 0U);
}

TEST(PowerLoss, ChainsRecoverFromTheMemorySide) {
  NaiveRecovery naive;
  naive.from_memory = false;
  Running running(powered({2, {1, 2}, 1, {{"entries", 4}, {"policy", "forward"}}}, 2));
  EXPECT_GT(lost_at_every_event(running, naive), 0U);
}

TEST(PowerLoss, OfTwoEntriesOfALineTheOlderIsFirst) {
  NaiveRecovery naive;
  naive.oldest_first = false;
  Running running(powered({1, {1}, 1, {{"entries", 4}}}, 2));
  EXPECT_GT(lost_at_every_event(running, naive), 0U);
}

// The rules as published lose what was answered: the answer to an old drain frees new data, and an entry that
// is Empty once it is sent is gone with the message.
TEST(PowerLoss, ThePublishedRulesLoseLines) {
  for (const bool overwrites : {true, false}) {
    PersistRules naive;
    naive.second_entry = !overwrites;
    naive.empty_when_answered = overwrites;
    PersistChain chain;
    chain.kind = "naive-switch";
    chain.buffers = {{1, {}}};
    Running running(chain.with(busy_lines(2, true)), with_rules(naive));
    EXPECT_GT(lost_at_every_event(running), 0U);
    Running ours(chain.with(busy_lines(2, true)), with_rules({}));
    EXPECT_EQ(lost_at_every_event(ours), 0U);
  }
}

// A takes the only entry, and B waits in the input queue, which is lost with the power. Another host reads B,
// and depends on it in what it persists in another memory.
SpecBuilder reader_beside_the_queue() {
  SpecBuilder system;
  system.device("writer", "host")
      .device("reader", "host")
      .device("sw1", "naive-switch", {{"persist_buffer", Value::Map{{"entries", 1}}}})
      .device("mem", "memory", {{"media", slow_to_write("5us")}, {"capacity", "1MiB"}})
      .device("sw2", "switch")
      .device("log", "memory", {{"media", slow_to_write("100ns")}})
      .link("writer", "sw1")
      .link("reader", "sw1")
      .link("sw1", "mem")
      .link("writer", "sw2")
      .link("reader", "sw2")
      .link("sw2", "log")
      .region({"mem"}, {{"persistence", "media"}})
      .region({"log"}, {{"persistence", "media"}})
      .outputs({{"versions", true}});
  const std::uint64_t log = 1U << 20U;
  return system.replay("writer", {flush_of(0), flush_of(64)})
      .replay("reader", {access_to(log), behind_fence(access_to(64)), behind_fence(flush_of(log))});
}

/// The rules by which lines are lost, over all events.
std::vector<BrokenRule> broken_at_every_event(Running& running) {
  std::vector<BrokenRule> rules;
  at_every_event(running.simulation(), [&] {
    for (const LostLine& each : lost_at_power_loss(running.simulation().system())) rules.push_back(each.rule);
  });
  return rules;
}

TEST(PowerLoss, WhatAReadBroughtIsNotLost) {
  PersistRules naive;
  naive.answer_from_entries = false;
  Running running(reader_beside_the_queue(), with_rules(naive));
  // The write of B is not answered while B can be lost: it is the read alone that shows it.
  const std::vector<BrokenRule> rules = broken_at_every_event(running);
  ASSERT_FALSE(rules.empty());
  for (const BrokenRule rule : rules) EXPECT_EQ(rule, BrokenRule::kRead);
  Running ours(reader_beside_the_queue(), with_rules({}));
  EXPECT_TRUE(broken_at_every_event(ours).empty());
}

// The persist that depends on the read is in memory, and what was read is not.
TEST(PowerLoss, APersistOutlivesWhatItsReaderRead) {
  PersistRules naive;
  naive.answer_from_entries = false;
  Running running(reader_beside_the_queue(), with_rules(naive));
  const LineAddress log = LineAddress::of(Address{1U << 20U});
  bool outlived = false;
  at_every_event(running.simulation(), [&] {
    const auto& system = running.simulation().system();
    outlived |= system.versions()->in_memory(log) == 1 && !lost_at_power_loss(system).empty();
  });
  EXPECT_TRUE(outlived);
}

/// Two memories, of which one has a persist buffer before it, and the other one writes slowly.
SpecBuilder behind_a_buffer_or_not(const Value::Map& buffer) {
  SpecBuilder system;
  system.device("host", "host")
      .device("sw1", "switch", {{"persist_buffer", buffer}})
      .device("sw2", "switch")
      .device("mem", "memory", {{"media", slow_to_write()}})
      .device("slow", "memory", {{"media", slow_to_write("2us")}})
      .link("host", "sw1")
      .link("sw1", "mem")
      .link("host", "sw2")
      .link("sw2", "slow")
      .region({"mem", "slow"}, {{"persistence", "media"}, {"interleave", "256B"}});
  return system.outputs({{"versions", true}});
}

// By the program alone: what lies behind a fence is there only if all before it is. Between fences any part
// may be.
TEST(PowerLoss, FencesOrder) {
  constexpr std::uint64_t kLines = 24;
  constexpr std::uint64_t kBytes = 256;  // from one to the next, which is in the other memory
  constexpr std::uint64_t kEpoch = 4;
  std::size_t gaps = 0;
  std::size_t behind = 0;
  for (const bool fences : {true, false}) {
    for (const CrashShape& shape : crash_shapes()) {
      if (shape.hosts > 1 || shape.switches > 1) continue;
      std::vector<Access> accesses;
      for (std::uint64_t i = 0; i < kLines; ++i) {
        accesses.push_back(flush_of(kBytes * i));
        if (fences && i % kEpoch == 0) accesses.back() = behind_fence(accesses.back());
      }
      Running running(behind_a_buffer_or_not(shape.buffer).replay("host", accesses));
      at_every_event(running.simulation(), [&] {
        const auto& system = running.simulation().system();
        const LineContents contents = contents_after(durable_state(system, {}));
        const auto there = [&](std::uint64_t i) {
          const LineAddress line = LineAddress::of(Address{kBytes * i});
          const auto found = contents.find(line.number());
          return (found == contents.end() ? system.versions()->in_memory(line) : found->second) > 0;
        };
        for (std::uint64_t i = 1; i < kLines; ++i) {
          if (!there(i)) continue;
          for (std::uint64_t before = 0; before < i; ++before) {
            if (there(before)) continue;
            ++(before / kEpoch == i / kEpoch ? gaps : behind);
            EXPECT_TRUE(before / kEpoch == i / kEpoch || !fences);
          }
        }
      });
    }
  }
  EXPECT_GT(gaps, 0U);
  EXPECT_GT(behind, 0U);  // without fences
}

// Power that holds does not help a switch that is gone: what it alone had is lost.
TEST(PowerLoss, ALostSwitchTakesItsLinesAlong) {
  PersistChain chain;
  chain.buffers = {{1, forwarding()}};
  Running running(chain.with({flush_of(0), flush_of(64), flush_of(128)}));
  running.to_end();
  EXPECT_EQ(lost_at_power_loss(running.simulation().system()).size(), 0U);
  const auto lost = lost_at_power_loss(running.simulation().system(), {}, running.node("sw1"));
  ASSERT_EQ(lost.size(), 3U);
  EXPECT_EQ(lost[0].rule, BrokenRule::kAnswered);
  EXPECT_EQ(lost[0].recovered, 0U);
  EXPECT_EQ(lost[0].needed, 1U);
}

// A line is lost with a switch exactly while that one alone has it: the buffer before keeps what it has not
// been answered for, and the one behind has it when it has answered.
TEST(PowerLoss, OfAChainALineIsLostWithTheOnlySwitchThatHasIt) {
  for (const std::string policy : {"drain", "forward"}) {
    Value::Map buffer{{"entries", 2}, {"policy", policy}};
    if (policy == "forward") buffer.emplace_back("drain_from", 0.5), buffer.emplace_back("drain_to", 0.0);
    PersistChain chain;
    chain.switches = 2;
    chain.buffers = {{1, buffer}, {2, buffer}};
    chain.media = slow_to_write("2us");
    std::vector<Access> accesses;
    for (std::uint64_t i = 0; i < 6; ++i) accesses.push_back(flush_of(64 * i));
    Running running(chain.with(accesses));
    const auto& system = running.simulation().system();
    const NodeId first = running.node("sw1");
    const NodeId second = running.node("sw2");
    const auto has = [&](NodeId node, LineAddress line) {
      bool found = false;
      system.roles().of<PersistDomain>(node)->entries().each([&](const PersistEntry& entry) {
        found |= entry.state != PersistEntry::State::kEmpty && entry.line == line;
      });
      return found;
    };
    std::size_t lost_alone = 0;
    std::size_t kept_by_both = 0;
    at_every_event(running.simulation(), [&] {
      const auto with_first = lost_at_power_loss(system, {}, first);
      const auto with_second = lost_at_power_loss(system, {}, second);
      for (std::uint64_t i = 0; i < 6; ++i) {
        const LineAddress line{i};
        const bool answered = system.versions()->broken_by(line, 0) == BrokenRule::kAnswered;
        const bool in_memory = system.versions()->in_memory(line) == 1;
        const auto among = [&](const std::vector<LostLine>& lost) {
          return std::ranges::any_of(lost, [&](const LostLine& each) { return each.line == line; });
        };
        EXPECT_EQ(among(with_first), answered && !in_memory && !has(second, line));
        EXPECT_EQ(among(with_second), answered && !in_memory && !has(first, line));
        lost_alone += among(with_first) ? 1 : 0;
        kept_by_both += has(first, line) && has(second, line) ? 1 : 0;
      }
    });
    EXPECT_GT(lost_alone, 0U) << policy;
    EXPECT_GT(kept_by_both, 0U) << policy;
  }
}

TEST(PowerLoss, OnlyASwitchWithABufferCanBeLostWithIt) {
  PersistChain chain;
  chain.buffers = {{1, {}}};
  Running running(chain.with({flush_of(0)}));
  const auto& system = running.simulation().system();
  EXPECT_EQ(switch_with_buffer(system, "sw1"), running.node("sw1"));
  const std::string error = input_error([&] { switch_with_buffer(system, "mem"); }).what();
  EXPECT_TRUE(contains(error, "'mem' has no persist buffer")) << error;
  EXPECT_TRUE(contains(error, "one of sw1")) << error;
}

}  // namespace
}  // namespace cxloom::test
