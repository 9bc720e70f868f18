#include "interconnect/link/message_transmitter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/link_bench.hpp"
#include "interconnect/arbitration/age.hpp"
#include "interconnect/arbitration/round_robin.hpp"
#include "protocol/message_queue.hpp"

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

/// A queue of its own in front of a port, as a switch's inputs have.
class Backlog final : public Feeder {
 public:
  Backlog(const Component& owner, LinkEnd& end) : owner_(owner), end_(*end.channels()) {}
  const EventHandler& owner() const override { return owner_; }
  void add(Message& message) {
    const bool first = queue_.empty();
    end_.stamp(message);
    queue_.push(message);
    if (first) end_.ask(*this, vc_of(message));
  }
  Message& head() const override { return queue_.front(); }
  void taken(Time) override {
    queue_.pop();
    if (!queue_.empty()) end_.ask(*this, vc_of(queue_.front()));
  }

 private:
  const Component& owner_;
  VirtualChannels& end_;
  MessageQueue queue_;
};

TEST(MessageTransmitter, RoundRobinIsFairAmongFeeders) {
  // Four queues with 100 messages each: any 4 in a row are one of each.
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  QueuedLink link(kernel, a, b, {.bandwidth = kTenPerByte});
  Messages messages;
  std::deque<Backlog> queues;
  for (int i = 0; i < 4; ++i) queues.emplace_back(a, link.a_to_b);
  std::map<const Message*, std::size_t> feeder;
  for (int i = 0; i < 100; ++i) {
    for (std::size_t q = 0; q < 4; ++q) {
      Message& message = messages.make(Opcode::kMemRd);
      feeder[&message] = q;
      queues[q].add(message);
    }
  }
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(b.arrivals.size(), 400U);
  for (std::size_t i = 0; i + 4 <= 400; ++i) {
    std::vector<bool> seen(4, false);
    for (std::size_t j = i; j < i + 4; ++j) seen[feeder[b.arrivals[j].message]] = true;
    ASSERT_EQ(std::count(seen.begin(), seen.end(), true), 4) << i;
  }
}

TEST(MessageTransmitter, RoundRobinIsFairAmongClasses) {
  // Three classes pushed in blocks leave in turns.
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  QueuedLink link(kernel, a, b, {.bandwidth = kTenPerByte});
  Messages messages;
  for (const Opcode opcode : {Opcode::kMemRd, Opcode::kMemData, Opcode::kCmp}) {
    for (int i = 0; i < 50; ++i) link.a_to_b.send(messages.make(opcode), 0_ps);
  }
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(b.arrivals.size(), 150U);
  for (std::size_t i = 0; i + 3 <= 150; i += 3) {
    const auto channel = [&](std::size_t k) { return b.arrivals[k].message->channel; };
    ASSERT_NE(channel(i), channel(i + 1));
    ASSERT_NE(channel(i), channel(i + 2));
    ASSERT_NE(channel(i + 1), channel(i + 2));
  }
}

// However many of its virtual channels have messages, a class has its turn and no more.
TEST(MessageTransmitter, VirtualChannelsShareTheTurnsOfTheirClass) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  QueuedLink link(kernel, a, b, {.bandwidth = kTenPerByte, .virtual_channels = 3});
  Messages messages;
  std::deque<Backlog> queues;
  for (int i = 0; i < 4; ++i) queues.emplace_back(a, link.a_to_b);
  for (int i = 0; i < 60; ++i) {
    queues[3].add(messages.make(Opcode::kCmp));
    Message& write = messages.make(Opcode::kMemWr);
    write.virtual_channel = static_cast<std::uint8_t>(i % 3);
    queues[write.virtual_channel].add(write);
  }
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(b.arrivals.size(), 120U);
  const auto at = [&](std::size_t k) -> const Message& { return *b.arrivals[k].message; };
  for (std::size_t i = 0; i + 2 <= 120; i += 2) ASSERT_NE(at(i).channel, at(i + 1).channel) << i;
  std::vector<unsigned> writes;
  for (std::size_t i = 0; i < 120; ++i) {
    if (at(i).opcode == Opcode::kMemWr) writes.push_back(at(i).virtual_channel);
  }
  // At the first instant all ask at once; later the one served last asks last.
  for (std::size_t i = 1; i + 5 <= writes.size(); ++i) {
    const auto from = writes.begin() + static_cast<std::ptrdiff_t>(i);
    EXPECT_EQ(std::set<unsigned>(from, from + 3).size(), 3U) << i;
  }
}

// What a strategy that routes by load is told: the buffers that are taken, whichever virtual channel has them.
TEST(MessageTransmitter, ItsLoadCountsTheBuffersOfAllVirtualChannels) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  b.hoards();
  QueuedLink link(kernel, a, b,
                  {.bandwidth = kTenPerByte, .credits = ClassCredits(4), .virtual_channels = 3});
  Messages messages;
  std::deque<Backlog> queues;
  for (int i = 0; i < 3; ++i) queues.emplace_back(a, link.a_to_b);
  for (int i = 0; i < 5; ++i) {
    Message& write = messages.make(Opcode::kMemWr);
    write.virtual_channel = static_cast<std::uint8_t>(i % 3);
    queues[write.virtual_channel].add(write);
  }
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(b.arrivals.size(), 5U);
  EXPECT_EQ(link.a_to_b.load(Channel::kM2SRwD), 5U);
  EXPECT_EQ(link.a_to_b.load(Channel::kM2SReq), 0U);
}

TEST(MessageTransmitter, AgePicksTheOldestRequestOfAnyQueueAndClass) {
  // 64 queues join at one instant, the youngest request first; they leave in the order of creation.
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  QueuedLink link(kernel, a, b, {.bandwidth = kTenPerByte, .arbiter = &test::make_arbiter<AgeArbiter>});
  Messages messages;
  std::deque<Backlog> queues;
  std::vector<Message*> youngest_first;
  for (int i = 64; i-- > 0;) {
    queues.emplace_back(a, link.a_to_b);
    youngest_first.push_back(&messages.tracked(i % 3 == 0 ? Opcode::kMemRd : Opcode::kMemWr, Time{i * 1000}));
  }
  EventSource source = kernel.new_source();
  test::Actor join([&](std::uint8_t, std::uint64_t) {
    for (std::size_t i = 0; i < queues.size(); ++i) queues[i].add(*youngest_first[i]);
  });
  kernel.schedule(1_us, source, join, 0);
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(b.arrivals.size(), 64U);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(b.arrivals[i].message, youngest_first[63 - i]);
}

// The arbiter that is asked whose turn it is does what a port does without one.
TEST(MessageTransmitter, RoundRobinIsTheTurnsThatQueuesTakeByThemselves) {
  const auto order = [](std::unique_ptr<Arbiter> (*arbiter)(const ArbitrationContext&)) {
    Kernel kernel;
    Probe a(kernel, "a");
    Probe b(kernel, "b");
    b.holds(11_ns);
    QueuedLink link(
        kernel, a, b,
        {.bandwidth = kTenPerByte, .port_delays = 5_ns, .credits = ClassCredits(3), .arbiter = arbiter});
    Messages messages;
    std::deque<Backlog> queues;
    std::map<const Message*, int> numbers;
    RandomStream random(1, "arbitration", "test");
    for (int i = 0; i < 12; ++i) queues.emplace_back(a, link.a_to_b);
    EventSource source = kernel.new_source();
    test::Actor add([&](std::uint8_t, std::uint64_t queue) {
      constexpr Opcode kOpcodes[] = {Opcode::kMemRd, Opcode::kMemWr, Opcode::kMemData};
      Message& message = messages.make(kOpcodes[queue % 3]);
      numbers.emplace(&message, static_cast<int>(numbers.size()));
      queues[queue].add(message);
    });
    for (int i = 0; i < 400; ++i)
      kernel.schedule(Time{static_cast<std::int64_t>(random.below(100'000))}, source, add, 0,
                      random.below(12));
    kernel.run(Time::max(), kAllEvents);
    std::vector<int> came;
    for (const auto& arrival : b.arrivals) came.push_back(numbers.at(arrival.message));
    return came;
  };
  const std::vector<int> turns = order(nullptr);
  EXPECT_EQ(turns.size(), 400U);
  EXPECT_EQ(order(&test::make_arbiter<RoundRobinArbiter>), turns);
  EXPECT_NE(order(&test::make_arbiter<AgeArbiter>), turns);
}

TEST(MessageTransmitter, AnArbiterThatChoosesWhatDoesNotWaitIsNamed) {
  class Astray final : public Arbiter {
   public:
    std::size_t choose(const Contenders& /*waiting*/, Time /*now*/) override { return 3; }
  };
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  QueuedLink link(kernel, a, b, {.bandwidth = kTenPerByte, .arbiter = [](const ArbitrationContext&) {
                                   return std::unique_ptr<Arbiter>(new Astray);
                                 }});
  Messages messages;
  link.a_to_b.send(messages.make(Opcode::kMemWr), 0_ps);
  try {
    kernel.run(Time::max(), kAllEvents);
    ADD_FAILURE() << "nothing thrown";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("the arbitration of 'a' chose queue 3 of 1"), std::string::npos)
        << error.what();
  }
}

TEST(MessageTransmitter, TwoDirectionsOfASharedWireTakeTurns) {
  // Both sides have 50 messages of 80 B ready at once: there, turn, back, turn, ... each period 2 x (800 ps + 3 ns).
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

TEST_P(RandomTraffic, NothingIsLostOrReorderedWithinAClassAndNoTwoShareTheWire) {
  const std::vector<LinkOf> links{
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
  const LinkOf& of = links[static_cast<std::size_t>(GetParam())];
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
