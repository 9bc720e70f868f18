#include "interconnect/link/link.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "base/arena.hpp"
#include "core/support/link_bench.hpp"
#include "core/support/probe.hpp"
#include "interconnect/flit/batched_transmitter.hpp"
#include "interconnect/link/message_transmitter.hpp"
#include "interconnect/wire/credit_line.hpp"

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

/// A probe that brings queues to its ports, as a switch with virtual output queues does.
class Arbitrating final : public Component {
 public:
  using Component::Component;
  bool arbitrates() const override { return true; }
  void receive(Message& /*message*/) override {}
};

/// Bytes that making a link takes of an arena in which nothing else is made meanwhile.
std::uint64_t arena_bytes(const LinkParams& params, bool first_arbitrates) {
  Kernel kernel;
  Arbitrating switching({kernel, "a", NodeId{0}, 1});
  Probe first(kernel, "a", 0);
  Probe second(kernel, "b", 1);
  Component& from = first_arbitrates ? static_cast<Component&>(switching) : first;
  const auto here = [&] {
    return reinterpret_cast<std::uintptr_t>(kernel.arena().memory().allocate(64, 64));
  };
  const std::uintptr_t before = here();
  const Link link = make_link(params, {from, 0, kernel}, {second, 0, kernel}, 1);
  return here() - before - 64;
}

/// What lines of so many credits take in both directions once one of each class has come back.
constexpr std::uint64_t ring_bytes(std::size_t classes, std::uint32_t credits) {
  return 2 * classes * CreditLine::arena_bytes(credits);
}

/// The estimate for messages of all classes, or of so many.
std::uint64_t bytes_of(const LinkParams& params, unsigned arbitrating, std::size_t classes = kChannelCount) {
  std::vector<Channel> carried;
  for (std::size_t i = 0; i < classes; ++i) carried.push_back(static_cast<Channel>(i));
  return link_bytes(params, arbitrating, carried);
}

// Memory outside of the arena: the names and places in lists that the estimate allows for.
TEST(Link, TakesTheMemoryThatIsEstimated) {
  constexpr std::uint64_t kElse = 512;
  LinkParams plain;
  plain.bandwidth = 64_GBps;
  LinkParams credits = plain;
  credits.credits = ClassCredits(4);
  LinkParams half = plain;
  half.duplex = Duplex::kHalf;
  LinkParams turns = half;
  turns.turnaround = 3_ns;
  LinkParams flits;
  flits.phy = Phy{};
  flits.credits = ClassCredits(4);
  const std::uint64_t lines = 2 * kChannelCount * sizeof(CreditLine);
  EXPECT_EQ(bytes_of(plain, 0), arena_bytes(plain, false) + kElse);
  EXPECT_EQ(bytes_of(plain, 1), arena_bytes(plain, true) + kElse);
  EXPECT_EQ(bytes_of(half, 0), arena_bytes(half, false) + kElse);
  EXPECT_EQ(bytes_of(half, 1), arena_bytes(half, true) + kElse);
  EXPECT_EQ(bytes_of(turns, 0), arena_bytes(turns, false) + kElse);
  const std::uint64_t rings = ring_bytes(kChannelCount, 4);
  EXPECT_EQ(bytes_of(credits, 0), arena_bytes(credits, false) + rings + kElse);
  EXPECT_EQ(bytes_of(credits, 1), arena_bytes(credits, true) + rings + kElse);
  EXPECT_EQ(bytes_of(credits, 0, 5), arena_bytes(credits, false) + ring_bytes(5, 4) + kElse);
  LinkParams some = plain;
  some.credits.set(Channel::kM2SReq, 37);
  EXPECT_EQ(bytes_of(some, 0), arena_bytes(some, false) + ring_bytes(1, 37) + kElse);
  EXPECT_EQ(bytes_of(some, 0) - bytes_of(plain, 2), lines + 2 * 64 * sizeof(Time));
  EXPECT_NEAR(static_cast<double>(bytes_of(flits, 0)), static_cast<double>(arena_bytes(flits, false) + rings),
              0.1 * static_cast<double>(bytes_of(flits, 0)));
}

TEST(Link, CreditsTakeTheArenaOnceOneComesBack) {
  // Without a limit of bandwidth nothing else is kept of a message, and a credit comes back long after the
  // last has left.
  for (const std::uint32_t credits : {1U, 4U, 37U, 64U, 1000U}) {
    Pair pair;
    pair.b.holds(1_us);
    LinkParams params;
    params.credits = ClassCredits(credits);
    params.delay = 10_ns;
    const Link link = pair.link(params);
    const auto here = [&] {
      return reinterpret_cast<std::uintptr_t>(pair.kernel.arena().memory().allocate(8, 8));
    };
    test::Messages messages;
    const std::uintptr_t before = here();
    for (std::uint32_t i = 0; i < 3 * credits; ++i) link.forward->send(messages.make(Opcode::kMemWr), 0_ps);
    pair.kernel.run(Time::max(), test::kAllEvents);
    EXPECT_EQ(pair.b.arrivals.size(), 3 * credits);
    EXPECT_EQ(here() - before - 8, CreditLine::arena_bytes(credits)) << credits;
  }
}

TEST(Link, ItsEndsSayWhereTheirStateLies) {
  LinkParams params;
  params.bandwidth = 64_GBps;
  Pair plain;
  const Link without = plain.link(params);
  const PortMemory end = without.forward->memory();
  EXPECT_EQ(end.end, without.forward.get());
  EXPECT_TRUE(!end.turns && !end.vcs && !end.credits);

  params.credits = ClassCredits(4);
  Pair with_credits;
  const Link link = with_credits.link(params);
  const PortMemory forward = link.forward->memory();
  EXPECT_EQ(forward.turns, link.forward->transmitter());
  EXPECT_EQ(forward.vcs, &link.forward->channels()->channel(ClassVc{0}));
  EXPECT_EQ(forward.credits, link.backward->channels()->credit_lines());
  // What they count on: a line for each lane, and what is behind the first line of a transmitter.
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(forward.vcs) % kCacheLine, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(link.forward->channels()) -
                reinterpret_cast<std::uintptr_t>(forward.turns),
            kCacheLine);
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
