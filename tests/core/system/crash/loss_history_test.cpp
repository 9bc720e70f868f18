// The history of a loss is one, cannot be shorter by any request, and is short.
#include "system/crash/loss_history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/support/crash_systems.hpp"

namespace cxloom::test {
namespace {

/// A rule that loses lines, and the system in which it does.
struct NaiveRule {
  std::string name;
  SpecBuilder system;
  PersistRules buffer;
  NaiveRecovery recovery;
  std::size_t most;  ///< requests of a history that shows it
};

CrashShape naive_shape(std::int64_t switches, std::vector<std::int64_t> buffered, int hosts,
                       Value::Map buffer) {
  return {switches, std::move(buffered), hosts, std::move(buffer), "naive-switch"};
}

/// Another host reaches memory past the buffer.
SpecBuilder past_the_buffer() {
  SpecBuilder system;
  system.device("near", "host")
      .device("far", "host")
      .device("sw1", "naive-switch", {{"persist_buffer", Value::Map{{"policy", "forward"}}}})
      .device("sw2", "switch")
      .device("mem", "memory", {{"media", slow_to_write()}})
      .link("near", "sw1")
      .link("sw1", "sw2")
      .link("far", "sw2")
      .link("sw2", "mem")
      .region({"mem"}, {{"persistence", "media"}})
      .outputs({{"versions", true}});
  return system.replay("near", busy_lines(3, true)).replay("far", busy_lines(4, true));
}

/// A host with one request at a time, whose tags are all the same, and two memories.
SpecBuilder fast_and_slow() {
  SpecBuilder system;
  system.device("host", "host", {{"queue", 1}})
      .device("sw1", "naive-switch", {{"persist_buffer", Value::Map{}}})
      .device("slow", "memory", {{"media", slow_to_write("5us")}, {"capacity", "1MiB"}})
      .device("fast", "memory", {{"media", slow_to_write("100ns")}})
      .link("host", "sw1")
      .link("sw1", "slow")
      .link("sw1", "fast")
      .region({"slow"}, {{"persistence", "media"}})
      .region({"fast"}, {{"persistence", "media"}})
      .outputs({{"versions", true}});
  std::vector<Access> accesses = busy_lines(5, false);
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    if (i % 2 == 0) accesses[i].address = Address{accesses[i].address.value() + (1U << 20U)};
  }
  return system.replay("host", accesses);
}

/// One or more for each of the six places where the published rules are not enough.
std::vector<NaiveRule> naive_rules() {
  const Value::Map four{{"entries", 4}};
  std::vector<NaiveRule> rules{
      {"1: a write over an entry in Drain", powered(naive_shape(1, {1}, 2, four), 2), {}, {}, 3},
      {"2: recovery drains Empty entries", powered(naive_shape(1, {1}, 2, four), 2), {}, {}, 2},
      {"3: a read is answered by a queued write",
       powered(naive_shape(1, {1}, 2, {{"entries", 1}}), 2),
       {},
       {},
       3},
      {"4: an entry is Empty once it is sent", powered(naive_shape(1, {1}, 2, four), 2), {}, {}, 1},
      {"5: a way past the buffer", past_the_buffer(), {}, {}, 3},
      {"6: drains with the tags of their host", fast_and_slow(), {}, {}, 3},
      {"6: chains recover from the host's side", powered(naive_shape(2, {1, 2}, 2, four), 2), {}, {}, 3},
      {"the Dirty entry of a line before the one in Drain",
       powered(naive_shape(1, {1}, 2, four), 2),
       {},
       {},
       2},
  };
  rules[0].buffer.second_entry = false;
  rules[1].recovery.skip_empty = false;
  rules[2].buffer.answer_from_entries = false;
  rules[3].buffer.empty_when_answered = false;
  rules[4].buffer.same_ways = false;
  rules[5].buffer.own_tags = false;
  rules[6].recovery.from_memory = false;
  rules[7].recovery.oldest_first = false;
  return rules;
}

LossSearch search_in(Running& running, const SpecBuilder& system, const Registry& kinds, LossKind kind) {
  std::vector<std::uint64_t> all;
  for (const Spec::Workload& workload : running.simulation().spec().workloads)
    all.push_back(*system.traces()(workload.device).length);
  return {kinds, running.simulation().spec(), system.traces(), all, std::move(kind)};
}

TEST(LossHistory, OfEachNaiveRuleIsOneThatCannotBeShorter) {
  for (const NaiveRule& rule : naive_rules()) {
    SCOPED_TRACE(rule.name);
    const Registry kinds = with_rules(rule.buffer);
    Running running(rule.system, kinds);
    LossSearch search = search_in(running, rule.system, kinds, {{}, &rule.recovery});
    const std::size_t before = search.left().size();
    while (!search.step()) {
    }
    ASSERT_NE(search.shown(), nullptr);
    EXPECT_LT(search.left().size(), before);
    EXPECT_LE(search.left().size(), rule.most);
    EXPECT_LT(search.runs(), 200U);

    const auto again = search.play(search.left());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->at, search.shown()->at);
    EXPECT_EQ(again->lines.front().recovered, search.shown()->lines.front().recovered);
    for (std::size_t i = 0; i < search.left().size() && search.left().size() > 1; ++i) {
      std::vector<std::size_t> without = search.left();
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_FALSE(search.play(without)) << "request " << i << " is not needed";
    }
  }
}

TEST(LossHistory, OfOurRulesThereIsNone) {
  for (const NaiveRule& rule : naive_rules()) {
    if (!rule.buffer.same_ways) continue;  // that system is refused
    const Registry kinds = with_rules({});
    Running running(rule.system, kinds);
    LossSearch search = search_in(running, rule.system, kinds, {});
    EXPECT_TRUE(search.step()) << rule.name;
    EXPECT_EQ(search.shown(), nullptr) << rule.name;
  }
}

// A single persist, which the switch alone has: it is answered once its answer is with the host.
TEST(LossHistory, TellsWhatHappenedWhen) {
  PersistChain chain;
  chain.buffers = {{1, forwarding()}};
  const SpecBuilder system = chain.with(busy_lines(2, true));
  Running running(system);
  LossSearch search = search_in(running, system, Running::registry(), {"sw1"});
  while (!search.step()) {
  }
  ASSERT_EQ(search.requests().size(), 1U);
  const LossShown& shown = *search.shown();
  EXPECT_EQ(shown.at, buffered(1));
  EXPECT_EQ(shown.lines.front().rule, BrokenRule::kAnswered);
  ASSERT_EQ(shown.steps.size(), 3U);
  using What = HistoryStep::What;
  EXPECT_EQ(shown.steps[0].what, What::kWrites);
  EXPECT_EQ(shown.steps[0].node, running.node("host"));
  EXPECT_EQ(shown.steps[1].what, What::kHolds);
  EXPECT_EQ(shown.steps[1].node, running.node("sw1"));
  EXPECT_EQ(shown.steps[2].what, What::kAnswered);
  EXPECT_EQ(shown.steps[2].at, shown.at);
  for (const HistoryStep& each : shown.steps) EXPECT_EQ(each.version, 1U);
}

// What depends on a request that is left out depends on nothing; a fence before it is before the next.
TEST(LossHistory, FencesStayWhereTheyAre) {
  PersistChain chain;
  chain.buffers = {{1, forwarding()}};
  const SpecBuilder system = chain.with({flush_of(0), behind_fence(flush_of(64)), flush_of(128)});
  Running running(system);
  const LossSearch search = search_in(running, system, Running::registry(), {"sw1"});
  const auto times = [&](const std::vector<std::size_t>& left) {
    std::vector<Time> writes;
    LossSearch one = search_in(running, system, Running::registry(), {"sw1"});
    const auto shown = one.play(left);
    for (const HistoryStep& each : shown->steps) {
      if (each.what == HistoryStep::What::kWrites) writes.push_back(each.at);
    }
    return writes;
  };
  EXPECT_EQ(times({0, 2}), (std::vector<Time>{Time{}, buffered(1)}));
  EXPECT_EQ(times({1, 2}), (std::vector<Time>{Time{}, Time{}}));
}

}  // namespace
}  // namespace cxloom::test
