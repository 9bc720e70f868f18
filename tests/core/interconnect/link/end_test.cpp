#include "interconnect/link/end.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/random.hpp"
#include "core/support/link_bench.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::FifoLink;
using test::kAllEvents;
using test::kTenPerByte;
using test::LinkOf;
using test::Messages;
using test::Probe;

TEST(LinkEnd, IdleLatencyIsTheSumOfItsPartsToThePicosecond) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  b.with_pipeline(3_ns);
  FifoLink link(kernel, a, b, {.bandwidth = kTenPerByte, .port_delays = 50_ns, .delay = 7_ns});
  Messages messages;
  Message& write = messages.tracked(Opcode::kMemWr);
  link.end.send(write, 2_ns);
  kernel.run(Time::max(), kAllEvents);
  // ready + ports + flight + 80 B, then the receiver's pipeline, which the receiver itself charges.
  ASSERT_EQ(b.arrivals.size(), 1U);
  EXPECT_EQ(b.arrivals[0].time, 2_ns + 50_ns + 7_ns + 800_ps + 3_ns);
  EXPECT_EQ(b.arrivals[0].tail, 0_ps);
  EXPECT_EQ(Messages::segment(write, Segment::kLinkQueue),
            2_ns);  // the time before `ready` was nobody's: it started at 0
  EXPECT_EQ(Messages::segment(write, Segment::kPortDelay), 50_ns);
  EXPECT_EQ(Messages::segment(write, Segment::kPropagation), 7_ns);
  EXPECT_EQ(Messages::segment(write, Segment::kSerialization), 800_ps);
  EXPECT_EQ(write.hops, 1);
  EXPECT_EQ(link.end.flight(), 57_ns);
  EXPECT_EQ(link.end.name(), "a->b");
}

TEST(LinkEnd, AnUnlimitedWireTakesNoTime) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  FifoLink link(kernel, a, b, {.delay = 4_ns});
  EXPECT_TRUE(link.end.unlimited());
  Messages messages;
  for (int i = 0; i < 3; ++i) link.end.send(messages.make(Opcode::kMemWr), 0_ps);
  kernel.run(Time::max(), kAllEvents);
  for (const auto& arrival : b.arrivals) EXPECT_EQ(arrival.time, 4_ns);
}

TEST(LinkEnd, ASharedOneTakesMessagesInAnyOrder) {
  // Messages ready at 20, 10 and 30 ns are sent at once in that order, and at 15 ns one that is ready then.
  for (const Bandwidth bandwidth : {kTenPerByte, Bandwidth{}}) {
    Kernel kernel;
    Probe a(kernel, "a");
    Probe b(kernel, "b");
    FifoLink link(kernel, a, b, {.bandwidth = bandwidth, .port_delays = 1_ns});
    link.end.share();
    Messages messages;
    std::vector<Message*> sent;
    for (const Time ready : {20_ns, 10_ns, 30_ns}) {
      sent.push_back(&messages.tracked(Opcode::kMemWr, ready));
      link.end.send(*sent.back(), ready);
    }
    EventSource source = kernel.new_source();
    sent.push_back(&messages.tracked(Opcode::kMemWr, 15_ns));
    test::Actor late([&](std::uint8_t, std::uint64_t) { link.end.send(*sent[3], kernel.now()); });
    kernel.schedule(15_ns, source, late, 0);
    kernel.run(Time::max(), kAllEvents);
    const Time after = 1_ns + (bandwidth.rate.unlimited() ? 0_ps : 800_ps);
    ASSERT_EQ(b.arrivals.size(), 4U);
    const std::vector<std::pair<Message*, Time>> expected{
        {sent[1], 10_ns}, {sent[3], 15_ns}, {sent[0], 20_ns}, {sent[2], 30_ns}};
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(b.arrivals[i].message, expected[i].first);
      EXPECT_EQ(b.arrivals[i].time, expected[i].second + after);
      EXPECT_EQ(Messages::segment(*expected[i].first, Segment::kLinkQueue), 0_ps);
    }
  }
}

TEST(LinkEnd, BackToBackMessagesAreSpacedByTheirBytes) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  FifoLink link(kernel, a, b, {.bandwidth = kTenPerByte, .port_delays = 1_ns});
  Messages messages;
  std::vector<Message*> sent;
  Time end;
  std::vector<Time> expected;
  for (int i = 0; i < 50; ++i) {
    const bool data = i % 3 == 0;
    sent.push_back(&messages.tracked(data ? Opcode::kMemData : Opcode::kMemRd));
    link.end.send(*sent.back(), 0_ps);
    end += data ? 800_ps : 160_ps;
    expected.push_back(end + 1_ns);
  }
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(b.arrivals.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(b.arrivals[i].message, sent[i]);
    EXPECT_EQ(b.arrivals[i].time, expected[i]);
    const Time bytes = i % 3 == 0 ? 800_ps : 160_ps;
    EXPECT_EQ(Messages::segment(*sent[i], Segment::kLinkQueue), expected[i] - bytes - 1_ns);
    EXPECT_EQ(sent[i]->account->mark(), expected[i]);
  }
}

TEST(LinkEnd, ATakerOfHeadsGetsTheHeadAndTheTailFollows) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  b.cut_through();
  FifoLink link(kernel, a, b, {.bandwidth = kTenPerByte, .port_delays = 1_ns});
  Messages messages;
  Message& write = messages.tracked(Opcode::kMemWr);
  link.end.send(write, 0_ps);
  kernel.run(Time::max(), kAllEvents);
  EXPECT_EQ(b.arrivals[0].time, 1_ns);
  EXPECT_EQ(b.arrivals[0].tail, 800_ps);
  EXPECT_EQ(Messages::segment(write, Segment::kSerialization),
            0_ps);  // paid once, where the tail is waited for
}

// The tail behind a second wire of `second` ps per byte, which starts `late` after the head's arrival, when
// the first takes `first` ps per byte. The last byte leaves at max(own end, when it has come in).
Time tail_after(std::int64_t first, std::int64_t second, Time late) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  Probe c(kernel, "c");
  b.cut_through();
  c.cut_through();
  FifoLink one(kernel, a, b, {.bandwidth = {Rate::per_time(1, static_cast<std::uint64_t>(first))}});
  FifoLink two(kernel, b, c, {.bandwidth = {Rate::per_time(1, static_cast<std::uint64_t>(second))}});
  Messages messages;
  Message& write = messages.make(Opcode::kMemWr);
  one.end.send(write, 0_ps);
  kernel.run(Time::max(), kAllEvents);
  // Somebody else holds the second wire until the head has waited for `late`.
  if (late > 0_ps) {
    Message& other = messages.make(Opcode::kMemWr, static_cast<std::uint16_t>(late.ps() / second - 16));
    two.end.send(other, 0_ps);
  }
  two.end.send(write, 0_ps);
  kernel.run(Time::max(), kAllEvents);
  EXPECT_EQ(c.arrivals.back().time, late);
  return c.arrivals.back().tail;
}

TEST(LinkEnd, TheTailBehindASlowerWireIsItsOwn) {
  EXPECT_EQ(tail_after(10, 25, 0_ps), Time{80 * 25});
  EXPECT_EQ(tail_after(10, 10, 0_ps), Time{80 * 10});
}

TEST(LinkEnd, TheTailBehindAFasterWireIsThatOfTheSlowerOneBefore) {
  EXPECT_EQ(tail_after(10, 4, 0_ps), Time{80 * 10});  // bytes cannot leave before they have come in
}

TEST(LinkEnd, TheTailCatchesUpWhileTheHeadWaits) {
  // The head waits 400 ps, in which 40 of the 80 bytes come in; the last one comes at 800 ps.
  EXPECT_EQ(tail_after(10, 4, 400_ps), Time{400});
  EXPECT_EQ(tail_after(10, 4, 800_ps), Time{80 * 4});  // all in: its own time from here
  EXPECT_EQ(tail_after(10, 4, 600_ps), Time{80 * 4});  // 200 ps to come, 320 ps to go
}

TEST(LinkEnd, TheWholeMessageThroughTwoWiresTakesTheSlowerOnce) {
  // Cut-through: head delays add up, the bytes are paid once, at the slower wire. The destination waits for
  // the tail.
  for (const std::int64_t second : {4, 10, 25}) {
    Kernel kernel;
    Probe a(kernel, "a");
    Probe b(kernel, "b");
    Probe c(kernel, "c");
    b.cut_through();
    FifoLink one(kernel, a, b, {.bandwidth = kTenPerByte, .port_delays = 5_ns});
    FifoLink two(kernel, b, c,
                 {.bandwidth = {Rate::per_time(1, static_cast<std::uint64_t>(second))}, .port_delays = 3_ns});
    Messages messages;
    Message& write = messages.tracked(Opcode::kMemWr);
    one.end.send(write, 0_ps);
    kernel.run(Time::max(), kAllEvents);
    two.end.send(write, kernel.now());
    kernel.run(Time::max(), kAllEvents);
    const Time bytes = Time{80 * std::max<std::int64_t>(10, second)};
    EXPECT_EQ(c.arrivals.back().time, 8_ns + bytes);
    EXPECT_EQ(Messages::segment(write, Segment::kSerialization), bytes);
    EXPECT_EQ(Messages::segment(write, Segment::kPortDelay), 8_ns);
    EXPECT_EQ(write.account->mark(), 8_ns + bytes);
  }
}

}  // namespace
}  // namespace cxloom
