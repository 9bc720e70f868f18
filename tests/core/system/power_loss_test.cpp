// Power that fails at every instant: what was answered is there after recovery.
#include "system/power_loss.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/support/persist_systems.hpp"

namespace cxloom {
namespace {

using namespace test;
using test::System;

/// Lets the power fail before each event and at the end. Gives how many lines were lost, over all of them.
std::size_t lost_at_every_event(Running& running, const RecoveryRules& rules = {}) {
  Simulation& simulation = running.simulation();
  std::size_t lost = 0;
  for (bool over = false; !over;) {
    lost += lost_at_power_loss(simulation.system(), rules).size();
    over = simulation.advance(Time::max(), 1);
  }
  return lost + lost_at_power_loss(simulation.system(), rules).size();
}

/// Few lines, written again and again, some of them read. Without fences all are written before the first is answered, and none is
/// older than another.
std::vector<Access> busy_lines(std::uint64_t seed, bool fences) {
  std::vector<Access> accesses;
  for (std::uint64_t i = 0; i < 60; ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    Access access = flush_of(64 * ((seed >> 33U) % 5));
    if ((seed >> 40U) % 4 == 0) access = access_to(access.address.value());
    if (fences && (seed >> 45U) % 3 == 0) access = behind_fence(access);
    accesses.push_back(access);
  }
  return accesses;
}

struct Shape {
  std::int64_t switches = 1;
  std::vector<std::int64_t> buffered{1};
  int hosts = 1;
  Value::Map buffer;
};

System powered(const Shape& shape, std::uint64_t seed) {
  PersistChain chain;
  chain.switches = shape.switches;
  for (const std::int64_t each : shape.buffered) chain.buffers[each] = shape.buffer;
  chain.media = {{"kind", "fixed"}, {"latency", "100ns"}, {"write_latency", "700ns"}};
  System system = chain.build();
  for (int i = 1; i < shape.hosts; ++i) {
    const std::string name = "host" + std::to_string(i);
    system.device(name, "host").link(name, "sw1", ports());
    system.replay(name, busy_lines(seed + 100, true));
  }
  return system.replay("host", busy_lines(seed, seed % 2 == 0));
}

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const std::int64_t entries : {1, 2, 4}) {
    for (const std::string policy : {"drain", "forward"}) {
      for (const int hosts : {1, 2}) {
        Value::Map buffer{{"entries", entries}, {"policy", policy}};
        if (policy == "forward") {
          buffer.emplace_back("drain_from", 0.7);
          buffer.emplace_back("drain_to", 0.3);
        }
        all.push_back({1, {1}, hosts, buffer});
        all.push_back({2, {1, 2}, hosts, buffer});
        all.push_back({2, {2}, hosts, buffer});
      }
    }
  }
  return all;
}

TEST(PowerLoss, NothingThatWasAnsweredIsLostAtAnyEvent) {
  for (const Shape& shape : shapes()) {
    for (const std::uint64_t seed : {1U, 2U}) {
      Running running(powered(shape, seed));
      EXPECT_EQ(lost_at_every_event(running), 0U);
      EXPECT_EQ(running.number({"versions", "stale_reads"}), 0);
      EXPECT_EQ(running.number({"versions", "lost_updates"}), 0);
    }
  }
}

TEST(PowerLoss, WithoutABufferNothingIsLostEither) {
  Running running(powered({1, {}, 2, {}}, 3));
  EXPECT_EQ(lost_at_every_event(running), 0U);
}

// An entry that is Empty may have an old version of a line, over whose newer one it would be drained.
TEST(PowerLoss, EmptyEntriesAreNotDrained) {
  RecoveryRules naive;
  naive.skip_empty = false;
  std::size_t lost = 0;
  for (const Shape& shape : shapes()) {
    Running running(powered(shape, 1));
    lost += lost_at_every_event(running, naive);
  }
  EXPECT_GT(lost, 0U);
}

TEST(PowerLoss, ChainsRecoverFromTheMemorySide) {
  RecoveryRules naive;
  naive.from_memory = false;
  Running running(powered({2, {1, 2}, 1, {{"entries", 4}, {"policy", "forward"}}}, 2));
  EXPECT_GT(lost_at_every_event(running, naive), 0U);
}

TEST(PowerLoss, OfTwoEntriesOfALineTheOlderIsFirst) {
  RecoveryRules naive;
  naive.oldest_first = false;
  Running running(powered({1, {1}, 1, {{"entries", 4}}}, 2));
  EXPECT_GT(lost_at_every_event(running, naive), 0U);
}

// The rules as published lose what was answered: the answer to an old drain frees new data, and an entry that is Empty once it is sent
// is gone with the message.
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

// Power that holds does not help a switch that is gone: what it alone had is lost.
TEST(PowerLoss, ALostSwitchTakesItsLinesAlong) {
  PersistChain chain;
  chain.buffers = {{1, forwarding()}};
  Running running(chain.with({flush_of(0), flush_of(64), flush_of(128)}));
  running.to_end();
  EXPECT_EQ(lost_at_power_loss(running.simulation().system()).size(), 0U);
  EXPECT_EQ(lost_with_switch(running.simulation().system(), running.node("sw1")).size(), 3U);
}

}  // namespace
}  // namespace cxloom
