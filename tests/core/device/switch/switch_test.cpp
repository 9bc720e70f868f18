#include "device/switch/switch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/support/system.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::access_to;
using test::Running;
using test::SpecBuilder;

// Everything but the switch and its links takes no time, and reads are the only messages with a wire time on
// the way back: header 0 B, data 64 B at 10 ps per byte.
const Value::Map kIdealHost{{"process_time", "0ns"}};
const Value::Map kIdealMemory{{"controller_time", "0ns"},
                              {"media", Value::Map{{"kind", "fixed"}, {"latency", "0ns"}}}};

TEST(Switch, CutThroughAndStoreAndForwardLatencyOfAChain) {
  // A write of 80 B at 10 ps per byte through n switches, and its 16 B completion back. n + 1 links of 30 ns.
  // Cut-through: the bytes once each way. Store-and-forward: at every link.
  for (const int switches : {1, 2, 5}) {
    for (const bool cut_through : {true, false}) {
      SpecBuilder system;
      system.device("host", "host", {{"process_time", "7ns"}});
      const Value::Map link{{"bandwidth", "100GB/s"}, {"port_delay", "10ns"}, {"delay", "10ns"}};
      std::string before = "host";
      for (int i = 0; i < switches; ++i) {
        const std::string name = "sw" + std::to_string(i);
        system.device(
            name, "switch",
            {{"switching_time", "20ns"}, {"forwarding", cut_through ? "cut-through" : "store-and-forward"}});
        system.link(before, name, link);
        before = name;
      }
      system.device(
          "mem", "memory",
          {{"controller_time", "40ns"}, {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}});
      system.link(before, "mem", link).region({"mem"});
      system.replay("host", {access_to(0, AccessKind::kWrite)});
      Running run(system);
      run.to_end();
      ASSERT_EQ(run.table().rows(), 1U);
      const std::int64_t links = switches + 1;
      const Time bytes = Time{(80 + 16) * 10} * (cut_through ? 1 : links);
      EXPECT_EQ(run.latency(0), 7_ns + 30_ns * (2 * links) + 20_ns * (2 * switches) + 85_ns + bytes);
      EXPECT_EQ(run.segment(0, Segment::kSwitching), 20_ns * (2 * switches));
      EXPECT_EQ(run.segment(0, Segment::kSerialization), bytes);
      EXPECT_EQ(run.table().hops[0], 2 * links);
    }
  }
}

/// Two hosts write through one switch to two memories; a message occupies an output for 800 ps, all else
/// takes no time. `first` and `second` are what each host writes, in order, at once: 'A' or 'B'.
SpecBuilder two_by_two(const char* queueing, const std::string& first, const std::string& second) {
  SpecBuilder system;
  system.device("h0", "host", kIdealHost).device("h1", "host", kIdealHost);
  system.device("sw", "switch",
                {{"queueing", queueing},
                 {"switching_time", "0ns"},
                 {"port_delay", "0ns"},
                 {"forwarding", "store-and-forward"}});
  system.device("A", "memory", kIdealMemory).device("B", "memory", kIdealMemory);
  // Only from the switch to the memories does a message take time.
  const Value::Map limited{{"bandwidth", "100GB/s"}, {"reverse", Value::Map{{"bandwidth", "unlimited"}}}};
  system.link("h0", "sw").link("h1", "sw").link("sw", "A", limited).link("sw", "B", limited);
  system.region({"A", "B"}, {{"interleave", "256B"}});
  const auto accesses = [](const std::string& word) {
    std::vector<Access> all;
    for (const char to : word) all.push_back(access_to(to == 'A' ? 0 : 256, AccessKind::kWrite));
    return all;
  };
  system.replay("h0", accesses(first)).replay("h1", accesses(second));
  return system;
}

/// The completion times, by host.
std::vector<std::vector<std::int64_t>> completions(const SpecBuilder& system) {
  Running run(system);
  // All that completes counts, whichever host finishes first: watch instead of the window.
  struct Watch final : EventWatcher {
    void before(const Event& event) override {
      if (event.kind() != Event::kArrival) return;
      const auto& message = *reinterpret_cast<const Message*>(event.payload);
      if (message.opcode != Opcode::kCmp ||
          message.destination != dynamic_cast<Component&>(*event.handler).id())
        return;
      done[message.destination.index()].push_back(event.time.ps());
    }
    std::vector<std::vector<std::int64_t>> done = std::vector<std::vector<std::int64_t>>(2);
  } watch;
  run.simulation().watch(&watch);
  run.to_end();
  return watch.done;
}

using Picoseconds = std::vector<std::int64_t>;

TEST(Switch, TheHeadOfAFifoBlocksWhatIsBehindIt) {
  // h0: A A, h1: A B. The As go one after the other; fifo holds h1's B behind its A, which goes second: B
  // starts at 1600 ps. A virtual output queue lets B go at once.
  const auto fifo = completions(two_by_two("fifo", "AA", "AB"));
  EXPECT_EQ(fifo[0], (Picoseconds{800, 2400}));
  EXPECT_EQ(fifo[1], (Picoseconds{1600, 2400}));
  const auto voq = completions(two_by_two("voq", "AA", "AB"));
  EXPECT_EQ(voq[0], (Picoseconds{800, 2400}));
  EXPECT_EQ(voq[1], (Picoseconds{800, 1600}));
  // Ideal output queues give the same as virtual output queues here but for the order of A: by arrival.
  const auto output = completions(two_by_two("output", "AA", "AB"));
  EXPECT_EQ(output[1][0], 800);
}

TEST(Switch, DifferentOutputsDoNotDisturbEachOther) {
  for (const char* queueing : {"fifo", "voq", "output"}) {
    const auto done = completions(two_by_two(queueing, "AAA", "BBB"));
    EXPECT_EQ(done[0], (Picoseconds{800, 1600, 2400})) << queueing;
    EXPECT_EQ(done[1], (Picoseconds{800, 1600, 2400})) << queueing;
  }
}

TEST(Switch, QueuesHoldWhateverWaitsForThePort) {
  // As above: for 800 ps each, A's port is waited for by two, then by one, and then, in a fifo's window, by
  // nobody. h1's B waits for its port 1600 ps behind a fifo's head, and not at all with a virtual output
  // queue. In an output queue, h0's As are first.
  struct Case {
    const char* queueing;
    double waits_for_a;  // ps
    double waits_for_b;
  };
  for (const Case& each : {Case{"fifo", 2400, 1600}, Case{"voq", 2400, 0}, Case{"output", 2400, 0}}) {
    const SpecBuilder system = two_by_two(each.queueing, "AA", "AB");
    Running run(system);
    run.to_end();
    SCOPED_TRACE(each.queueing);
    const double length = run.number({"simulated_time_ns"}) * 1000;
    const auto to_a = [&](const char* key) { return run.number({"per_link", "sw-A", "sw->A", key}); };
    const auto to_b = [&](const char* key) { return run.number({"per_link", "sw-B", "sw->B", key}); };
    EXPECT_DOUBLE_EQ(to_a("queue_mean") * length, each.waits_for_a);
    EXPECT_EQ(to_a("queue_p50"), 1);
    EXPECT_EQ(to_a("queue_p99"), 2);
    EXPECT_EQ(to_a("queue_max"), 2);
    EXPECT_DOUBLE_EQ(to_b("queue_mean") * length, each.waits_for_b);
    EXPECT_EQ(to_b("queue_max"), each.waits_for_b > 0 ? 1 : 0);
    EXPECT_DOUBLE_EQ(run.number({"per_switch", "sw", "queue_mean"}) * length,
                     each.waits_for_a + each.waits_for_b);
    EXPECT_EQ(run.number({"per_switch", "sw", "queue_p99_worst_port"}), 2);
  }
}

/// The share of its outputs that an n by n switch uses when every input always has random traffic.
double saturated_share(const char* queueing, int ports) {
  SpecBuilder system;
  system.device("sw", "switch",
                {{"queueing", queueing},
                 {"switching_time", "0ns"},
                 {"port_delay", "0ns"},
                 {"forwarding", "store-and-forward"}});
  std::vector<std::string> memories;
  for (int i = 0; i < ports; ++i) {
    const std::string own = std::to_string(i);
    system.device("h" + own, "host", {{"process_time", "0ns"}, {"queue", 64}}).link("h" + own, "sw");
    memories.push_back("m" + own);
    system.device("m" + own, "memory", kIdealMemory);
    system.link("sw", "m" + own,
                {{"bandwidth", "100GB/s"}, {"reverse", Value::Map{{"bandwidth", "unlimited"}}}});
    system.work("h" + own,
                {{"pattern", "random"}, {"reads", 0.0}, {"requests", 3000}, {"footprint", "64MiB"}});
  }
  system.region(memories).run_with({{"warmup", 300}});
  Running run(system);
  run.to_end();
  // 80 B on the wire carry 64 B: each output moves 80 GB/s of payload at most.
  return run.number({"bandwidth_gb_per_s"}) / (80.0 * ports);
}

TEST(Switch, HeadOfLineBlockingLimitsAFifoSwitchAsTheoryHasIt) {
  // Karol, Hluchyj and Morgan (1987): 0.75 with 2 ports, 0.6553 with 4, and 2 - sqrt(2) = 0.586 in the limit
  // (0.6013 with 16). A closed loop of 64 behind each input saturates them all.
  EXPECT_NEAR(saturated_share("fifo", 2), 0.75, 0.02);
  EXPECT_NEAR(saturated_share("fifo", 4), 0.6553, 0.02);
  EXPECT_NEAR(saturated_share("fifo", 16), 0.60, 0.02);
}

TEST(Switch, VirtualOutputQueuesHaveNoHeadOfLineBlocking) {
  EXPECT_GT(saturated_share("voq", 4), 0.93);
  EXPECT_GT(saturated_share("voq", 16), 0.93);
}

TEST(Switch, AgeServesTheOldestRequestFirst) {
  // h0's requests exist from the start, h1's come 1 ns later; when both wait for A, all of h0's go first with
  // age, and in turns with round robin.
  for (const bool age : {false, true}) {
    SpecBuilder system;
    system.device("h0", "host", {{"process_time", "5ns"}}).device("h1", "host", {{"process_time", "4ns"}});
    system.device("sw", "switch",
                  {{"queueing", "voq"},
                   {"arbitration", age ? "age" : "round-robin"},
                   {"switching_time", "0ns"},
                   {"port_delay", "0ns"}});
    system.device("A", "memory", kIdealMemory);
    system.link("h0", "sw").link("h1", "sw");
    system.link("sw", "A", {{"bandwidth", "100GB/s"}, {"reverse", Value::Map{{"bandwidth", "unlimited"}}}});
    system.region({"A"});
    // Both arrive at 5 ns: h0 created at 0, h1 at 1 ns (an open loop with time stamps).
    std::vector<Access> early(4, access_to(0, AccessKind::kWrite));
    std::vector<Access> late = early;
    for (Access& access : early) access.timed = true;
    for (Access& access : late) access.timed = true, access.timestamp = 1_ns;
    system.replay("h0", early, {{"replay", "timestamps"}}).replay("h1", late, {{"replay", "timestamps"}});
    Running run(system);
    struct Order final : EventWatcher {
      void before(const Event& event) override {
        if (event.kind() != Event::kArrival) return;
        const auto& message = *reinterpret_cast<const Message*>(event.payload);
        if (message.opcode == Opcode::kMemWr && dynamic_cast<Component&>(*event.handler).name() == "A") {
          text += std::to_string(message.source.index());
        }
      }
      std::string text;
    } order;
    run.simulation().watch(&order);
    run.to_end();
    EXPECT_EQ(order.text, age ? "00001111" : "01010101");
  }
}

/// The order in which writes and write-backs come to A: of h1 (1), of h2 (2), and the write-backs of h0 (w).
///
/// h0 caches a line of B and one of A and writes both, which fetches them; at 60 ns and 62 ns it writes
/// others in their place, so that they come back to the switch at these times, the one for B first. Nothing
/// but the wires to A and B takes time: 80 B are 80 ns there. h2's writes were made at 20 ns and hold the
/// wire to A until 180 ns. h1's are made at 50, 100 and 145 ns and come to the switch 30 ns later. They all
/// wait for A at 180 ns.
std::string order_at_a(const char* queueing, const char* arbitration) {
  SpecBuilder system;
  system.device("h0", "host",
                {{"process_time", "0ns"},
                 {"cache", Value::Map{{"size", "128B"}, {"ways", 1}, {"access_time", "0ns"}}}});
  system.device("h1", "host", {{"process_time", "30ns"}}).device("h2", "host", kIdealHost);
  system.device("sw", "switch",
                {{"queueing", queueing},
                 {"arbitration", arbitration},
                 {"switching_time", "0ns"},
                 {"port_delay", "0ns"}});
  const Value::Map limited{{"bandwidth", "1GB/s"}, {"reverse", Value::Map{{"bandwidth", "unlimited"}}}};
  Value::Map memory = kIdealMemory;
  memory.emplace_back("capacity", "1MiB");
  for (const char* name : {"A", "B", "C"}) system.device(name, "memory", memory).region({name});
  for (const char* host : {"h0", "h1", "h2"}) system.link(host, "sw");
  system.link("sw", "A", limited).link("sw", "B", limited).link("sw", "C");
  const auto write = [](std::uint64_t address, Time at) {
    Access access = access_to(address, AccessKind::kWrite);
    access.timed = true;
    access.timestamp = at;
    return access;
  };
  constexpr std::uint64_t kB = 1U << 20U;
  constexpr std::uint64_t kC = 2U << 20U;
  const Value::Map timed{{"replay", "timestamps"}};
  system.replay("h0", {write(kB, 0_ns), write(64, 0_ns), write(kC, 60_ns), write(kC + 64, 62_ns)}, timed);
  system.replay("h1", {write(0, 50_ns), write(0, 100_ns), write(0, 145_ns)}, timed);
  system.replay("h2", {write(0, 20_ns), write(0, 20_ns)}, timed);
  Running run(system);
  struct Order final : EventWatcher {
    void before(const Event& event) override {
      if (event.kind() != Event::kArrival) return;
      const auto& message = *reinterpret_cast<const Message*>(event.payload);
      if (message.opcode != Opcode::kMemWr || dynamic_cast<Component&>(*event.handler).name() != "A") return;
      text += message.account ? std::to_string(message.source.index()) : "w";
    }
    std::string text;
  } order;
  run.simulation().watch(&order);
  run.to_end();
  return order.text;
}

TEST(Switch, AWriteBackIsAsOldAsItsWait) {
  // It has no request: its age is 62 ns, when it came to the switch. Of h1's requests only the first was made
  // before that; the write-back goes behind that, though it came to the switch sooner than all of them.
  EXPECT_EQ(order_at_a("voq", "age"), "221w11");
  EXPECT_EQ(order_at_a("voq", "round-robin"), "22w111");
}

TEST(Switch, BehindAnotherOfAFifoAWriteBackIsAsOldAsItsWaitAtTheHead) {
  // The one for B is on its wire from 60 to 140 ns. Then the other is the head, and two of h1's requests were
  // made before.
  EXPECT_EQ(order_at_a("fifo", "age"), "2211w1");
}

}  // namespace
}  // namespace cxloom
