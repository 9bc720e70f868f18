// Credits of a link of flits: what they limit, when they are back, and how they ride on flits of the other
// direction.
#include <gtest/gtest.h>

#include <vector>

#include "core/support/flit_bench.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::FlitLink;
using test::FlitLinkOf;
using test::kAllEvents;
using test::Messages;
using test::Probe;

ClassCredits only(Channel channel, std::uint32_t credits) {
  ClassCredits table;
  table.set(channel, credits);
  return table;
}

TEST(FlitLinkCredits, AClassSendsItsCreditsOncePerLoop) {
  // A loop: the flit, there, the time to drain, a flit of the other direction, back. Up to eight reads share
  // a flit.
  constexpr Time kHeld = 20_ns;
  for (const FlitMode mode : test::kFlitModes) {
    for (const std::uint32_t credits : {1U, 2U, 4U, 8U}) {
      if (mode == FlitMode::k68B && credits > 2) continue;
      Kernel kernel;
      Probe a(kernel, "a");
      Probe b(kernel, "b");
      b.holds(kHeld);
      const FlitLinkOf of{
          .mode = mode, .port_delays = 50_ns, .delay = 7_ns, .credits = only(Channel::kM2SReq, credits)};
      FlitLink link(kernel, a, b, of);
      link.open(0_ps);
      Messages messages;
      std::vector<Message*> sent;
      for (unsigned i = 0; i < 10 * credits; ++i) {
        sent.push_back(&messages.tracked(Opcode::kMemRd));
        link.a_to_b.send(*sent.back(), 0_ps);
      }
      kernel.run(Time::max(), kAllEvents);
      link.close(kernel.now());
      ASSERT_EQ(b.arrivals.size(), sent.size());
      // In a latency-optimised flit, requests of the second half are there half a flit later, and so are
      // their credits: what comes back with the first half's goes first.
      if (mode == FlitMode::k256BLo && credits > 4) continue;
      const Time in = mode == FlitMode::k256BLo ? of.half() : of.flit();
      const Time loop = in + 57_ns + kHeld + of.flit() + 57_ns;
      for (std::size_t k = 0; k < sent.size(); ++k) {
        const Time leaves = loop * static_cast<std::int64_t>(k / credits);
        ASSERT_EQ(b.arrivals[k].message, sent[k]);
        ASSERT_EQ(b.arrivals[k].time, leaves + in + 57_ns) << credits << " credits, message " << k;
        ASSERT_EQ(Messages::segment(*sent[k], Segment::kCredit), leaves);
        ASSERT_EQ(Messages::segment(*sent[k], Segment::kLinkQueue), 0_ps);
      }
      // Starved from the start to the departure of the last round.
      EXPECT_EQ(link.a_to_b.credit_blocked(Channel::kM2SReq), loop * 9);
      EXPECT_EQ(link.a_to_b.total_credit_blocked(), loop * 9);
    }
  }
}

TEST(FlitLinkCredits, SeveralLinesOfAMessageShareOneCredit) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  const FlitLinkOf of{.delay = 100_ns, .credits = only(Channel::kM2SRwD, 1)};
  FlitLink link(kernel, a, b, of);
  Messages messages;
  for (int i = 0; i < 2; ++i) link.a_to_b.send(messages.make(Opcode::kMemWr, 30 * 64), 0_ps);
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(b.arrivals.size(), 2U);  // three lines per flit
  EXPECT_EQ(b.arrivals[0].time, of.flit() * 10 + 100_ns);
  EXPECT_EQ(b.arrivals[1].time, (of.flit() * 10 + 100_ns) * 2 + of.flit() + 100_ns);
}

TEST(FlitLinkCredits, ATableThrottlesItsClassAlone) {
  // Twenty reads with one credit, twenty writes with as many as they like: the writes arrive as without the
  // reads.
  const auto writes_alone = [](bool reads_too, Time* blocked_reads) {
    Kernel kernel;
    Probe a(kernel, "a");
    Probe b(kernel, "b");
    FlitLink link(kernel, a, b, {.delay = 50_ns, .credits = only(Channel::kM2SReq, 1)});
    link.open(0_ps);
    Messages messages;
    for (int i = 0; i < 20; ++i) {
      if (reads_too) link.a_to_b.send(messages.make(Opcode::kMemRd), 0_ps);
      link.a_to_b.send(messages.make(Opcode::kMemWr), 0_ps);
    }
    kernel.run(Time::max(), kAllEvents);
    link.close(kernel.now());
    EXPECT_EQ(link.a_to_b.credit_blocked(Channel::kM2SRwD), 0_ps);
    if (blocked_reads) *blocked_reads = link.a_to_b.credit_blocked(Channel::kM2SReq);
    Time last;
    for (const auto& arrival : b.arrivals) {
      if (arrival.message->channel == Channel::kM2SRwD) last = std::max(last, arrival.time);
    }
    return last;
  };
  Time blocked;
  // Three writes per flit, one header in the H-slot: the one read that may go beside them takes a slot, and
  // so up to a flit.
  EXPECT_LE(writes_alone(true, &blocked), writes_alone(false, nullptr) + 2560_ps);
  EXPECT_GE(blocked, (50_ns + 50_ns) * 19);
}

TEST(FlitLinkCredits, WhatFillsAFlitExactlyLeavesNothingBehind) {
  // Twelve completions per flit, and as many are kept ready for the next one.
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  const FlitLinkOf of{.delay = 57_ns, .credits = ClassCredits(1000)};
  FlitLink link(kernel, a, b, of);
  Messages messages;
  for (int i = 0; i < 36; ++i) link.a_to_b.send(messages.make(Opcode::kCmp), 0_ps);
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(b.arrivals.size(), 36U);
  EXPECT_EQ(b.arrivals.back().time, of.flit() * 3 + 57_ns);
}

TEST(FlitLinkCredits, TheyRideOnFlitsOfABusyDirectionAtTheEncodedCounts) {
  // Seven requests go in one flit and are drained at once. The other direction is full of data: its next flit
  // returns four of seven credits, the following ones one each (the field says 0, 1, 4, 8, 12 or 16).
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  const FlitLinkOf of{.delay = 57_ns, .credits = only(Channel::kM2SReq, 7)};
  FlitLink link(kernel, a, b, of);
  Messages messages;
  for (int i = 0; i < 14; ++i) link.a_to_b.send(messages.make(Opcode::kMemRd), 0_ps);
  for (int i = 0; i < 1000; ++i) link.b_to_a.send(messages.make(Opcode::kMemData), 0_ps);
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(b.arrivals.size(), 14U);
  const Time flit = of.flit();
  const Time drained = flit + 57_ns;
  const Time next_flit = flit * ((drained.ps() + flit.ps() - 1) / flit.ps());
  const Time back = next_flit + flit + 57_ns;
  for (int k = 0; k < 7; ++k) EXPECT_EQ(b.arrivals[static_cast<std::size_t>(k)].time, drained);
  for (int k = 7; k < 14; ++k) {
    EXPECT_EQ(b.arrivals[static_cast<std::size_t>(k)].time, back + flit * std::max(0, k - 10) + flit + 57_ns);
  }
  // The data lost nothing to them: 27 lines in 8 flits.
  EXPECT_NEAR(a.arrivals.back().time.ns(), 1000.0 * 8 / 27 * flit.ns() + 57.0, 2 * flit.ns());
}

TEST(FlitLinkCredits, AllDataFlitsCarryNone) {
  // 68B, the other direction full of data: a credit waits for a flit with a header.
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  const FlitLinkOf of{.mode = FlitMode::k68B, .delay = 57_ns, .credits = only(Channel::kM2SReq, 1)};
  FlitLink link(kernel, a, b, of);
  link.open(0_ps);
  Messages messages;
  for (int i = 0; i < 200; ++i) link.a_to_b.send(messages.make(Opcode::kMemRd), 0_ps);
  for (int i = 0; i < 40000; ++i) link.b_to_a.send(messages.make(Opcode::kMemData), 0_ps);
  kernel.run(b.arrivals.empty() ? 20_us : Time::max(), kAllEvents);
  link.close(kernel.now());
  ASSERT_EQ(b.arrivals.size() < 200U, true);
  const Time flit = of.flit();
  // There, the rest of the flit on the wire, all-data flits, the flit with the credit, back.
  const Time shortest = (flit + 57_ns) * 2;
  bool waited = false;
  for (std::size_t k = 1; k < b.arrivals.size(); ++k) {
    const Time loop = b.arrivals[k].time - b.arrivals[k - 1].time;
    ASSERT_GE(loop, shortest);
    ASSERT_LE(loop, shortest + flit * 4);
    waited = waited || loop > shortest + flit;
  }
  EXPECT_TRUE(waited);
}

TEST(FlitLinkCredits, WithAllReceiversStalledEverythingStopsAndResumes) {
  for (const FlitMode mode : test::kFlitModes) {
    Kernel kernel;
    Probe a(kernel, "a");
    Probe b(kernel, "b");
    a.hoards();
    b.hoards();
    FlitLink link(kernel, a, b, {.mode = mode, .delay = 10_ns, .credits = ClassCredits(3)});
    Messages messages;
    for (int i = 0; i < 50; ++i) {
      for (const Opcode opcode : {Opcode::kMemRd, Opcode::kMemWr, Opcode::kMemData, Opcode::kCmp}) {
        link.a_to_b.send(messages.make(opcode), 0_ps);
        link.b_to_a.send(messages.make(opcode), 0_ps);
      }
    }
    std::size_t released = 0;
    for (std::size_t round = 1; released < 200; ++round) {
      kernel.run(Time::max(), kAllEvents);  // to where nothing is scheduled any more
      ASSERT_EQ(a.arrivals.size(), std::min<std::size_t>(round * 12, 200));
      ASSERT_EQ(b.arrivals.size(), std::min<std::size_t>(round * 12, 200));
      for (; released < a.arrivals.size(); ++released) {
        a.port(0).release(*a.arrivals[released].message, kernel.now());
        b.port(0).release(*b.arrivals[released].message, kernel.now());
      }
    }
  }
}

TEST(FlitLinkCredits, AStreamOfIoDoesNotStarveTheCreditsOfTheOtherDirection) {
  // CXL.io flits carry none: flits of the other protocols come between.
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  const FlitLinkOf of{.delay = 20_ns, .credits = only(Channel::kM2SReq, 1)};
  FlitLink link(kernel, a, b, of);
  Messages messages;
  for (int i = 0; i < 10000; ++i) link.b_to_a.send(messages.make(Opcode::kMWr, 256), 0_ps);
  for (int i = 0; i < 20; ++i) link.a_to_b.send(messages.make(Opcode::kMemRd), 0_ps);
  kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(b.arrivals.size(), 20U);
  EXPECT_EQ(a.arrivals.size(), 10000U);
  // A loop, and at most the flit on the wire and one of CXL.io before the credit goes.
  EXPECT_LE(b.arrivals.back().time, ((of.flit() + 20_ns) * 2 + of.flit() * 2) * 20);
}

}  // namespace
}  // namespace cxloom
