#include "device/switch/persist_buffer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/support/errors.hpp"
#include "core/support/persist_systems.hpp"

namespace cxloom {
namespace {

using namespace test;
using test::SpecBuilder;

Value::Map buffer(Value::Map params = {}) { return params; }

std::vector<Time> latencies_of(const SpecBuilder& system) {
  Running running(system);
  running.to_end();
  std::vector<Time> all(running.table().rows());
  for (std::size_t row = 0; row < all.size(); ++row) all[running.table().id[row]] = running.latency(row);
  return all;
}

double count(const Running& running, std::string_view what, std::string_view which = "sw1") {
  return running.number({"per_switch", which, "persist_buffer", what});
}

// What was taken is in memory, overwritten, or here.
void expect_conserved(const Running& running, std::string_view which = "sw1") {
  EXPECT_EQ(count(running, "resident_before", which) + count(running, "persists", which),
            count(running, "coalesced", which) + count(running, "drained", which) +
                count(running, "resident", which));
}

TEST(PersistBuffer, TheLevelOfAPersist) {
  for (const bool from_media : {true, false}) {
    PersistChain chain;
    if (!from_media) {
      chain.media = {{"kind", "nvm"}, {"write_buffer", 64}, {"buffer_write_latency", "10ns"}};
      chain.persistence = "controller";
    }
    const Time media = from_media ? kMediaWrite : Time{10'000};
    for (std::int64_t n = 0; n <= 5; ++n) {
      chain.switches = n;
      chain.buffers = {};
      EXPECT_EQ(latencies_of(chain.with({flush_of(0)}))[0], unbuffered(n, media)) << n;
      EXPECT_EQ(latencies_of(chain.with({access_to(0)}))[0], unbuffered(n, kMediaRead)) << n;
      for (const std::int64_t place : {std::int64_t{1}, n}) {
        if (n == 0) continue;
        for (const Value::Map& params : {buffer(), forwarding()}) {
          chain.buffers = {{place, params}};
          EXPECT_EQ(latencies_of(chain.with({flush_of(0)}))[0], buffered(place)) << n;
          EXPECT_EQ(latencies_of(chain.with({access_to(0)}))[0], unbuffered(n, kMediaRead)) << n;
        }
      }
    }
  }
}

// Persist A, persist B, load A, persist A, a fence between each.
TEST(PersistBuffer, TheTimelineOfThreeSchemes) {
  const std::vector<Access> accesses{flush_of(0), behind_fence(flush_of(64)), behind_fence(access_to(0)),
                                     behind_fence(flush_of(0))};
  const auto total = [&](const PersistChain& chain) {
    Time sum;
    for (const Time each : latencies_of(chain.with(accesses))) sum += each;
    return sum;
  };
  PersistChain fast;
  fast.media = {{"kind", "nvm"}, {"write_buffer", 64}, {"buffer_write_latency", "10ns"}};
  fast.persistence = "controller";
  PersistChain slow;
  EXPECT_EQ(total(fast), Time{1'290'000});
  fast.buffers = {{1, buffer()}};
  EXPECT_EQ(total(fast), times(3, buffered(1)) + unbuffered(1, kMediaRead));
  EXPECT_EQ(total(fast), Time{843'519});
  fast.buffers = {{1, forwarding()}};
  EXPECT_EQ(total(fast), Time{604'692});
  slow.buffers = {{1, buffer()}};
  EXPECT_EQ(total(slow), Time{604'692});  // A still drains
}

TEST(PersistBuffer, AccountsForItsTime) {
  PersistChain chain;
  chain.buffers = {{1, buffer({{"entries", 1}})}};
  Running running(chain.with({flush_of(0), flush_of(64)}));
  running.to_end();
  EXPECT_EQ(running.segment(0, Segment::kPersistBuffer), kT);
  EXPECT_EQ(running.segment(0, Segment::kPersistQueue), Time{});
  EXPECT_EQ(running.segment(0, Segment::kSwitching), times(2, kS));
  // The second waits for the first to be stored, and until its entry is Empty.
  EXPECT_EQ(running.segment(1, Segment::kPersistQueue), kT + drain_time(1, kMediaWrite));
  EXPECT_EQ(running.latency(1), buffered(1) + kT + drain_time(1, kMediaWrite));
  EXPECT_EQ(count(running, "stalls"), 1);
  EXPECT_EQ(running.number({"breakdown_ns", "persist_buffer"}), kT.ns());
  expect_conserved(running);
}

// 16 entries: 12.8 and 9.6, so that 13 Dirty ones begin a batch of 4.
TEST(PersistBuffer, ForwardsUntilManyAreDirty) {
  PersistChain chain;
  chain.buffers = {{1, forwarding()}};
  const auto drains_after = [&](const PersistChain& of, std::uint64_t lines) {
    std::vector<Access> accesses;
    for (std::uint64_t i = 0; i < lines; ++i) accesses.push_back(flush_of(64 * i));
    Running running(of.with(accesses));
    running.to_end();
    expect_conserved(running);
    return count(running, "drains");
  };
  EXPECT_EQ(drains_after(chain, 12), 0);
  EXPECT_EQ(drains_after(chain, 13), 4);
  EXPECT_EQ(drains_after(chain, 16), 4);
  chain.buffers = {{1, forwarding({{"drain_from", "50%"}, {"drain_to", 0.3}, {"entries", 10}})}};
  EXPECT_EQ(drains_after(chain, 5), 0);
  EXPECT_EQ(drains_after(chain, 6), 3);
}

// The least recently used ones drain: a read that hits counts as a use. 13 lines, of which the first is read
// again.
TEST(PersistBuffer, DrainsWhatWasUsedLeastRecently) {
  PersistChain chain;
  chain.buffers = {{1, forwarding()}};
  std::vector<Access> accesses;
  for (std::uint64_t i = 0; i < 12; ++i) accesses.push_back(flush_of(64 * i));
  accesses.push_back(behind_fence(access_to(0)));
  accesses.push_back(behind_fence(flush_of(64 * 12)));
  for (std::uint64_t i = 0; i < 6; ++i) {
    Access late = access_to(64 * i);
    if (i == 0) late = behind_fence(late);
    accesses.push_back(late);
  }
  const auto all = latencies_of(chain.with(accesses));
  EXPECT_EQ(all[12], buffered(1));
  // Lines 1 to 4 are in Drain: they are answered from their entries, too, in their turn.
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(all[14 + i], buffered(1) + times(static_cast<std::int64_t>(i), kT));
  // Once that is over, they are gone.
  accesses.push_back(behind_fence(access_to(1 << 20U)));
  accesses.push_back(behind_fence(access_to(0)));
  accesses.push_back(behind_fence(access_to(64)));
  accesses.push_back(behind_fence(access_to(64 * 4)));
  accesses.push_back(behind_fence(access_to(64 * 5)));
  const auto later = latencies_of(chain.with(accesses));
  EXPECT_EQ(later[21], buffered(1));
  EXPECT_EQ(later[22], unbuffered(1, kMediaRead));
  EXPECT_EQ(later[23], unbuffered(1, kMediaRead));
  EXPECT_EQ(later[24], buffered(1));
}

TEST(PersistBuffer, AWriteToADirtyLineOverwritesIt) {
  PersistChain chain;
  chain.buffers = {{1, forwarding()}};
  Running running(chain.with({flush_of(0), flush_of(0), behind_fence(flush_of(0))}));
  running.to_end();
  EXPECT_EQ(count(running, "coalesced"), 2);
  EXPECT_EQ(count(running, "resident"), 1);
  expect_conserved(running);
}

// What comes for a line whose entry is reused meanwhile goes on behind a look-up. One entry: A is in Drain, B
// is stalled, and the read of A waits behind B.
TEST(PersistBuffer, AReadOfALineThatIsGoneTakesADetour) {
  PersistChain chain;
  chain.buffers = {{1, buffer({{"entries", 1}})}};
  Running running(chain.with({flush_of(0), flush_of(64), access_to(0)}));
  running.to_end();
  const Time wait = times(2, kT) + drain_time(1, kMediaWrite);
  EXPECT_EQ(running.table().id[2], 2U);
  EXPECT_EQ(running.latency(2), unbuffered(1, kMediaRead) + kS + kTag + wait);
  EXPECT_EQ(running.segment(2, Segment::kPersistQueue), wait);
  EXPECT_EQ(count(running, "detours"), 1);
}

// A part of a line: what is asked for beyond it comes from memory, once the part is there.
TEST(PersistBuffer, AReadOfMoreThanItHoldsWaitsForTheDrain) {
  PersistChain chain;
  chain.buffers = {{1, forwarding()}};
  const Access write = part_of(access_to(8, AccessKind::kWrite), 8);
  const Access same = part_of(access_to(8), 8);
  EXPECT_EQ(latencies_of(chain.with({write, behind_fence(same)}))[1], buffered(1));
  Running running(chain.with({write, behind_fence(access_to(0)), behind_fence(access_to(0))}));
  running.to_end();
  EXPECT_EQ(running.segment(1, Segment::kPersistQueue), drain_time(1, kMediaWrite));
  EXPECT_EQ(running.latency(1), unbuffered(1, kMediaRead) + kS + kTag + drain_time(1, kMediaWrite));
  EXPECT_EQ(running.latency(2), unbuffered(1, kMediaRead));
  EXPECT_EQ(count(running, "held_reads"), 1);
  EXPECT_EQ(running.number({"per_memory", "mem", "write_gb_per_s"}) > 0, true);
  expect_conserved(running);
}

// Two parts that make up a line, the first of them in Drain, give it whole.
TEST(PersistBuffer, PutsTogetherWhatTwoEntriesHold) {
  PersistChain chain;
  chain.buffers = {{1, buffer()}};
  Running running(chain.with({part_of(access_to(0, AccessKind::kWrite), 32),
                              part_of(access_to(32, AccessKind::kWrite), 32), access_to(0)}));
  running.to_end();
  EXPECT_EQ(count(running, "read_hits"), 1);
  EXPECT_EQ(running.number({"versions", "stale_reads"}), 0);
}

TEST(PersistBuffer, AnAtomicOperationWaitsForTheDrain) {
  PersistChain chain;
  chain.buffers = {{1, forwarding()}};
  Running running(chain.with({flush_of(0), behind_fence(part_of(access_to(0, AccessKind::kAtomic), 8))}));
  running.to_end();
  EXPECT_EQ(running.segment(1, Segment::kPersistQueue), drain_time(1, kMediaWrite));
  EXPECT_EQ(count(running, "held_reads"), 1);
}

TEST(PersistBuffer, DrainsIntoTheNextPersistentSwitch) {
  PersistChain chain;
  chain.switches = 3;
  chain.buffers = {{1, buffer({{"entries", 1}})}, {2, buffer()}};
  Running running(chain.with({flush_of(0), flush_of(64)}));
  running.to_end();
  const Time into_next = times(2, kW) + times(4, kS) + kT;
  EXPECT_EQ(running.latency(1), buffered(1) + kT + into_next);
  EXPECT_EQ(count(running, "persists", "sw2"), 1);  // the other comes after the last answer
  expect_conserved(running, "sw1");
  expect_conserved(running, "sw2");
}

// Beside an idle buffer, and beside a busy one: the buffer is not on its way.
TEST(PersistBuffer, DoesNotSlowWhatIsNotItsOwn) {
  for (const bool is_buffered : {false, true}) {
    PersistChain chain;
    if (is_buffered) chain.buffers = {{1, buffer({{"entries", 1}})}};
    SpecBuilder system = chain.build();
    system.device("dram", "memory").link("sw1", "dram", ports()).region({"dram"});
    std::vector<Access> accesses;
    for (std::uint64_t i = 0; i < 8; ++i) accesses.push_back(flush_of(64 * i));
    const std::uint64_t dram = std::uint64_t{16} << 30U;
    accesses.push_back(access_to(dram));
    accesses.push_back(access_to(dram, AccessKind::kWrite));
    const auto all = latencies_of(system.replay("host", accesses));
    EXPECT_EQ(all[8], unbuffered(1, Time{45'000}));
    EXPECT_EQ(all[9], unbuffered(1, Time{45'000}));
  }
}

// A place in the queue is free when its turn comes. What waits outside waits as long: it is the same
// controller.
TEST(PersistBuffer, AFullQueueHoldsBackPersistsAndStillTakesAnswers) {
  PersistChain chain;
  std::vector<Access> accesses;
  for (std::uint64_t i = 0; i < 6; ++i) accesses.push_back(flush_of(64 * i));
  chain.buffers = {{1, buffer({{"entries", 2}})}};
  const auto free = latencies_of(chain.with(accesses));
  chain.buffers = {{1, buffer({{"entries", 2}, {"queue", 1}})}};
  EXPECT_EQ(latencies_of(chain.with(accesses)), free);
  Running running(chain.with(accesses));
  running.to_end();
  EXPECT_EQ(count(running, "queue_max"), 1);
}

TEST(PersistBuffer, BelongsToAnyKindOfQueueInItsSwitch) {
  for (const std::string queueing : {"output", "voq", "fifo"}) {
    PersistChain chain;
    chain.more_of_switch = {{"queueing", queueing}};
    chain.buffers = {{1, buffer()}};
    EXPECT_EQ(latencies_of(chain.with({flush_of(0)}))[0], buffered(1)) << queueing;
  }
}

TEST(PersistBuffer, BadParametersAreRefused) {
  const auto refused = [](Value::Map params) {
    PersistChain chain;
    chain.buffers = {{1, std::move(params)}};
    return std::string(input_error([&] { Running running(chain.with({flush_of(0)})); }).what());
  };
  EXPECT_TRUE(contains(refused({{"entries", 0}}), "at least 1"));
  EXPECT_TRUE(contains(refused({{"queue", 0}}), "at least 1"));
  EXPECT_TRUE(contains(refused(forwarding({{"drain_to", 0.8}})), "drain_to must be less"));
  EXPECT_TRUE(contains(refused({{"drain_from", 0.5}}), "policy: forward"));
}

}  // namespace
}  // namespace cxloom
