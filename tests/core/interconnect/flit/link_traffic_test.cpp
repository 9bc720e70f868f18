// Random traffic over links of flits, both directions and all classes: nothing is lost, duplicated or
// reordered, every picosecond is accounted for, and working off turns in batches changes nothing.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/flit_bench.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::FlitLink;
using test::FlitLinkOf;
using test::kAllEvents;
using test::Messages;
using test::Probe;

struct Arrived {
  std::size_t number;
  Time time;
  std::array<Time, kSegmentCount> segments;
  bool operator==(const Arrived&) const = default;
};

/// What came out of one direction.
struct Played {
  std::vector<Arrived> arrived;
  FlitTotals flits;
  std::array<std::uint64_t, 3> passed{};  ///< messages, bytes and payload
  Time busy;
  std::array<double, 2> queue{};  ///< level times time, and maximum
  bool operator==(const Played&) const = default;
};

struct Window {
  Time opens;
  Time closes = Time::max();  ///< with the last event
};

/// A direction, and what goes there.
struct Direction {
  LinkEnd* end;
  Probe* receiver;
  std::map<Channel, std::vector<const Message*>> sent;
};
struct Known {
  std::size_t number;
  Time ready;
};

/// What came out of a direction; nothing is lost, duplicated or out of order, and accounts add up.
Played played_of(const Direction& side, const std::map<const Message*, Known>& known, bool whole) {
  Played played;
  std::map<Channel, std::vector<const Message*>> came;
  for (const auto& arrival : side.receiver->arrivals) {
    const Message& message = *arrival.message;
    came[message.channel].push_back(&message);
    played.arrived.push_back({known.at(&message).number, arrival.time, message.account->segments()});
    Time sum;
    for (const Time part : message.account->segments()) {
      EXPECT_GE(part, 0_ps);
      sum += part;
    }
    EXPECT_EQ(sum, arrival.time - known.at(&message).ready);
  }
  EXPECT_EQ(came, side.sent) << "lost, duplicated or out of order";
  const WireTotals passed = side.end->monitor().closed_totals();
  const LevelMonitor& queue = side.end->monitor().queue();
  played.flits = side.end->flits()->totals();
  played.passed = {passed.messages, passed.bytes, passed.payload};
  played.busy = passed.busy;
  played.queue = {queue.integral(), queue.maximum()};
  std::uint64_t headers = 0;  // one for each line
  for (const auto& [channel, order] : side.sent) {
    if (channel == Channel::kIo) continue;
    for (const Message* message : order) headers += (message->size + 63U) / 64U;
  }
  std::uint64_t counted = 0;
  for (const std::uint64_t each : played.flits.messages) counted += each;
  if (whole) {
    EXPECT_EQ(passed.messages, side.receiver->arrivals.size());
    EXPECT_EQ(counted, headers);
  } else {
    EXPECT_LT(counted, headers);
  }
  return played;
}

/// Plays `count` random messages over the link, and checks what must hold for all traffic.
std::array<Played, 2> play(const FlitLinkOf& of, int count, std::uint64_t mean_gap_ps,
                           const Window& window = {}) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  a.holds(3_ns);
  b.holds(11_ns);
  FlitLink link(kernel, a, b, of);
  EventSource clock = kernel.new_source();
  test::Actor opener([&](std::uint8_t opens, std::uint64_t) {
    opens != 0 ? link.open(kernel.now()) : link.close(kernel.now());
  });
  kernel.schedule(window.opens, clock, opener, 1);
  if (window.closes < Time::max()) kernel.schedule(window.closes, clock, opener, 0);
  Messages messages;
  RandomStream random(of.seed, "traffic", "messages");
  std::vector<Direction> sides{{&link.a_to_b, &b, {}}, {&link.b_to_a, &a, {}}};
  std::map<const Message*, Known> known;
  EventSource source = kernel.new_source();
  std::size_t number = 0;
  test::Actor sender([&](std::uint8_t, std::uint64_t) {
    // Now and then a burst of one class into one direction.
    const std::uint64_t burst = random.below(8) == 0 ? 1 + random.below(40) : 1;
    Direction& side = sides[random.below(2)];
    const Opcode opcode =
        random.below(10) == 0
            ? std::array{Opcode::kMRd, Opcode::kMWr, Opcode::kCplD, Opcode::kCfgRd}[random.below(4)]
            : std::array{Opcode::kMemRd, Opcode::kMemWr, Opcode::kMemData, Opcode::kCmp}[random.below(4)];
    for (std::uint64_t i = 0; i < burst; ++i) {
      const auto size = std::array<std::uint16_t, 4>{64, 64, 40, 256}[random.below(4)];
      Message& message = messages.tracked(opcode, kernel.now(), size);
      side.sent[message.channel].push_back(&message);
      known[&message] = {number++, kernel.now()};
      side.end->send(message, kernel.now());
    }
    if (number < static_cast<std::size_t>(count)) {
      const Time gap{static_cast<std::int64_t>(random.below(2 * mean_gap_ps))};
      kernel.schedule(kernel.now() + gap, source, sender, 0);
    }
  });
  kernel.schedule(0_ps, source, sender, 0);
  kernel.run(Time::max(), kAllEvents);
  if (window.closes == Time::max())
    link.close(kernel.now() + of.flit());  // the last half of the last one is out
  const bool whole = window.opens <= 0_ps && window.closes == Time::max();
  return {played_of(sides[0], known, whole), played_of(sides[1], known, whole)};
}

struct Case {
  std::string name;
  FlitLinkOf of;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const FlitMode mode : test::kFlitModes) {
    const std::string name{kFlitModeNames[static_cast<std::size_t>(mode)]};
    const FlitLinkOf plain{.mode = mode, .port_delays = 5_ns};
    all.push_back({name + " plain", plain});
    for (const std::uint32_t credits : {1U, 3U, 20U}) {
      FlitLinkOf of = plain;
      of.credits = ClassCredits(credits);
      all.push_back({name + " credits " + std::to_string(credits), of});
    }
    FlitLinkOf errors = plain;
    errors.errors.every = 7;
    all.push_back({name + " every seventh", errors});
    errors.credits = ClassCredits(4);
    errors.errors.bit_error_rate = mode == FlitMode::k68B ? 1e-4 : 1e-3;
    all.push_back({name + " errors and credits", errors});
    for (const bool containment : {false, true}) {
      FlitLinkOf ide = plain;
      ide.mac_every = mode == FlitMode::k68B ? 5 : 2;
      ide.containment = containment;
      all.push_back({name + (containment ? " containment" : " skid"), ide});
      ide.credits = ClassCredits(2);
      ide.errors.every = 11;
      all.push_back({name + (containment ? " containment" : " skid") + " and errors", ide});
    }
    FlitLinkOf down = plain;
    down.outage = {.at = 500_ns, .length = 700_ns};
    down.degraded_at = 1500_ns;
    down.degraded_rate = Rate::per_time(1, 23);
    down.credits = ClassCredits(5);
    all.push_back({name + " link faults", down});
    down.errors.every = 9;
    all.push_back({name + " link faults and errors", down});
  }
  return all;
}

TEST(FlitLinkTraffic, NothingIsLostDuplicatedOrReordered) {
  for (const Case& each : cases()) {
    for (const std::uint64_t mean_gap :
         {100U, 1500U}) {  // far above what the wire takes, and about what it does
      SCOPED_TRACE(each.name + ", gap " + std::to_string(mean_gap));
      play(each.of, 3000, mean_gap);
    }
  }
}

TEST(FlitLinkTraffic, ABatchEndsBeforeTheInstantInWhichItIsWorkedOff) {
  // With this flight the batch of the first turn is worked off when the third begins: between two messages
  // that come at that instant and share its flit.
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  EventSource before = kernel.new_source();
  const FlitLinkOf of{.delay = 2561_ps};
  FlitLink link(kernel, a, b, of);
  EventSource behind = kernel.new_source();
  Messages messages;
  test::Actor sender(
      [&](std::uint8_t, std::uint64_t) { link.a_to_b.send(messages.make(Opcode::kMemRd), kernel.now()); });
  for (const Time at : {0_ps, 100_ps, of.flit() * 2}) kernel.schedule(at, before, sender, 0);
  kernel.schedule(of.flit() * 2, behind, sender, 0);
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(b.arrivals.size(), 4U);
  for (const std::size_t i : {2U, 3U}) EXPECT_EQ(b.arrivals[i].time, of.flit() * 3 + of.delay) << i;
}

TEST(FlitLinkTraffic, BatchesOfTurnsChangeNothing) {
  // Where errors are possible, and even if none ever happens, every turn is an event of its own.
  const Window windows[] = {{}, {1'000'123_ps, 2'345'678_ps}, {777'777_ps, 3'000'001_ps}};
  for (const FlitMode mode : test::kFlitModes) {
    for (const Time flight : {1_ns, 5_ns, 60_ns}) {
      for (const std::uint64_t mean_gap : {100U, 1500U, 20000U}) {
        for (const Window& window : windows) {
          SCOPED_TRACE(std::string(kFlitModeNames[static_cast<std::size_t>(mode)]) + " gap " +
                       std::to_string(mean_gap) + " window " + std::to_string(window.opens.ps()));
          FlitLinkOf of{.mode = mode, .rate = Rate::per_time(63, 1000), .port_delays = flight};
          const auto batched = play(of, 4000, mean_gap, window);
          of.errors.every = 1'000'000'000;
          const auto eager = play(of, 4000, mean_gap, window);
          for (std::size_t way = 0; way < 2; ++way) {
            ASSERT_TRUE(batched[way].arrived == eager[way].arrived);
            ASSERT_TRUE(batched[way].flits == eager[way].flits);
            ASSERT_TRUE(batched[way].passed == eager[way].passed);
            ASSERT_TRUE(batched[way].busy == eager[way].busy);
            ASSERT_TRUE(batched[way].queue == eager[way].queue);
          }
        }
      }
    }
  }
}

TEST(FlitLinkTraffic, PacketsOfIoShareAFlitByTheirBytes) {
  // 68B: 64 B per flit, of which a read request takes 16 B and 8 B of framing: eight in three flits. 256B:
  // 236 B, 59 reads in four flits. 256B-lo: 232 B, 29 in two. Configuration reads and completions have
  // headers 4 B shorter.
  struct Packet {
    Opcode opcode;
    std::uint16_t size;
    std::int64_t bytes;
  };
  for (const Packet& each :
       {Packet{Opcode::kMRd, 4096, 16}, {Opcode::kCfgRd, 4, 12}, {Opcode::kCplD, 64, 76}}) {
    for (const FlitMode mode : test::kFlitModes) {
      const std::int64_t bytes = each.bytes + (mode == FlitMode::k68B ? 8 : 0);
      const auto room = static_cast<std::int64_t>(geometry(mode).io_bytes);
      for (const std::uint32_t every : {0U, 1'000'000U}) {  // in batches, and one by one
        Kernel kernel;
        Probe a(kernel, "a");
        Probe b(kernel, "b");
        FlitLinkOf of{.mode = mode, .delay = 20_ns};
        if (every > 0) of.errors.every = every;
        FlitLink link(kernel, a, b, of);
        Messages messages;
        for (int i = 0; i < 200; ++i) link.a_to_b.send(messages.make(each.opcode, each.size), 0_ps);
        kernel.run(Time::max(), kAllEvents);
        ASSERT_EQ(b.arrivals.size(), 200U);
        for (std::int64_t k = 0; k < 200; ++k) {
          const std::int64_t flits = ((k + 1) * bytes + room - 1) / room;
          ASSERT_EQ(b.arrivals[static_cast<std::size_t>(k)].time, of.flit() * flits + 20_ns)
              << kFlitModeNames[static_cast<std::size_t>(mode)] << ", " << bytes << " B, packet " << k;
        }
      }
    }
  }
}

TEST(FlitLinkTraffic, ALookAtTheQueueCountsThoseThatHaveBecomeReady) {
  // A flit of 2560 ps; a message that is ready 500 ps after it began waits for its end, looked at or not.
  for (const bool one_by_one : {false, true}) {
    for (const std::int64_t look : {0, 500, 1500, 2559}) {
      Kernel kernel;
      Probe a(kernel, "a");
      Probe b(kernel, "b", 1);
      FlitLinkOf like;
      if (one_by_one) like.outage.at = Time{1'000'000'000};
      FlitLink link(kernel, a, b, like);
      Messages messages;
      link.a_to_b.send(messages.make(Opcode::kMemRd), Time{});
      link.a_to_b.send(messages.make(Opcode::kMemRd), Time{500});
      kernel.run(Time{look}, kAllEvents);
      link.a_to_b.catch_up(Time{look});
      LevelMonitor& queue = link.a_to_b.monitor().queue();
      queue.advance(Time{look});
      EXPECT_EQ(queue.integral(), std::max<double>(0.0, static_cast<double>(look - 500))) << look;
      kernel.run(Time{10'000}, kAllEvents);
      link.a_to_b.catch_up(Time{10'000});
      queue.advance(Time{10'000});
      EXPECT_EQ(queue.integral(), 2560.0 - 500.0) << look;
      EXPECT_EQ(queue.level(), 0);
    }
  }
}

TEST(FlitLinkTraffic, AMessageThatGoesAloneTakesOneEvent) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  FlitLink link(kernel, a, b, {.mode = FlitMode::k68B, .delay = 5_ns});
  Messages messages;
  EventSource source = kernel.new_source();
  test::Actor sender([&](std::uint8_t, std::uint64_t data) {
    link.a_to_b.send(messages.make(data != 0 ? Opcode::kMemWr : Opcode::kMemRd), kernel.now());
  });
  for (int i = 0; i < 100; ++i) kernel.schedule(Time{i * 10'000}, source, sender, 0, i % 2 == 0 ? 1 : 0);
  kernel.run(Time::max(), kAllEvents);
  EXPECT_EQ(b.arrivals.size(), 100U);
  EXPECT_EQ(kernel.events(), 200U);
}

}  // namespace
}  // namespace cxloom
