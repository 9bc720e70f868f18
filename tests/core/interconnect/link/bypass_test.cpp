// Messages that go past the queues of a link end: where they may, and that nobody can tell from the outside.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "core/support/link_bench.hpp"
#include "interconnect/arbitration/age.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::Actor;
using test::kAllEvents;
using test::kTenPerByte;
using test::LinkOf;
using test::Messages;
using test::Probe;
using test::QueuedLink;

/// Queues what has to, in the channels' own queues, and notes it.
class Source final : public BypassSource {
 public:
  explicit Source(VirtualChannels& channels) : channels_(channels) {}
  void queue(Message& message, std::uint16_t /*output*/) override {
    queued.push_back(&message);
    channels_.enqueue(message, Time{});
  }
  void passed(const Message& message, std::uint16_t input, Time end) override {
    passages.emplace_back(&message, input, end);
  }

  std::vector<const Message*> queued;
  std::vector<std::tuple<const Message*, std::uint16_t, Time>> passages;

 private:
  VirtualChannels& channels_;
};

class Bypass : public testing::Test {
 protected:
  Kernel kernel;
  Probe a{kernel, "a"};
  Probe b{kernel, "b"};
  QueuedLink link{kernel, a, b, {.bandwidth = kTenPerByte, .delay = 5_ns, .credits = ClassCredits(2)}};
  VirtualChannels& channels = *link.a_to_b.channels();
  Source source{channels};
  Messages messages;
};

TEST_F(Bypass, AMessageThatFindsAllIdlePassesAndFreesItsBufferWhenItIsOut) {
  Message& message = messages.make(Opcode::kMemWr);
  message.port = 7;
  EXPECT_TRUE(channels.bypass(message, source));
  EXPECT_EQ(channels.bypassing(), &message);
  kernel.run(Time::max(), kAllEvents);
  EXPECT_TRUE(source.queued.empty());
  EXPECT_EQ(source.passages,
            (std::vector{std::tuple<const Message*, std::uint16_t, Time>{&message, 7, 800_ps}}));
  EXPECT_EQ(b.arrivals.at(0).time, 5_ns + 800_ps);
}

TEST_F(Bypass, TheSecondOfAnInstantMakesTheFirstQueue) {
  Message& first = messages.make(Opcode::kMemWr);
  Message& second = messages.make(Opcode::kMemRd);
  EXPECT_TRUE(channels.bypass(first, source));
  EXPECT_FALSE(channels.bypass(second, source));
  EXPECT_EQ(source.queued, std::vector<const Message*>{&first});
  EXPECT_EQ(channels.bypassing(), nullptr);
}

TEST_F(Bypass, WhoQueuesAtTheSameInstantMakesItQueueBefore) {
  Message& first = messages.make(Opcode::kMemWr);
  Message& second = messages.make(Opcode::kMemWr);
  EXPECT_TRUE(channels.bypass(first, source));
  channels.enqueue(second, Time{});
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(b.arrivals.size(), 2U);
  EXPECT_EQ(b.arrivals[0].message, &first);
}

TEST_F(Bypass, NobodyPassesABusyWire) {
  link.a_to_b.send(messages.make(Opcode::kMemWr), 0_ps);
  kernel.run(100_ps, kAllEvents);
  EXPECT_FALSE(channels.bypass(messages.make(Opcode::kMemRd), source));
}

TEST_F(Bypass, NobodyPassesWithoutACreditOrThoseWhoWaitForOne) {
  for (int i = 0; i < 3; ++i) link.a_to_b.send(messages.make(Opcode::kMemWr), 0_ps);
  kernel.run(3_ns, kAllEvents);  // two have left, and the wire is free again
  EXPECT_FALSE(channels.bypass(messages.make(Opcode::kMemWr), source));
  EXPECT_TRUE(channels.bypass(messages.make(Opcode::kMemRd), source)) << "another class has credits";
}

struct Sent {
  Time at;
  bool from_b = false;
  Opcode opcode = Opcode::kMemRd;
};

/// All that can be seen of a link on which these have been sent, past the queues where they may or never.
class Seen {
 public:
  Seen(const LinkOf& of, const std::vector<Sent>& plan, bool past_queues) : link_(kernel_, a_, b_, of) {
    a_.holds(3_ns);
    b_.holds(9_ns);
    for (LinkEnd* end : {&link_.a_to_b, &link_.b_to_a}) end->open_window(0_ps);
    const std::size_t count = plan.size();
    for (std::size_t i = 0; i < count; ++i) sent_.push_back(&messages_.tracked(plan[i].opcode, plan[i].at));
    Actor actor([&](std::uint8_t /*kind*/, std::uint64_t i) {
      LinkEnd& end = plan[i].from_b ? link_.b_to_a : link_.a_to_b;
      if (past_queues) {
        end.send(*sent_[i], kernel_.now());
      } else {
        end.channels()->enqueue(*sent_[i], kernel_.now());
      }
    });
    EventSource source = kernel_.new_source();
    for (std::size_t i = 0; i < count; ++i) kernel_.schedule(plan[i].at, source, actor, 0, i);
    kernel_.run(Time::max(), kAllEvents);
    for (LinkEnd* end : {&link_.a_to_b, &link_.b_to_a}) end->close_window(kernel_.now());
  }

  /// By the numbers of the messages: who arrived when, what it was charged with, and what the monitors say.
  std::vector<double> all() const {
    std::vector<double> seen;
    for (const Probe* probe : {&a_, &b_}) {
      for (const Probe::Arrival& arrival : probe->arrivals) {
        const auto number = std::find(sent_.begin(), sent_.end(), arrival.message) - sent_.begin();
        seen.insert(seen.end(), {static_cast<double>(number), arrival.time.ns()});
      }
    }
    for (const Message* message : sent_) {
      for (std::size_t i = 0; i < kSegmentCount; ++i)
        seen.push_back(message->account->of(static_cast<Segment>(i)).ns());
    }
    for (const LinkEnd* end : {&link_.a_to_b, &link_.b_to_a}) {
      const LevelMonitor& queue = end->monitor().queue();
      seen.insert(seen.end(), {queue.mean(), queue.maximum(), queue.quantile(0.9),
                               end->total_credit_blocked().ns(), end->monitor().closed_totals().busy.ns()});
    }
    return seen;
  }
  std::size_t arrived() const { return a_.arrivals.size() + b_.arrivals.size(); }

 private:
  Kernel kernel_;
  Probe a_{kernel_, "a"};
  Probe b_{kernel_, "b"};
  QueuedLink link_;
  Messages messages_;
  std::vector<Message*> sent_;
};

class RandomPlan : public testing::TestWithParam<int> {};

TEST_P(RandomPlan, NobodyCanTellWhetherMessagesWentPastTheQueues) {
  RandomStream random(static_cast<std::uint64_t>(GetParam()), "bypass", "plan");
  for (int round = 0; round < 20; ++round) {
    LinkOf of{.bandwidth = kTenPerByte, .delay = 2_ns, .turnaround = 1_ns};
    if (random.below(3) > 0) of.credits = ClassCredits(1 + static_cast<std::uint32_t>(random.below(4)));
    if (random.below(2) == 0) of.arbiter = &test::make_arbiter<AgeArbiter>;
    of.shared = random.below(2) == 0;
    // Steps of a fifth of a line's time: many meet, and some find everything idle.
    const std::uint64_t spread = 200 + random.below(4000);
    std::vector<Sent> plan;
    for (int i = 0; i < 200; ++i) {
      constexpr Opcode kKinds[] = {Opcode::kMemRd, Opcode::kMemWr, Opcode::kMemData};
      plan.push_back({160_ps * static_cast<std::int64_t>(random.below(spread)), random.below(2) == 0,
                      kKinds[random.below(3)]});
    }
    const Seen past(of, plan, true);
    const Seen never(of, plan, false);
    ASSERT_EQ(past.arrived(), 200U);
    ASSERT_EQ(past.all(), never.all());
  }
}
INSTANTIATE_TEST_SUITE_P(Bypass, RandomPlan, testing::Range(0, 10));

}  // namespace
}  // namespace cxloom
