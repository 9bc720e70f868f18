// Memories that fail and are reset during a run, to the picosecond: docs/model/failures.md.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/support/errors.hpp"
#include "core/support/failing_system.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

/// As in player_test.cpp: a read takes 10 ns at the host, leaves the switch at 80 ns, is at the memory at
/// 131, and its answer leaves there at 216: 341 ns in all.
Value::Map wire() { return {{"bandwidth", "16GB/s"}, {"port_delay", "25ns"}}; }

SpecBuilder before_memory(const std::vector<Access>& accesses) {
  return host_switch_memory(accesses, wire(), {{"completion_timeout", "5us"}});
}

Value::Map cleared(const std::string& at, const char* device) {
  return {{"at", at}, {"repair", Value::Map{{"device", device}, {"cleared", true}}}};
}

double of_host(const Running& run, const char* measure, const char* host = "host") {
  return run.number({"per_requester", host, measure});
}

TEST(MemoryFailures, LoseARequestThatTheMediaServe) {
  Running run(before_memory(lines(2)).event(fail_device("150ns", "mem", "1us")).event(cleared("2us", "mem")));
  run.to_end();
  EXPECT_EQ(run.latency(0), 5_us);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 5_us - 216_ns);  // the media end what they have begun
  EXPECT_EQ(run.latency(1), 341_ns);
  EXPECT_EQ(run.number({"errors", "requests"}), 1.0);
  EXPECT_EQ(run.number({"events", "150ns fail device mem", "lost"}), 1.0);
  EXPECT_EQ(run.number({"events", "150ns fail device mem", "lasted_ns"}), 4850.0);
}

TEST(MemoryFailures, LoseWhatIsOnItsWayThere) {
  Running run(before_memory(lines(1)).event(fail_device("80.001ns", "mem", "1us")));
  run.to_end();
  EXPECT_EQ(run.latency(0), 5_us);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 5_us - 131_ns);
}

TEST(MemoryFailures, LoseAnAnswerThatWouldLeaveAtTheSameInstant) {
  Running lost(before_memory(lines(1)).event(fail_device("216ns", "mem", "1us")));
  lost.to_end();
  EXPECT_EQ(lost.latency(0), 5_us);
  Running just_left(before_memory(lines(1)).event(fail_device("216.001ns", "mem", "1us")));
  just_left.to_end();
  EXPECT_EQ(just_left.latency(0), 341_ns);
}

TEST(MemoryFailures, AnswerWhatComesWithErrorsOnceTheyAreKnown) {
  Running run(before_memory(lines(2)).event(fail_device("50ns", "mem", "200ns")));
  run.to_end();
  EXPECT_EQ(run.latency(0), 250_ns + 51_ns);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 170_ns);
  EXPECT_EQ(run.latency(1), 80_ns + 51_ns);
  EXPECT_EQ(run.number({"events", "50ns fail device mem", "failed"}), 2.0);
  EXPECT_EQ(run.number({"events", "50ns fail device mem", "lost"}), 0.0);
}

TEST(MemoryFailures, LetARequestWaitForAResetThatComesFirst) {
  Running run(
      before_memory(lines(1)).event(fail_device("50ns", "mem", "1us")).event(cleared("500ns", "mem")));
  run.to_end();
  EXPECT_EQ(run.latency(0), 500_ns + 261_ns);
  EXPECT_EQ(run.number({"events", "50ns fail device mem", "failed"}), 0.0);
}

TEST(MemoryFailures, LeavePoisonUntilALineIsWrittenAsAWhole) {
  std::vector<Access> accesses{access_to(0),
                               access_to(0),
                               access_to(0, AccessKind::kWrite),
                               access_to(0),
                               access_to(64, AccessKind::kWrite),
                               access_to(64),
                               access_to(128)};
  accesses[4].size = 8;
  Running run(
      before_memory(accesses).event(fail_device("50ns", "mem", "1us")).event(repair_device("500ns", "mem")));
  run.to_end();
  // Poison comes with data, in the time of data.
  const std::vector<std::uint8_t> errors{1, 1, 0, 0, 0, 1, 1};
  for (std::size_t i = 0; i < errors.size(); ++i) EXPECT_EQ(run.table().error[i], errors[i]) << i;
  EXPECT_EQ(run.latency(1), 341_ns);
  EXPECT_EQ(of_host(run, "poison_consumed"), 4.0);
  EXPECT_EQ(run.number({"per_memory", "mem", "poison_delivered"}), 4.0);
}

TEST(MemoryFailures, LetACacheWriteOverPoison) {
  SpecBuilder system;
  system.device("host", "host", {{"queue", 2}, {"completion_timeout", "5us"}, {"cache", Value::Map{}}});
  slow_memory(system).link("host", "mem", wire()).region({"mem"}).outputs({{"requests", true}});
  std::vector<Access> accesses{
      access_to(0, AccessKind::kWrite),  access_to(0),  access_to(64),
      access_to(64, AccessKind::kWrite), access_to(64), access_to(128, AccessKind::kWrite)};
  accesses.back().size = 8;
  system.replay("host", accesses);
  Running run(system.event(fail_device("1ns", "mem", "1us")).event(repair_device("2ns", "mem")));
  run.to_end();
  // The first read of a line finds poison, and so does a write of a part of one.
  EXPECT_EQ(run.number({"errors", "requests"}), 2.0);
  EXPECT_EQ(of_host(run, "poison_consumed"), 2.0);
}

TEST(MemoryFailures, LeavePersistentMemoryItsData) {
  SpecBuilder system;
  system.device("host", "host", {{"queue", 1}, {"completion_timeout", "5us"}}).device("sw", "switch");
  slow_memory(system).link("host", "sw", wire()).link("sw", "mem", wire());
  system.region({"mem"}, {{"persistence", "controller"}})
      .replay("host", lines(2))
      .outputs({{"requests", true}});
  Running run(
      SpecBuilder(system).event(fail_device("150ns", "mem", "1us")).event(repair_device("2us", "mem")));
  run.to_end();
  EXPECT_EQ(run.latency(1), 341_ns);
  EXPECT_EQ(run.number({"errors", "requests"}), 1.0);
  const std::string refused =
      refusal_of(system.event(fail_device("150ns", "mem", "1us")).event(cleared("2us", "mem")));
  EXPECT_NE(refused.find("all of its memory is persistent"), std::string::npos) << refused;
}

TEST(MemoryFailures, LoseWhatWaitsForAPlace) {
  SpecBuilder system;
  system.device("host", "host", {{"queue", 4}, {"completion_timeout", "5us"}});
  system.device("mem", "memory",
                {{"controller_time", "40ns"},
                 {"queue", 1},
                 {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}});
  system.link("host", "mem", {{"port_delay", "25ns"}, {"credits", 4}}).region({"mem"});
  system.outputs({{"requests", true}}).replay("host", lines(6));
  Running run(system.event(fail_device("100ns", "mem", "1us")).event(cleared("2us", "mem")));
  run.to_end();
  // Four stood in it, of which three waited; the others are served as if there had been none.
  EXPECT_EQ(run.number({"errors", "requests"}), 4.0);
  EXPECT_EQ(run.number({"events", "100ns fail device mem", "lost"}), 4.0);
  EXPECT_EQ(run.latency(0), 5_us);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 5_us - 145_ns);
  EXPECT_EQ(run.segment(3, Segment::kRetry), 5_us - 100_ns);
  EXPECT_EQ(run.latency(4), 10_ns + 50_ns + 85_ns + 50_ns);
}

/// Two hosts, each with a memory of its own, and one that both have by a head of it each.
SpecBuilder two_heads(const Value::Map& shared) {
  SpecBuilder system;
  Value::Map memory{{"controller_time", "40ns"},
                    {"heads", 2},
                    {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}};
  memory.insert(memory.end(), shared.begin(), shared.end());
  system.device("mem", "memory", memory);
  for (const char* h : {"h0", "h1"}) {
    const std::string own = std::string(h) + "m";
    system.device(h, "host", {{"queue", 1}, {"completion_timeout", "5us"}});
    slow_memory(system, own).link(h, own, wire()).link(h, "mem", wire());
  }
  return system.outputs({{"requests", true}});
}

TEST(MemoryFailures, CutOffAllHostsOfSeveralHeads) {
  SpecBuilder system = two_heads({{"capacity", "1MiB"}});
  system.region({"mem"}).region({"h0m"}, {{"size", "1MiB"}}).region({"h1m"}, {{"size", "1MiB"}});
  // Each reads the shared memory, its own one, and the shared one again.
  for (const std::uint64_t h : {0U, 1U}) {
    const std::uint64_t own = (1 + h) << 20U;
    system.replay("h" + std::to_string(h), {access_to(64 * h), access_to(own), access_to(64 * h)});
  }
  Running run(system.event(fail_device("100ns", "mem", "1us")));
  run.to_end();
  for (std::size_t row = 0; row < run.table().rows(); ++row) {
    const bool of_own = run.latency(row) == 10_ns + 51_ns + 85_ns + 55_ns;
    EXPECT_EQ(run.table().error[row], of_own ? 0 : 1) << row;
  }
  EXPECT_EQ(run.number({"events", "100ns fail device mem", "lost"}), 2.0);
  EXPECT_EQ(run.number({"events", "100ns fail device mem", "failed"}), 2.0);
}

TEST(MemoryFailures, LoseTheQueuesOfLogicalDevices) {
  SpecBuilder system = two_heads(
      {{"queue", 1},
       {"logical_devices", Value::List{Value::Map{{"capacity", "1MiB"}}, Value::Map{{"capacity", "1MiB"}}}}});
  system.region({"mem"}, {{"ld", 0}}).region({"mem"}, {{"ld", 1}});
  system.region({"h0m"}, {{"size", "1MiB"}}).region({"h1m"}, {{"size", "1MiB"}});
  for (const std::uint64_t h : {0U, 1U}) {
    const std::uint64_t base = h << 20U;
    system.replay("h" + std::to_string(h), {access_to(base), access_to(base + 64), access_to(base + 128)});
  }
  Running run(system.event(fail_device("100ns", "mem", "1us")).event(cleared("2us", "mem")));
  run.to_end();
  EXPECT_EQ(run.number({"errors", "requests"}), 2.0);
  EXPECT_EQ(run.number({"events", "100ns fail device mem", "lost"}), 2.0);
  EXPECT_GE(run.number({"requests"}), 2.0);
}

TEST(MemoryFailures, LeaveAReaderOfTwoMemoriesHalfOfThem) {
  SpecBuilder system;
  system.device("host", "host", {{"queue", 1}, {"completion_timeout", "5us"}}).device("sw", "switch");
  slow_memory(system, "mem0");
  slow_memory(system, "mem1");
  system.link("host", "sw", wire()).link("sw", "mem0", wire()).link("sw", "mem1", wire());
  system.region({"mem0", "mem1"}, {{"interleave", "256B"}}).outputs({{"requests", true}});
  std::vector<Access> accesses;
  for (std::uint64_t i = 0; i < 40; ++i) accesses.push_back(access_to(256 * i));
  Running run(system.replay("host", accesses).event(fail_device("3420ns", "mem1", "0ns")));
  run.to_end();
  // Ten are answered; then every second one is an error, by the switch.
  for (std::size_t row = 0; row < 40; ++row) {
    const bool error = row >= 10 && row % 2 == 1;
    EXPECT_EQ(run.latency(row), error ? 131_ns : 341_ns) << row;
    EXPECT_EQ(run.table().error[row], error ? 1 : 0) << row;
  }
  const auto around = [&](const char* measure) {
    return run.number({"events", "3420ns fail device mem1", "requesters", "host", measure});
  };
  EXPECT_EQ(around("requests_before"), 10.0);
  EXPECT_EQ(around("requests"), 15.0);
  EXPECT_EQ(around("errors"), 15.0);
  EXPECT_EQ(around("latency_ns"), 341.0);
}

/// A host that reads the memory of a device, as host_switch_memory; the device reads it, too, and a memory
/// beside the switch at last.
SpecBuilder before_device(const char* kind, const std::vector<Access>& accesses) {
  SpecBuilder system;
  const Value::Map memory{{"capacity", "1MiB"},
                          {"controller_time", "40ns"},
                          {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}};
  system.device("host", "host", {{"queue", 1}, {"completion_timeout", "5us"}}).device("sw", "switch");
  system.device("dev", kind, {{"queue", 1}, {"completion_timeout", "5us"}, {"memory", memory}});
  system.link("host", "sw", wire()).link("sw", "dev", wire()).region({"dev"});
  std::vector<Access> own(40, access_to(4096));
  return system.outputs({{"requests", true}}).replay("host", accesses).replay("dev", own);
}

TEST(MemoryFailures, GoWithADeviceThatCrashes) {
  for (const char* kind : {"accelerator", "host"}) {
    Running run(before_device(kind, lines(3)).event(fail_device("150ns", "dev", "1us")));
    run.to_end();
    std::vector<std::size_t> of_host;
    std::size_t of_device = 0;
    for (std::size_t row = 0; row < run.table().rows(); ++row) {
      if (run.table().requester[row] == 0) of_host.push_back(row);
      else ++of_device;
    }
    ASSERT_EQ(of_host.size(), 3U) << kind;
    EXPECT_EQ(run.latency(of_host[0]), 5_us) << kind;  // it was in the media
    EXPECT_EQ(run.segment(of_host[0], Segment::kRetry), 5_us - 216_ns) << kind;
    for (const std::size_t row : {of_host[1], of_host[2]})  // the switch says so since
      EXPECT_EQ(run.latency(row), 80_ns + 51_ns) << kind;
    for (const std::size_t row : of_host) EXPECT_EQ(run.table().error[row], 1) << kind;
    // One of its own took 95 ns; the next one was in the media, and nobody waits for it.
    EXPECT_LE(of_device, 2U) << kind;
  }
}

TEST(MemoryFailures, AreRefusedOfWhatTheyAreNotModelledOf) {
  SpecBuilder system;
  system.device("host", "host").device("sw", "switch").device("mem", "memory").device("agent", "dcoh");
  system.link("host", "sw").link("mem", "sw").link("agent", "sw");
  system.region({"mem"}, {{"coherence", "hdm-db"}, {"home", "agent"}}).replay("host", lines(1));
  const std::string refused = refusal_of(system.event(fail_device("1us", "agent", "1us")));
  EXPECT_NE(refused.find("a device that cannot fail"), std::string::npos) << refused;
}

TEST(MemoryFailures, AreClearedOfMemoriesAlone) {
  const std::string refused =
      refusal_of(before_memory(lines(1)).event(fail_device("1us", "sw", "1us")).event(cleared("2us", "sw")));
  EXPECT_NE(refused.find("nothing is cleared but memory"), std::string::npos) << refused;
}

}  // namespace
}  // namespace cxloom::test
