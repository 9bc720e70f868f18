// Links whose ends have event queues of their own.
#include <gtest/gtest.h>

#include "core/support/flit_bench.hpp"
#include "core/support/link_bench.hpp"
#include "core/support/probe.hpp"
#include "interconnect/link/link.hpp"
#include "kernel/kernel_group.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::kAllEvents;
using test::Messages;
using test::Probe;

LinkParams link_of(bool flits, bool credits) {
  LinkParams params;
  params.delay = 10_ns;
  params.bandwidth = 64_GBps;
  if (flits) params.phy = Phy{};
  if (credits) params.credits = ClassCredits(1);
  return params;
}

// When the messages of a burst, and one that goes alone, are with the receiver. The sender's queue is played
// to its end before the receiver's begins, unless both have the same.
std::vector<Time> arrivals_of(const LinkParams& params, bool cut) {
  KernelGroup group;
  Kernel near(group);
  Kernel far(group);
  Probe a(near, "a");
  Probe b(cut ? far : near, "b");
  const Link link = make_link(params, {a, 0, near}, {b, 0, cut ? far : near}, 1);
  Messages messages;
  for (int i = 0; i < 5; ++i) link.forward->send(messages.tracked(Opcode::kMemWr), 0_ps);
  link.forward->send(messages.tracked(Opcode::kMemRd), 1_us);
  if (cut) {
    near.run(2_us, kAllEvents);
    EXPECT_TRUE(b.arrivals.empty()) << "within an event of the sender's";
  }
  near.run(Time::max(), kAllEvents);
  far.run(Time::max(), kAllEvents);
  std::vector<Time> times;
  for (const auto& arrival : b.arrivals) times.push_back(arrival.time);
  return times;
}

TEST(CutLink, ArrivalsAreThoseOfOneQueue) {
  for (const bool flits : {false, true}) {
    const std::vector<Time> whole = arrivals_of(link_of(flits, false), false);
    ASSERT_EQ(whole.size(), 6U);
    EXPECT_EQ(arrivals_of(link_of(flits, false), true), whole) << flits;
  }
}

TEST(CutLink, NothingIsSentSoonerThanTheFlightBeforeItArrives) {
  // The sender's queue is played up to the flight before an arrival: the receiver's has it then.
  for (const bool flits : {false, true}) {
    const LinkParams params = link_of(flits, false);
    for (const Time arrival : arrivals_of(params, false)) {
      KernelGroup group;
      Kernel near(group);
      Kernel far(group);
      Probe a(near, "a");
      Probe b(far, "b");
      const Link link = make_link(params, {a, 0, near}, {b, 0, far}, 1);
      Messages messages;
      for (int i = 0; i < 5; ++i) link.forward->send(messages.tracked(Opcode::kMemWr), 0_ps);
      link.forward->send(messages.tracked(Opcode::kMemRd), 1_us);
      near.run(arrival - link.forward->flight(), kAllEvents);
      far.run(arrival, kAllEvents);
      ASSERT_FALSE(b.arrivals.empty());
      EXPECT_EQ(b.arrivals.back().time, arrival) << flits;
    }
  }
}

TEST(CutLink, CreditsComeBackAsEventsOfTheUsersQueue) {
  // One credit: the second message waits for the first one's. The receiver frees it when it comes, in its own
  // queue; the event goes to the sender's, no sooner than the flight after.
  KernelGroup group;
  Kernel near(group);
  Kernel far(group);
  Probe a(near, "a");
  Probe b(far, "b");
  const Link link = make_link(link_of(false, true), {a, 0, near}, {b, 0, far}, 1);
  Messages messages;
  for (int i = 0; i < 2; ++i) link.forward->send(messages.tracked(Opcode::kMemRd), 0_ps);
  near.run(Time::max(), kAllEvents);
  EXPECT_TRUE(near.idle());  // nothing is under way
  far.run(Time::max(), kAllEvents);
  ASSERT_EQ(b.arrivals.size(), 1U);
  EXPECT_EQ(b.arrivals[0].time, 10_ns + 250_ps);
  EXPECT_EQ(near.next_event_time(), 20_ns + 250_ps);
  near.run(Time::max(), kAllEvents);
  far.run(Time::max(), kAllEvents);
  ASSERT_EQ(b.arrivals.size(), 2U);
  EXPECT_EQ(b.arrivals[1].time, 30_ns + 500_ps);
}

}  // namespace
}  // namespace cxloom
