// Links whose ends have event queues of their own.
#include <gtest/gtest.h>

#include "core/support/flit_bench.hpp"
#include "core/support/link_bench.hpp"
#include "core/support/probe.hpp"
#include "interconnect/link/link.hpp"
#include "kernel/divided_kernels.hpp"

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

struct Ends {
  Ends(Kernel& near, Kernel& far, const LinkParams& params)
      : a(near, "a"), b(far, "b"), link(make_link(params, {a, 0, near}, {b, 0, far}, 1)) {}
  void send_burst() {
    for (int i = 0; i < 5; ++i) link.forward->send(messages.tracked(Opcode::kMemWr), 0_ps);
    link.forward->send(messages.tracked(Opcode::kMemRd), 1_us);
  }
  std::vector<Time> arrivals() const {
    std::vector<Time> times;
    for (const auto& arrival : b.arrivals) times.push_back(arrival.time);
    return times;
  }

  Probe a;
  Probe b;
  Link link;
  Messages messages;
};

// When the messages of a burst, and one that goes alone, are with the receiver.
std::vector<Time> arrivals_of(const LinkParams& params, bool cut) {
  if (!cut) {
    Kernel kernel;
    Ends ends(kernel, kernel, params);
    ends.send_burst();
    kernel.run(Time::max(), kAllEvents);
    return ends.arrivals();
  }
  // Windows as long as the flight: what is sent in one has no effect in it at the other end.
  DividedKernels kernels(2, 1, 10_ns);
  Ends ends(kernels.part(0), kernels.part(1), params);
  EXPECT_EQ(ends.link.forward->flight(), 10_ns);
  ends.send_burst();
  while (!kernels.idle()) kernels.run_side_by_side(kernels.next_event_time() + 10_ns);
  return ends.arrivals();
}

TEST(CutLink, ArrivalsAreThoseOfOneQueue) {
  for (const bool flits : {false, true}) {
    const std::vector<Time> whole = arrivals_of(link_of(flits, false), false);
    ASSERT_EQ(whole.size(), 6U);
    EXPECT_EQ(arrivals_of(link_of(flits, false), true), whole) << flits;
  }
}

TEST(CutLink, CreditsComeBackAsEventsOfTheUsersQueue) {
  // One credit: the second message waits for the first one's. The receiver frees it when it comes, in its own
  // queue; the event goes to the sender's, no sooner than the flight after.
  DividedKernels kernels(2, 1, 10_ns);
  Ends ends(kernels.part(0), kernels.part(1), link_of(false, true));
  for (int i = 0; i < 2; ++i) ends.link.forward->send(ends.messages.tracked(Opcode::kMemRd), 0_ps);
  kernels.run_merged(1_ps, 10);  // what asks for the end of an instant before the run
  kernels.run_side_by_side(10_ns);
  EXPECT_TRUE(kernels.part(0).idle());  // the second waits
  EXPECT_TRUE(ends.b.arrivals.empty());
  kernels.run_side_by_side(20_ns);
  EXPECT_EQ(ends.arrivals(), std::vector<Time>{10_ns + 250_ps});
  EXPECT_EQ(kernels.next_event_time(), 20_ns + 250_ps);
  while (!kernels.idle()) kernels.run_side_by_side(kernels.next_event_time() + 10_ns);
  EXPECT_EQ(ends.arrivals(), (std::vector<Time>{10_ns + 250_ps, 30_ns + 500_ps}));
}

}  // namespace
}  // namespace cxloom
