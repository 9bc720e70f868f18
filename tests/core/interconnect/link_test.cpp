#include "interconnect/link.hpp"

#include <gtest/gtest.h>

#include "core/support/link_bench.hpp"
#include "core/support/probe.hpp"
#include "interconnect/batched_flit_transmitter.hpp"
#include "interconnect/message_transmitter.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::Probe;

struct Pair {
  Kernel kernel;
  Probe a{kernel, "a", 0};
  Probe b{kernel, "b", 1};

  Link link(const LinkParams& params) { return make_link(params, {a, 0, kernel}, {b, 0, kernel}, 1); }
};

template <class Kind>
bool transmit_by(const Link& link) {
  return dynamic_cast<const Kind*>(link.forward->transmitter()) != nullptr &&
         dynamic_cast<const Kind*>(link.backward->transmitter()) != nullptr;
}

TEST(Link, ItsEndsTransmitAsItsParametersCallFor) {
  LinkParams params;
  params.bandwidth = 64_GBps;
  {
    Pair plain;
    const Link link = plain.link(params);
    EXPECT_TRUE(link.forward->transmitter() == nullptr && link.backward->transmitter() == nullptr);
  }
  {
    Pair with_credits;
    LinkParams limited = params;
    limited.credits = ClassCredits(4);
    EXPECT_TRUE(transmit_by<MessageTransmitter>(with_credits.link(limited)));
  }
  {
    Pair half;
    LinkParams shared = params;
    shared.duplex = Duplex::kHalf;
    EXPECT_TRUE(transmit_by<MessageTransmitter>(half.link(shared)));
  }
  LinkParams flits;
  flits.phy = Phy{};
  {
    Pair physical;
    EXPECT_TRUE(transmit_by<BatchedFlitTransmitter>(physical.link(flits)));
  }
  {
    Pair limited;
    flits.credits = ClassCredits(4);
    EXPECT_TRUE(transmit_by<FlitTransmitter>(limited.link(flits)));
  }
}

TEST(Link, EachDirectionHasItsDelayAndTheSlowerBandwidth) {
  Pair pair;
  LinkParams params;
  params.bandwidth = 64_GBps;
  params.delay = 10_ns;
  params.port_delay = 5_ns;  // twice
  params.reverse.delay = 30_ns;
  params.reverse.bandwidth = 16_GBps;
  const Link link = pair.link(params);
  EXPECT_EQ(link.forward->flight(), 20_ns);
  EXPECT_EQ(link.backward->flight(), 40_ns);
  EXPECT_EQ(link.forward->rate(), (64_GBps).rate);
  EXPECT_EQ(link.backward->rate(), (16_GBps).rate);
  EXPECT_EQ(link.forward->name(), "a->b");
  EXPECT_EQ(link.backward->name(), "b->a");
}

TEST(Link, HalfDuplexDirectionsShareOneWire) {
  Pair pair;
  LinkParams params;
  params.bandwidth = 1_GBps;
  params.duplex = Duplex::kHalf;
  params.header = 16_B;
  const Link link = pair.link(params);
  test::Messages messages;
  link.forward->send(messages.make(Opcode::kMemRd), Time{});
  link.backward->send(messages.make(Opcode::kMemRd), Time{});
  pair.kernel.run(Time::max(), test::kAllEvents);
  ASSERT_EQ(pair.a.arrivals.size(), 1U);
  ASSERT_EQ(pair.b.arrivals.size(), 1U);
  EXPECT_EQ(pair.b.arrivals[0].time, 16_ns);  // 16 B at 1 GB/s, one behind the other
  EXPECT_EQ(pair.a.arrivals[0].time, 32_ns);
}

}  // namespace
}  // namespace cxloom
