// The places where the published rules of a persistent switch are not enough: each with a system in which
// they fail, and ours hold.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/support/errors.hpp"
#include "core/support/persist_systems.hpp"

namespace cxloom {
namespace {

using namespace test;
using test::SpecBuilder;

/// What a run saw of old data.
struct Old {
  double stale_reads;
  double lost_updates;
};

Old old_data(Running& running) {
  running.to_end();
  return {running.number({"versions", "stale_reads"}), running.number({"versions", "lost_updates"})};
}

/// A system with one of the rules as published, and with ours.
struct Compared {
  PersistChain chain;
  PersistRules naive;

  Running running(std::vector<Access> accesses, bool ours) {
    chain.kind = "naive-switch";
    return Running(chain.with(std::move(accesses)), with_rules(ours ? PersistRules{} : naive));
  }
};

/// Media that write slowly, and read beside.
Value::Map slow_writes() { return {{"kind", "fixed"}, {"latency", "100ns"}, {"write_latency", "5us"}}; }

// Fences let the drain of A end before A is read.
std::vector<Access> written_again_while_it_drains() {
  std::vector<Access> accesses{flush_of(0), behind_fence(flush_of(0))};
  for (std::uint64_t i = 1; i < 4; ++i) accesses.push_back(behind_fence(access_to(4096 * i)));
  accesses.push_back(behind_fence(access_to(0)));
  return accesses;
}

TEST(PersistHazard, ALineThatIsWrittenAgainInDrain) {
  Compared both;
  both.chain.buffers = {{1, {}}};
  both.naive.second_entry = false;
  Running naive = both.running(written_again_while_it_drains(), false);
  EXPECT_EQ(old_data(naive).stale_reads, 1);
  Running ours = both.running(written_again_while_it_drains(), true);
  EXPECT_EQ(old_data(ours).stale_reads, 0);
  EXPECT_EQ(ours.number({"per_switch", "sw1", "persist_buffer", "drained"}), 2);
}

// The versions of a line reach memory one after the other.
TEST(PersistHazard, ALineHasOneDrainAtATime) {
  Compared both;
  both.chain.buffers = {{1, {}}};
  both.chain.media = slow_writes();
  std::vector<Access> accesses;
  for (int i = 0; i < 5; ++i) accesses.push_back(behind_fence(flush_of(0)));
  accesses.push_back(behind_fence(access_to(0)));
  Running ours = both.running(accesses, true);
  ours.simulation().run_until(Time::max());
  EXPECT_EQ(old_data(ours).stale_reads, 0);
  EXPECT_EQ(old_data(ours).lost_updates, 0);
  // The first is on its way; the others overwrite each other in a second entry, and the read finds the last.
  EXPECT_EQ(ours.number({"per_switch", "sw1", "persist_buffer", "coalesced"}), 3);
  EXPECT_EQ(ours.number({"per_switch", "sw1", "persist_buffer", "resident"}), 2);
  EXPECT_EQ(ours.number({"per_switch", "sw1", "persist_buffer", "read_hits"}), 1);
}

// B takes the only entry, A waits in the queue, and the read of A finds no entry.
TEST(PersistHazard, AReadOvertakesTheWriteInTheQueue) {
  Compared both;
  both.chain.buffers = {{1, {{"entries", 1}}}};
  both.naive.look_in_queue = false;
  const std::vector<Access> accesses{flush_of(64), flush_of(0), access_to(0)};
  Running naive = both.running(accesses, false);
  naive.to_end();
  EXPECT_LT(naive.completed(1),
            naive.completed(2));  // in the order of their ends: the read is before its write
  EXPECT_EQ(naive.table().id[1], 2U);
  EXPECT_EQ(naive.table().target[1], naive.node("mem").index());
  Running ours = both.running(accesses, true);
  ours.to_end();
  EXPECT_EQ(ours.table().id[2], 2U);
  EXPECT_EQ(ours.table().target[2], ours.node("sw1").index());
}

TEST(PersistHazard, AReadOvertakesTheDrain) {
  Compared both;
  both.chain.buffers = {{1, {}}};
  both.chain.media = slow_writes();
  both.naive.empty_when_answered = false;
  const std::vector<Access> accesses{flush_of(0), behind_fence(access_to(0))};
  Running naive = both.running(accesses, false);
  EXPECT_EQ(old_data(naive).stale_reads, 1);
  Running ours = both.running(accesses, true);
  EXPECT_EQ(old_data(ours).stale_reads, 0);
}

SpecBuilder two_persisting_hosts(const std::string& kind) {
  SpecBuilder system;
  system.device("near", "host")
      .device("far", "host")
      .device("sw1", kind, {{"persist_buffer", Value::Map{}}})
      .device("sw2", "switch")
      .device("mem", "memory", {{"media", slow_writes()}})
      .link("near", "sw1")
      .link("sw1", "sw2")
      .link("far", "sw2")
      .link("sw2", "mem")
      .region({"mem"}, {{"persistence", "media"}})
      .outputs({{"versions", true}});
  return system.replay("near", {flush_of(0)}).replay("far", {access_to(4096), behind_fence(access_to(0))});
}

TEST(PersistHazard, AnotherHostReadsPastTheBuffer) {
  PersistRules careless;
  careless.same_ways = false;
  Running naive(two_persisting_hosts("naive-switch"), with_rules(careless));
  EXPECT_EQ(old_data(naive).stale_reads, 1);
  const std::string error = input_error([] { Running ours(two_persisting_hosts("switch")); }).what();
  EXPECT_TRUE(contains(error, "devices.sw1.persist_buffer")) << error;
  EXPECT_TRUE(contains(error, "'far' to 'mem' without 'sw1'")) << error;
}

// An answer that waits behind the write which waits for it.
TEST(PersistHazard, AnAnswerBehindAStalledWrite) {
  Compared both;
  both.chain.buffers = {{1, {{"entries", 1}}}};
  both.naive.answers_pass = false;
  const std::vector<Access> accesses{flush_of(0), flush_of(64)};
  Running naive = both.running(accesses, false);
  EXPECT_THROW(
      {
        try {
          naive.to_end();
        } catch (const SimulationError& error) {
          EXPECT_TRUE(contains(error.what(), "an Empty entry of the persist buffer")) << error.what();
          throw;
        }
      },
      SimulationError);
  Running ours = both.running(accesses, true);
  ours.to_end();
  EXPECT_EQ(ours.table().rows(), 2U);
}

// A host with one request at a time gives all of them the same tag. B is in memory before A.
TEST(PersistHazard, DrainsWithTheTagsOfTheirHost) {
  PersistRules careless;
  careless.own_tags = false;
  const auto build = [] {
    SpecBuilder system;
    system.device("host", "host", {{"queue", 1}})
        .device("sw1", "naive-switch", {{"persist_buffer", Value::Map{}}})
        .device("slow", "memory", {{"media", slow_writes()}, {"capacity", "1MiB"}})
        .device("fast", "memory", {{"media", Value::Map{{"kind", "fixed"}, {"latency", "100ns"}}}})
        .link("host", "sw1")
        .link("sw1", "slow")
        .link("sw1", "fast")
        .region({"slow"}, {{"persistence", "media"}})
        .region({"fast"}, {{"persistence", "media"}})
        .outputs({{"versions", true}});
    const std::uint64_t fast = 1U << 20U;
    return system.replay("host", {flush_of(0), flush_of(fast), access_to(fast + 4096), access_to(0)});
  };
  Running naive(build(), with_rules(careless));
  EXPECT_EQ(old_data(naive).stale_reads, 1);
  Running ours(build(), with_rules({}));
  EXPECT_EQ(old_data(ours).stale_reads, 0);
}

TEST(PersistHazard, BytesThatWereNotWritten) {
  Compared both;
  both.chain.buffers = {{1, forwarding()}};
  both.naive.masks = false;
  const std::vector<Access> accesses{part_of(access_to(0, AccessKind::kWrite), 8),
                                     behind_fence(access_to(0))};
  Running naive = both.running(accesses, false);
  naive.to_end();
  EXPECT_EQ(naive.number({"per_switch", "sw1", "persist_buffer", "read_hits"}), 1);
  Running ours = both.running(accesses, true);
  ours.to_end();
  EXPECT_EQ(ours.number({"per_switch", "sw1", "persist_buffer", "read_hits"}), 0);
}

TEST(PersistHazard, ABufferMustBeOnEveryWay) {
  const auto refused = [](SpecBuilder system) {
    return std::string(input_error([&] { Running running(system); }).what());
  };
  // Two ways of the same length, one of them past the buffer.
  SpecBuilder diamond;
  diamond.device("host", "host").device("mem", "memory", {{"heads", 2}});
  for (const std::string name : {"a", "b"}) {
    Value::Map params;
    if (name == "a") params.emplace_back("persist_buffer", Value::Map{});
    diamond.device(name, "switch", params).link("host", name).link(name, "mem");
  }
  diamond.region({"mem"}, {{"persistence", "media"}}).replay("host", {flush_of(0)});
  EXPECT_TRUE(contains(refused(diamond), "'host' to 'mem' without 'a'"));

  PersistChain chain;
  chain.buffers = {{1, {}}};
  chain.persistence = "volatile";
  SpecBuilder nothing = chain.with({access_to(0)});
  nothing.outputs({});
  EXPECT_TRUE(contains(refused(nothing), "on no way to persistent memory"));

  chain.persistence = "media";
  chain.more_of_switch = {
      {"vcs", Value::List{Value::Map{{"upstream", "host"}, {"bind", Value::List{"mem"}}}}}};
  EXPECT_TRUE(contains(refused(chain.with({flush_of(0)})), "virtual switches and a persist buffer"));
}

}  // namespace
}  // namespace cxloom
