#include "device/switch/root_port.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::Running;
using test::SpecBuilder;

Access at(Time time, AccessKind kind = AccessKind::kRead) {
  Access access = access_to(0, kind);
  access.timestamp = time;
  access.timed = true;
  return access;
}

// A write takes 80 B of a wire of 20 GB/s, which are 4 ns; a read takes 16 B there (800 ps), and its data 4
// ns. All else takes no time.
SpecBuilder two_hosts(Value::Map port, Value::Map wire = {}, const std::string& memory_time = "0ns",
                      const std::string& kind = "root-port") {
  wire.emplace_back("bandwidth", "20GB/s");
  SpecBuilder system;
  for (const char* name : {"writer", "reader"})
    system.device(name, "host", {{"process_time", "0ns"}, {"queue", 64}}).link(name, "port");
  port.emplace_back("port_delay", "0ns");
  return system.device("port", kind, std::move(port))
      .device("mem", "memory",
              {{"controller_time", "0ns"},
               {"credit_release", "completion"},
               {"media", Value::Map{{"kind", "fixed"}, {"latency", memory_time}}}})
      .link("port", "mem", std::move(wire))
      .region({"mem"});
}

// A last write comes long after all else, so that nobody's work is over before.
SpecBuilder with_writes(SpecBuilder system, int writes, const std::vector<Access>& reads, Time first = {}) {
  std::vector<Access> all(static_cast<std::size_t>(writes), at(first, AccessKind::kWrite));
  all.push_back(at(1_us, AccessKind::kWrite));
  return system.replay("writer", all, {{"replay", "timestamps"}})
      .replay("reader", reads, {{"replay", "timestamps"}});
}

/// When the requests of a host were answered, in the order in which it made them.
std::vector<Time> answers(Running& run, const std::string& host) {
  std::vector<Time> found;
  run.to_end();
  const RequestTable& table = run.table();
  for (std::size_t row = 0; row < table.completed_ps.size(); ++row) {
    if (table.requester[row] == run.node(host).index()) found.push_back(run.completed(row));
  }
  return found;
}

TEST(RootPort, AloneARequestTakesWhatItsWiresTake) {
  Running run(two_hosts({}).replay("reader", {access_to(0)}));
  run.to_end();
  EXPECT_EQ(run.latency(0), 800_ps + 4_ns);
}

TEST(RootPort, ItsPassTimeIsPaidInEachDirection) {
  Running run(two_hosts({{"pass_time", "7ns"}}).replay("reader", {access_to(0)}));
  run.to_end();
  EXPECT_EQ(run.latency(0), 14_ns + 800_ps + 4_ns);
  EXPECT_EQ(run.segment(0, Segment::kSwitching), 14_ns);
}

// Ten writes are there at 0 and leave every 4 ns, the last one at 36 ns: the wire is the read's at 40 ns.
TEST(RootPort, AReadWaitsForTheWritesBeforeIt) {
  Running run(with_writes(two_hosts({}), 10, {at(1_ns)}));
  EXPECT_EQ(answers(run, "reader"), std::vector{40_ns + 800_ps + 4_ns});
}

// At a switch it has a queue of its own: the wire is its own once the first write is out.
TEST(RootPort, AtASwitchItWaitsForOneOfThem) {
  Running run(with_writes(two_hosts({{"queueing", "voq"}, {"switching_time", "0ns"}}, {}, "0ns", "switch"),
                          10, {at(1_ns)}));
  EXPECT_EQ(answers(run, "reader"), std::vector{4_ns + 800_ps + 4_ns});
}

// At 1 ns one of 10 writes is on the wire, 4 are in the queue and 5 before it. The place at 4 ns is the
// writer's, that at 8 ns the reader's: behind the fourth, fifth and sixth write it leaves at 24 ns.
TEST(RootPort, RequestersTakeTurnsForThePlacesOfAQueueThatIsFull) {
  Running run(with_writes(two_hosts({{"depth", 4}}), 10, {at(1_ns)}));
  EXPECT_EQ(answers(run, "reader"), std::vector{24_ns + 800_ps + 4_ns});
}

TEST(RootPort, DeeperQueuesHoldAReadUpLonger) {
  Time before;
  for (const int depth : {1, 2, 8, 32}) {
    Running run(with_writes(two_hosts({{"depth", depth}}), 60, {at(1_ns)}));
    const Time answered = answers(run, "reader").front();
    EXPECT_GT(answered, before) << depth;
    before = answered;
  }
}

TEST(RootPort, ItsRateIsABound) {
  Running run(two_hosts({{"rate", "100M/s"}}).replay("reader", std::vector(10, access_to(0))));
  run.to_end();
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_EQ(run.completed(i), 10_ns * static_cast<std::int64_t>(i) + 800_ps + 4_ns);
}

// The second read has no credit until the first is answered, at 104.8 ns; the write passes it.
TEST(RootPort, AWritePassesAReadWithoutACredit) {
  SpecBuilder system = two_hosts({}, {{"credits", Value::Map{{"M2S Req", 1}}}}, "100ns");
  Running run(with_writes(std::move(system), 1, {at({}), at({})}, 1_ns));
  EXPECT_LT(answers(run, "writer").front(), 110_ns);
  EXPECT_GT(answers(run, "reader").back(), 200_ns);
  EXPECT_EQ(run.number({"per_switch", "port", "overtaking_writes"}), 1);
}

// The queue holds a read without a credit and no more; the write behind it comes in besides, and passes.
TEST(RootPort, AWriteComesIntoAQueueThatIsFullOfBlockedReads) {
  SpecBuilder system = two_hosts({{"depth", 1}}, {{"credits", Value::Map{{"M2S Req", 1}}}}, "100ns");
  Running run(with_writes(std::move(system), 1, {at({}), at({}), at({})}, 1_ns));
  EXPECT_LT(answers(run, "writer").front(), 110_ns);
  EXPECT_GT(answers(run, "reader").back(), 300_ns);
  EXPECT_EQ(run.number({"per_switch", "port", "overtaking_writes"}), 1);
}

// A read never passes a write: the second write has no credit until the first is answered, and the read waits
// with it.
TEST(RootPort, AReadWaitsWithAWriteWithoutACredit) {
  SpecBuilder system = two_hosts({}, {{"credits", Value::Map{{"M2S RwD", 1}}}}, "100ns");
  Running run(with_writes(std::move(system), 2, {at(1_ns)}));
  EXPECT_GT(answers(run, "reader").front(), 200_ns);
  EXPECT_EQ(run.number({"per_switch", "port", "overtaking_writes"}), 0);
}

TEST(RootPort, MeasuresWhatIsInItsQueueAndBeforeIt) {
  SpecBuilder system = two_hosts({{"depth", 4}});
  Running run(system.replay("writer", std::vector(11, access_to(0, AccessKind::kWrite))));
  run.to_end();
  EXPECT_EQ(run.number({"per_switch", "port", "requests"}), 11);
  EXPECT_EQ(run.number({"per_switch", "port", "request_queue_max"}), 4);
  // 6 before it from 0 to 4 ns, then one less every 4 ns; the last answer comes at 44.8 ns.
  EXPECT_NEAR(run.number({"per_switch", "port", "request_queue_outside_mean"}),
              4.0 * (6 + 5 + 4 + 3 + 2 + 1) / 44.8, 1e-9);
}

}  // namespace
}  // namespace cxloom
