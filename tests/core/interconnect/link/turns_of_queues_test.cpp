#include "interconnect/link/message_transmitter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
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
using test::Messages;
using test::Probe;
using test::QueuedLink;

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

// What a strategy that routes by load is told: the buffers that are taken, whichever virtual channel has
// them.
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

}  // namespace
}  // namespace cxloom
