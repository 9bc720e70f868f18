// Switches with a persist buffer beside failures, to the picosecond: docs/model/persist.md.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "component/line_versions.hpp"
#include "core/support/errors.hpp"
#include "core/support/failing_system.hpp"
#include "core/support/persist_systems.hpp"
#include "system/crash/power_loss.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

double of_buffer(const Running& run, std::string_view what, std::string_view which = "sw1") {
  return run.number({"per_switch", which, "persist_buffer", what});
}

void expect_balanced(const Running& run, std::string_view which = "sw1") {
  EXPECT_EQ(of_buffer(run, "resident_before", which) + of_buffer(run, "persists", which),
            of_buffer(run, "coalesced", which) + of_buffer(run, "drained", which) +
                of_buffer(run, "resident", which));
}

void expect_nothing_lost(Running& run) {
  EXPECT_TRUE(lost_at_power_loss(run.simulation().system()).empty());
  EXPECT_EQ(run.number({"versions", "stale_reads"}), 0);
  EXPECT_EQ(run.number({"versions", "lost_updates"}), 0);
}

Access at_time(Access access, Time at) {
  access.timed = true;
  access.timestamp = at;
  return access;
}

Access partly(std::uint64_t address, AccessKind kind) { return part_of(access_to(address, kind), 8); }

PersistChain buffered_chain(const std::string& policy = "drain", std::int64_t entries = 1) {
  PersistChain chain;
  chain.buffers = {{1, {{"entries", entries}, {"policy", policy}}}};
  chain.host = {{"completion_timeout", "5us"}};
  return chain;
}

SpecBuilder timed(const PersistChain& chain, std::vector<Access> accesses) {
  SpecBuilder system = chain.build();
  return system.replay("host", std::move(accesses), {{"replay", "timestamps"}});
}

/// The latencies of the requests, in the order in which they were made.
std::vector<Time> latencies_of(const Running& run) {
  std::vector<Time> all(run.table().rows());
  for (std::size_t row = 0; row < all.size(); ++row) all[run.table().id[row]] = run.latency(row);
  return all;
}

std::vector<bool> errors_of(const Running& run) {
  std::vector<bool> all(run.table().rows());
  for (std::size_t row = 0; row < all.size(); ++row) all[run.table().id[row]] = run.table().error[row] != 0;
  return all;
}

/// From when a request is made until the controller of the first switch may serve it.
constexpr Time kThere = kP + kW + kS;
/// From when the controller is done with it until the host has the answer.
constexpr Time kBack = kS + kW;

TEST(PersistFailures, ADrainWaitsForARepairAndSoDoesWhoNeedsItsEntry) {
  SpecBuilder system = buffered_chain().with({flush_of(0), flush_of(64)});
  system.event(fail_link("1ns", "sw1", "mem", "10us")).event(repair_link("5us", "sw1", "mem"));
  Running run(system);
  run.to_end();
  const auto all = latencies_of(run);
  EXPECT_EQ(all[0], buffered(1));
  // The first entry begins to cross at the repair: by then it has left the switch.
  EXPECT_EQ(all[1], 5_us - kS + drain_time(1, kMediaWrite) + kT + kBack);
  EXPECT_EQ(of_buffer(run, "drain_errors"), 0);
  EXPECT_EQ(run.number({"errors", "requests"}), 0);
  expect_balanced(run);
  expect_nothing_lost(run);
}

TEST(PersistFailures, AFullBufferThatCannotDrainRefusesPersists) {
  std::vector<Access> accesses{flush_of(0), flush_of(64), behind_fence(flush_of(128)),
                               behind_fence(access_to(0)), behind_fence(access_to(4096))};
  SpecBuilder system = buffered_chain().with(accesses);
  system.event(fail_link("1ns", "sw1", "mem", "2us"));
  Running run(system);
  run.to_end();
  const auto all = latencies_of(run);
  EXPECT_EQ(errors_of(run), (std::vector<bool>{false, true, true, false, true}));
  EXPECT_EQ(all[0], buffered(1));
  EXPECT_EQ(all[1], 2001_ns + kTag + kBack);  // it is known then that no entry becomes Empty
  EXPECT_EQ(all[2], buffered(1) - kT + kTag);
  EXPECT_EQ(all[3], buffered(1));  // the entry answers as ever
  EXPECT_EQ(all[4], kThere + kW);  // of a line that no entry holds: no way leads on
  EXPECT_EQ(of_buffer(run, "drain_errors"), 1);
  EXPECT_EQ(of_buffer(run, "refused"), 2);
  EXPECT_EQ(of_buffer(run, "stalls"), 1);
  EXPECT_EQ(of_buffer(run, "resident"), 1);
  EXPECT_EQ(of_buffer(run, "lost_acknowledged"), 0);  // it is there, and may be read
  EXPECT_EQ(run.number({"versions", "unreachable_lines"}), 1);
  expect_balanced(run);
  expect_nothing_lost(run);
}

TEST(PersistFailures, ALineWhoseDrainFailedIsDrainedAgainByTheRepair) {
  const auto with = [&](Time second) {
    return timed(buffered_chain(), {at_time(flush_of(0), Time{}), at_time(flush_of(64), second)})
        .event(fail_link("1ns", "sw1", "mem", "2us"))
        .event(repair_link("6us", "sw1", "mem"));
  };
  // It leaves the switch anew at the repair, and its entry is Empty D later.
  const Time empty = 6_us + drain_time(1, kMediaWrite);
  Running just(with(empty - kThere + 1_ns));
  just.to_end();
  EXPECT_EQ(latencies_of(just)[1], buffered(1));
  EXPECT_EQ(of_buffer(just, "stalls"), 0);
  Running early(with(empty - kThere - 1_ns));
  early.to_end();
  EXPECT_EQ(latencies_of(early)[1], buffered(1) + 1_ns);
  EXPECT_EQ(of_buffer(early, "stalls"), 1);
  EXPECT_EQ(of_buffer(early, "drains"), 3);
  EXPECT_EQ(of_buffer(early, "drain_errors"), 1);
  expect_balanced(early);
  expect_nothing_lost(early);
}

// What is written to a line that waits for its repair overwrites it there.
TEST(PersistFailures, AWriteToALineWhoseDrainFailedIsCoalesced) {
  SpecBuilder system = timed(buffered_chain(), {at_time(flush_of(0), Time{}), at_time(flush_of(0), 3_us),
                                                at_time(access_to(4096), 9_us)});
  system.event(fail_link("1ns", "sw1", "mem", "2us")).event(repair_link("6us", "sw1", "mem"));
  Running run(system);
  run.to_end();
  EXPECT_EQ(latencies_of(run)[1], buffered(1));
  EXPECT_EQ(of_buffer(run, "coalesced"), 1);
  EXPECT_EQ(of_buffer(run, "drained"), 1);
  EXPECT_EQ(run.simulation().system().versions()->in_memory(LineAddress{0}), 2U);
  expect_balanced(run);
}

// A write that came while its line was in Drain has an entry of its own, which takes the older one in.
TEST(PersistFailures, OfTwoEntriesOfALineTheNewerOneStays) {
  std::vector<Access> accesses{at_time(partly(0, AccessKind::kWrite), Time{}),
                               at_time(partly(8, AccessKind::kWrite), 500_ns),
                               at_time(part_of(access_to(0), 16), 3_us)};
  SpecBuilder system = timed(buffered_chain("drain", 2), accesses);
  system.event(fail_link("1ns", "sw1", "mem", "2us"));
  Running run(system);
  run.to_end();
  EXPECT_EQ(latencies_of(run)[2], buffered(1));  // of the bytes of both
  EXPECT_EQ(of_buffer(run, "coalesced"), 1);
  EXPECT_EQ(of_buffer(run, "resident"), 1);
  expect_balanced(run);
  expect_nothing_lost(run);
}

TEST(PersistFailures, AReadThatWaitsForADrainEndsWithIt) {
  std::vector<Access> accesses{at_time(partly(0, AccessKind::kWrite), Time{}), at_time(access_to(0), 500_ns),
                               at_time(access_to(0), 3_us)};
  SpecBuilder system = timed(buffered_chain(), accesses);
  system.event(fail_link("1ns", "sw1", "mem", "2us"));
  Running run(system);
  run.to_end();
  EXPECT_EQ(errors_of(run), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(latencies_of(run)[1], 2001_ns - 500_ns + kBack);
  EXPECT_EQ(latencies_of(run)[2], buffered(1) - kT + kTag);  // it is known that it would wait in vain
  EXPECT_EQ(of_buffer(run, "refused"), 2);
}

TEST(PersistFailures, OtherTrafficPassesABufferThatStandsStill) {
  SpecBuilder system = buffered_chain().build();
  system.device("dram", "memory").link("sw1", "dram", ports()).region({"dram"});
  const std::uint64_t dram = 16ULL << 30U;
  system.replay("host", {flush_of(0), flush_of(64), flush_of(128), access_to(dram)});
  system.event(fail_link("1ns", "sw1", "mem", "2us"));
  Running run(system);
  run.to_end();
  const auto beside = latencies_of(run)[3];
  PersistChain whole = buffered_chain();
  whole.host = {};
  SpecBuilder alone = whole.build();
  alone.device("dram", "memory").link("sw1", "dram", ports()).region({"dram"});
  Running idle(alone.replay("host", {access_to(dram), flush_of(0)}));
  idle.to_end();
  EXPECT_EQ(beside, latencies_of(idle)[0]);
}

// ---- The switch itself

TEST(PersistFailures, EntriesOutliveAFailureOfTheirSwitch) {
  for (const std::string policy : {"drain", "forward"}) {
    // Two of three persists have an entry when it fails, and the third one waits in the input queue.
    PersistChain chain = buffered_chain(policy, 2);
    chain.media = {{"kind", "fixed"}, {"latency", "100ns"}, {"write_latency", "50us"}};
    std::vector<Access> accesses{at_time(flush_of(0), Time{}), at_time(flush_of(64), Time{}),
                                 at_time(flush_of(128), Time{}), at_time(access_to(0), 2_us),
                                 at_time(access_to(64), 8_us)};
    SpecBuilder system = timed(chain, accesses);
    system.event(fail_device("500ns", "sw1", "1us")).event(repair_device("7us", "sw1"));
    Running run(system);
    run.to_end();
    const auto all = latencies_of(run);
    EXPECT_EQ(errors_of(run), (std::vector<bool>{false, false, true, true, false})) << policy;
    EXPECT_EQ(all[2], 5_us);         // lost with it: the timeout of the host
    EXPECT_EQ(all[3], kP);           // no way leads there
    EXPECT_EQ(all[4], buffered(1));  // from the entry, as if nothing had happened
    for (std::size_t row = 0; row < all.size(); ++row) {
      if (run.table().id[row] != 2) continue;
      EXPECT_EQ(run.segment(row, Segment::kPersistQueue), 500_ns - kThere);
    }
    expect_balanced(run);
    expect_nothing_lost(run);
  }
}

TEST(PersistFailures, ASwitchThatStaysDownTakesItsLinesAlong) {
  SpecBuilder system =
      timed(buffered_chain("forward", 4),
            {at_time(flush_of(0), Time{}), at_time(flush_of(64), Time{}), at_time(access_to(0), 9_us)});
  system.event(fail_device("1us", "sw1", "1us"));
  Running run(system);
  run.to_end();
  EXPECT_EQ(of_buffer(run, "lost_acknowledged"), 2);
  EXPECT_EQ(run.number({"versions", "unreachable_lines"}), 2);
  EXPECT_EQ(lost_at_power_loss(run.simulation().system(), {}, run.node("sw1")).size(), 2U);
  expect_nothing_lost(run);  // as long as it comes back
}

// An answer to a drain that comes to a failed switch counts for nothing.
TEST(PersistFailures, ADrainThatItsSwitchDoesNotHearOfIsMadeAgain) {
  std::vector<Access> accesses{at_time(flush_of(0), Time{}), at_time(access_to(4096), 9_us)};
  SpecBuilder system = timed(buffered_chain(), accesses);
  // The drain leaves at 100 + T, is with the memory W + C + M later, and its answer on the wire from 390 + T.
  system.event(fail_device("400ns", "sw1", "1us")).event(repair_device("3us", "sw1"));
  Running run(system);
  run.to_end();
  EXPECT_EQ(of_buffer(run, "drains"), 2);
  EXPECT_EQ(of_buffer(run, "drain_errors"), 1);
  EXPECT_EQ(of_buffer(run, "drained"), 1);
  expect_balanced(run);
}

// ---- The memory

TEST(PersistFailures, ADrainThatIsLostWithTheMemoryIsMadeAgainAfterItsTimeout) {
  const auto with = [&](const std::string& repair, Time second) {
    return timed(buffered_chain(), {at_time(flush_of(0), Time{}), at_time(flush_of(64), second)})
        .event(fail_device("300ns", "mem", "1us"))
        .event(repair_device(repair, "mem"));
  };
  // The media end it, and nobody hears of it. The timeout is that of the host.
  const Time served = kThere + kT + kS + kW + kC + kMediaWrite;
  for (const bool early : {true, false}) {
    const Time again = early ? served + 5_us : 9_us;
    const Time empty = again + drain_time(1, kMediaWrite);
    Running run(with(early ? "2us" : "9us", empty - kThere));
    run.to_end();
    EXPECT_EQ(latencies_of(run)[1], buffered(1));
    EXPECT_EQ(of_buffer(run, "drain_errors"), early ? 1 : 2);  // it is tried again as the routes have changed
    EXPECT_EQ(run.number({"events", "300ns fail device mem", "lost"}), 1);
    Running before(with(early ? "2us" : "9us", empty - kThere - 1_ns));
    before.to_end();
    EXPECT_EQ(latencies_of(before)[1], buffered(1) + 1_ns);
    expect_balanced(before);
    expect_nothing_lost(before);
  }
}

TEST(PersistFailures, AViralMemoryGetsItsLinesAfterTheReset) {
  const Value::Map viral{{"at", "1ns"}, {"viral", Value::Map{{"device", "mem"}}}};
  const Value::Map reset{{"at", "6us"}, {"reset", Value::Map{{"device", "mem"}}}};
  const Time empty = 6_us + drain_time(1, kMediaWrite);
  PersistChain chain = buffered_chain();
  chain.host = {};
  SpecBuilder system = timed(chain, {at_time(flush_of(0), Time{}), at_time(flush_of(64), 3_us),
                                     at_time(access_to(0), 4_us), at_time(flush_of(64), empty - kThere)});
  Running run(system.event(viral).event(reset));
  run.to_end();
  EXPECT_EQ(errors_of(run), (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(latencies_of(run)[2], buffered(1));
  EXPECT_EQ(latencies_of(run)[3], buffered(1));
  EXPECT_EQ(of_buffer(run, "drain_errors"), 1);
  expect_nothing_lost(run);
}

// ---- Chains, and who asks

TEST(PersistFailures, OfAChainTheBufferBeforeTheFailureFillsLast) {
  PersistChain chain;
  chain.switches = 2;
  chain.buffers = {{1, {{"entries", 1}}}, {2, {{"entries", 1}}}};
  std::vector<Access> accesses;
  for (std::uint64_t i = 0; i < 4; ++i)
    accesses.push_back(at_time(flush_of(64 * i), times(static_cast<std::int64_t>(i), 4_us)));
  accesses.push_back(at_time(access_to(4096), 30_us));
  for (const bool viral : {false, true}) {
    SpecBuilder system = timed(chain, accesses);
    if (viral) {
      system.event({{"at", "1ns"}, {"viral", Value::Map{{"device", "mem"}}}});
      system.event({{"at", "20us"}, {"reset", Value::Map{{"device", "mem"}}}});
    } else {
      system.event(fail_link("1ns", "sw2", "mem", "1us")).event(repair_link("20us", "sw2", "mem"));
    }
    Running run(system);
    run.to_end();
    // The first goes on to the second switch. The second one's drain finds no way, or is refused there.
    EXPECT_EQ(errors_of(run), (std::vector<bool>{false, false, true, true, false}));
    EXPECT_EQ(latencies_of(run)[2], buffered(1) - kT + kTag);
    EXPECT_EQ(of_buffer(run, "refused", "sw2"), viral ? 1 : 0);
    EXPECT_EQ(of_buffer(run, "drain_errors", "sw1"), 1);
    EXPECT_EQ(of_buffer(run, "resident", "sw1") + of_buffer(run, "resident", "sw2"), 0);
    for (const char* name : {"sw1", "sw2"}) expect_balanced(run, name);
    expect_nothing_lost(run);
    for (const std::uint64_t line : {0U, 1U})
      EXPECT_EQ(run.simulation().system().versions()->in_memory(LineAddress{line}), 1U);
  }
}

TEST(PersistFailures, WhatACrashedHostWasAnsweredIsThere) {
  SpecBuilder system = buffered_chain("drain", 4).build();
  system.device("other", "host").link("other", "sw1", ports());
  system.replay("host", {flush_of(0), behind_fence(flush_of(64)), behind_fence(flush_of(128))});
  system.replay("other", {at_time(access_to(0), 5_us), at_time(access_to(64), 5_us)},
                {{"replay", "timestamps"}});
  // The second is stored, and its answer finds no host.
  system.event(fail_device("290ns", "host", "1us"));
  Running run(system);
  run.to_end();
  EXPECT_EQ(run.number({"per_requester", "other", "requests"}), 2);
  EXPECT_EQ(run.simulation().system().versions()->in_memory(LineAddress{0}), 1U);
  EXPECT_EQ(run.simulation().system().versions()->in_memory(LineAddress{2}), 0U);
  expect_nothing_lost(run);
}

// ---- What is refused

TEST(PersistFailures, AWayAroundTheBufferIsRefused) {
  SpecBuilder system;
  system.device("host", "host")
      .device("sw1", "switch", {{"persist_buffer", Value::Map{}}})
      .device("sw2", "switch")
      .device("sw3", "switch")
      .device("mem", "memory", {{"heads", 2}})
      .link("host", "sw1")
      .link("sw1", "mem")
      .link("host", "sw2")
      .link("sw2", "sw3")
      .link("sw3", "mem")
      .region({"mem"}, {{"persistence", "media"}})
      .replay("host", {flush_of(0)});
  EXPECT_EQ(refusal_of(system), "");
  SpecBuilder harmless = system;
  EXPECT_EQ(refusal_of(harmless.event(fail_link("1us", "host", "sw2", "1us"))), "");
  const std::string why = refusal_of(system.event(fail_device("1us", "sw1", "1us")));
  EXPECT_TRUE(contains(why, "devices.sw1.persist_buffer")) << why;
  EXPECT_TRUE(contains(why, "'host' to 'mem' without 'sw1' after 2us fail device sw1")) << why;
}

}  // namespace
}  // namespace cxloom::test
