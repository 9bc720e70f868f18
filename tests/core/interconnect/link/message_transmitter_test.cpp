#include "interconnect/link/message_transmitter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "core/support/link_bench.hpp"
#include "interconnect/arbitration/age.hpp"
#include "interconnect/arbitration/round_robin.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::kAllEvents;
using test::kTenPerByte;
using test::LinkOf;
using test::Messages;
using test::Probe;
using test::QueuedLink;

TEST(MessageTransmitter, WithoutContentionItIsAsFastAsAPlainOne) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  QueuedLink link(
      kernel, a, b,
      {.bandwidth = kTenPerByte, .port_delays = 50_ns, .delay = 7_ns, .credits = ClassCredits(4)});
  Messages messages;
  Message& write = messages.tracked(Opcode::kMemWr, 2_ns);
  link.a_to_b.send(write, 2_ns);
  kernel.run(Time::max(), kAllEvents);
  EXPECT_EQ(b.arrivals[0].time, 2_ns + 57_ns + 800_ps);
  EXPECT_EQ(Messages::segment(write, Segment::kLinkQueue), 0_ps);
  EXPECT_EQ(Messages::segment(write, Segment::kCredit), 0_ps);
  EXPECT_EQ(Messages::segment(write, Segment::kPortDelay), 50_ns);
  EXPECT_EQ(Messages::segment(write, Segment::kPropagation), 7_ns);
  EXPECT_EQ(Messages::segment(write, Segment::kSerialization), 800_ps);
}

TEST(MessageTransmitter, CreditsLimitTheRateToCreditsPerLoop) {
  // A credit is away from the departure to its return: wire (800 ps), there (57 ns), held (20 ns), back (57
  // ns). With c credits and a loop longer than c wires, message k leaves at (k / c) loops + (k % c) wires.
  constexpr Time kLoop = 800_ps + 57_ns + 20_ns + 57_ns;
  for (const std::uint32_t credits : {1U, 2U, 5U, 16U}) {
    Kernel kernel;
    Probe a(kernel, "a");
    Probe b(kernel, "b");
    b.holds(20_ns);
    QueuedLink link(
        kernel, a, b,
        {.bandwidth = kTenPerByte, .port_delays = 50_ns, .delay = 7_ns, .credits = ClassCredits(credits)});
    Messages messages;
    std::vector<Message*> sent;
    for (int i = 0; i < 100; ++i) {
      sent.push_back(&messages.tracked(Opcode::kMemWr));
      link.a_to_b.send(*sent.back(), 0_ps);
    }
    kernel.run(Time::max(), kAllEvents);
    ASSERT_EQ(b.arrivals.size(), 100U);
    for (std::size_t k = 0; k < 100; ++k) {
      const Time leaves =
          kLoop * static_cast<std::int64_t>(k / credits) + 800_ps * static_cast<std::int64_t>(k % credits);
      ASSERT_EQ(b.arrivals[k].message, sent[k]);
      ASSERT_EQ(b.arrivals[k].time, leaves + 57_ns + 800_ps) << credits << " credits, message " << k;
      // Out of credits from the departure of the last of the first round on: each credit that comes back is
      // used at once. Only the wait for the wire before that is the queue's.
      const Time queued = std::min(leaves, 800_ps * static_cast<std::int64_t>(credits - 1));
      ASSERT_EQ(Messages::segment(*sent[k], Segment::kLinkQueue), queued);
      ASSERT_EQ(Messages::segment(*sent[k], Segment::kCredit), leaves - queued);
    }
  }
}

TEST(MessageTransmitter, EnoughCreditsLeaveTheWireAsTheLimit) {
  // 134.8 ns of loop hold 168.5 messages of 800 ps: with 169 credits the wire never stops.
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  b.holds(20_ns);
  QueuedLink link(
      kernel, a, b,
      {.bandwidth = kTenPerByte, .port_delays = 50_ns, .delay = 7_ns, .credits = ClassCredits(169)});
  link.a_to_b.open_window(0_ps);
  Messages messages;
  for (int i = 0; i < 1000; ++i) link.a_to_b.send(messages.make(Opcode::kMemWr), 0_ps);
  kernel.run(Time::max(), kAllEvents);
  EXPECT_EQ(b.arrivals.back().time, 57_ns + 800_ps * 1000);
}

TEST(MessageTransmitter, CreditBlockedTimeOfTheWindowIsTheTimeInWhichSomethingStarved) {
  // One credit, loop 134.8 ns: the second message starves the whole loop but for nothing; the third as well.
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  b.holds(20_ns);
  QueuedLink link(
      kernel, a, b,
      {.bandwidth = kTenPerByte, .port_delays = 50_ns, .delay = 7_ns, .credits = ClassCredits(1)});
  Messages messages;
  for (int i = 0; i < 3; ++i) link.a_to_b.send(messages.make(Opcode::kMemWr), 0_ps);
  test::Actor windows([&](std::uint8_t kind, std::uint64_t) {
    if (kind == 0) link.a_to_b.open_window(kernel.now());
    else link.a_to_b.close_window(kernel.now());
  });
  EventSource source = kernel.new_source();
  kernel.schedule(10_ns, source, windows, 0);
  kernel.schedule(400_ns, source, windows, 1);
  kernel.run(Time::max(), kAllEvents);
  // From 10 ns to the third's departure at 2 loops; afterwards nobody waits, though there is no credit.
  EXPECT_EQ(link.a_to_b.total_credit_blocked(), Time{134'800 * 2 - 10'000});
}

TEST(MessageTransmitter, AReceiverThatFreesNothingStopsItsClassAlone) {
  // Requests without credits never block responses: each class has its own.
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  b.hoards();
  QueuedLink link(kernel, a, b, {.bandwidth = kTenPerByte, .credits = ClassCredits(2)});
  Messages messages;
  for (int i = 0; i < 10; ++i) link.a_to_b.send(messages.make(Opcode::kMemRd), 0_ps);
  std::vector<Message*> responses;
  for (int i = 0; i < 2; ++i) {
    responses.push_back(&messages.make(Opcode::kMemData));
    link.a_to_b.send(*responses.back(), 1_ns);
  }
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(b.arrivals.size(), 4U);  // two requests, then both responses
  EXPECT_EQ(b.arrivals[2].message, responses[0]);
  EXPECT_EQ(b.arrivals[2].time, 1_ns + 800_ps);
  EXPECT_EQ(b.arrivals[3].message, responses[1]);
}

TEST(MessageTransmitter, TwoDirectionsOfASharedWireTakeTurns) {
  // Both sides have 50 messages of 80 B ready at once: there, turn, back, turn, ... each period 2 x (800 ps +
  // 3 ns).
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  QueuedLink link(kernel, a, b, {.bandwidth = kTenPerByte, .turnaround = 3_ns, .shared = true});
  Messages messages;
  for (int i = 0; i < 50; ++i) {
    link.a_to_b.send(messages.make(Opcode::kMemWr), 0_ps);
    link.b_to_a.send(messages.make(Opcode::kMemData), 0_ps);
  }
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(a.arrivals.size(), 50U);
  ASSERT_EQ(b.arrivals.size(), 50U);
  const Time first = std::min(a.arrivals[0].time, b.arrivals[0].time);
  const Time second = std::max(a.arrivals[0].time, b.arrivals[0].time);
  EXPECT_EQ(first, 800_ps);
  EXPECT_EQ(second, 800_ps + 3_ns + 800_ps);
  for (std::size_t i = 1; i < 50; ++i) {
    EXPECT_EQ(a.arrivals[i].time - a.arrivals[i - 1].time, 7600_ps);
    EXPECT_EQ(b.arrivals[i].time - b.arrivals[i - 1].time, 7600_ps);
  }
}

TEST(MessageTransmitter, OneDirectionAloneNeverTurns) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  QueuedLink link(
      kernel, a, b,
      {.bandwidth = kTenPerByte, .turnaround = 3_ns, .credits = ClassCredits(100), .shared = true});
  Messages messages;
  for (int i = 0; i < 50; ++i) link.a_to_b.send(messages.make(Opcode::kMemWr), 0_ps);
  kernel.run(Time::max(), kAllEvents);
  EXPECT_EQ(b.arrivals.back().time, 800_ps * 50);
}

TEST(MessageTransmitter, ADirectionWithoutCreditsDoesNotHoldTheSharedWire) {
  // b keeps its only buffer: a's second message can never go, and b's all go meanwhile, back to back.
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  b.hoards();
  QueuedLink link(kernel, a, b,
                  {.bandwidth = kTenPerByte, .turnaround = 3_ns, .credits = ClassCredits(1), .shared = true});
  a.holds(0_ps);
  Messages messages;
  for (int i = 0; i < 2; ++i) link.a_to_b.send(messages.make(Opcode::kMemWr), 0_ps);
  for (int i = 0; i < 20; ++i) link.b_to_a.send(messages.make(Opcode::kMemData), 1_ns);
  kernel.run(Time::max(), kAllEvents);
  EXPECT_EQ(b.arrivals.size(), 1U);
  ASSERT_EQ(a.arrivals.size(), 20U);
  EXPECT_EQ(a.arrivals.back().time, 800_ps + 3_ns + 800_ps * 20);
}

class RandomTraffic : public testing::TestWithParam<int> {};

std::vector<LinkOf> links_for_random_traffic() {
  return {
      {.bandwidth = kTenPerByte, .port_delays = 5_ns, .credits = ClassCredits(1)},
      {.bandwidth = kTenPerByte,
       .port_delays = 5_ns,
       .credits = ClassCredits(3),
       .arbiter = &test::make_arbiter<AgeArbiter>},
      {.bandwidth = kTenPerByte, .port_delays = 5_ns, .turnaround = 2_ns, .shared = true},
      {.bandwidth = kTenPerByte,
       .port_delays = 5_ns,
       .turnaround = 2_ns,
       .credits = ClassCredits(2),
       .shared = true},
      {.bandwidth = {}, .port_delays = 5_ns, .credits = ClassCredits(2)},
      {.bandwidth = kTenPerByte, .cost = {Bytes{0}, Bytes{0}}, .credits = ClassCredits(2), .shared = true},
  };
}

TEST_P(RandomTraffic, NothingIsLostOrReorderedWithinAClassAndNoTwoShareTheWire) {
  const LinkOf of = links_for_random_traffic()[static_cast<std::size_t>(GetParam())];
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  a.holds(3_ns);
  b.holds(11_ns);
  QueuedLink link(kernel, a, b, of);
  Messages messages;
  RandomStream random(9, "traffic", std::to_string(GetParam()));
  struct Side {
    LinkEnd* end;
    Probe* receiver;
    std::map<Channel, std::vector<const Message*>> sent;
  };
  std::vector<Side> sides{{&link.a_to_b, &b, {}}, {&link.b_to_a, &a, {}}};
  std::map<const Message*, Time> ready;
  EventSource source = kernel.new_source();
  int left = 4000;
  test::Actor sender([&](std::uint8_t, std::uint64_t) {
    Side& side = sides[random.below(2)];
    const Opcode opcode =
        std::array{Opcode::kMemRd, Opcode::kMemWr, Opcode::kMemData, Opcode::kCmp}[random.below(4)];
    Message& message = messages.tracked(opcode, kernel.now());
    side.sent[message.channel].push_back(&message);
    ready[&message] = kernel.now();
    side.end->send(message, kernel.now());
    if (--left > 0)
      kernel.schedule(kernel.now() + Time{static_cast<std::int64_t>(random.below(1500))}, source, sender, 0);
  });
  kernel.schedule(0_ps, source, sender, 0);
  kernel.run(Time::max(), kAllEvents);
  std::size_t total = 0;
  std::vector<std::pair<Time, Time>> uses[2];  // of each direction's wire
  for (std::size_t s = 0; s < 2; ++s) {
    std::map<Channel, std::vector<const Message*>> came;
    for (const auto& arrival : sides[s].receiver->arrivals) {
      const Message& message = *arrival.message;
      came[message.channel].push_back(&message);
      ++total;
      // The account adds up: created to here.
      Time sum;
      for (const Time part : message.account->segments()) sum += part;
      ASSERT_EQ(sum, arrival.time - ready[&message]);
      const Time bytes = Messages::segment(message, Segment::kSerialization);
      const Time end = arrival.time - of.port_delays - of.delay;
      uses[of.shared ? 0 : s].emplace_back(end - bytes, end);
    }
    for (const auto& [channel, order] : sides[s].sent) EXPECT_EQ(came[channel], order);
  }
  EXPECT_EQ(total, 4000U);
  if (of.bandwidth.rate.unlimited()) return;
  for (auto& use : uses) {
    std::sort(use.begin(), use.end());
    for (std::size_t i = 1; i < use.size(); ++i) ASSERT_GE(use[i].first, use[i - 1].second);
  }
}

INSTANTIATE_TEST_SUITE_P(MessageTransmitter, RandomTraffic, testing::Range(0, 6));

}  // namespace
}  // namespace cxloom
