// When messages on a link of flits arrive, and what the wire carried: without credits, errors and checks.
#include "interconnect/flit/transmitter.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "core/support/flit_bench.hpp"
#include "interconnect/wire/phy.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::FlitLink;
using test::FlitLinkOf;
using test::kAllEvents;
using test::Messages;
using test::Probe;

class EveryFormat : public testing::TestWithParam<FlitMode> {};
INSTANTIATE_TEST_SUITE_P(FlitTransmitter, EveryFormat, testing::ValuesIn(test::kFlitModes));

/// Until the last part of an isolated message of a line is sent: its flit, or the half that it ends in; in
/// 68B a line and its header are five slots, and so two flits.
Time isolated(FlitMode mode, Opcode opcode) {
  switch (mode) {
    case FlitMode::k68B: return carries_data(opcode) ? 1360_ps : 680_ps;
    case FlitMode::k256BLo: return 1280_ps;
    default: return 2560_ps;
  }
}

TEST_P(EveryFormat, ALoneMessageTakesTheSumOfItsParts) {
  // With credits for everything turns are taken one by one, without they are worked off in batches.
  for (const ClassCredits& credits : {ClassCredits(), ClassCredits(8)}) {
    for (const Opcode opcode : {Opcode::kMemRd, Opcode::kMemWr, Opcode::kMemData, Opcode::kCmp}) {
      Kernel kernel;
      Probe a(kernel, "a");
      Probe b(kernel, "b");
      FlitLink link(kernel, a, b,
                    {.mode = GetParam(), .port_delays = 50_ns, .delay = 7_ns, .credits = credits});
      Messages messages;
      Message& message = messages.tracked(opcode, 2_ns);
      link.a_to_b.send(message, 2_ns);
      kernel.run(Time::max(), kAllEvents);
      ASSERT_EQ(b.arrivals.size(), 1U);
      const Time sent = isolated(GetParam(), opcode);
      EXPECT_EQ(b.arrivals[0].time, 2_ns + sent + 57_ns);
      EXPECT_EQ(b.arrivals[0].tail, 0_ps);
      EXPECT_EQ(Messages::segment(message, Segment::kLinkQueue), 0_ps);
      EXPECT_EQ(Messages::segment(message, Segment::kCredit), 0_ps);
      EXPECT_EQ(Messages::segment(message, Segment::kSerialization), sent);
      EXPECT_EQ(Messages::segment(message, Segment::kPortDelay), 50_ns);
      EXPECT_EQ(Messages::segment(message, Segment::kPropagation), 7_ns);
    }
  }
}

TEST_P(EveryFormat, AMessageWaitsForTheFlitThatIsOnTheWire) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  const FlitLinkOf of{.mode = GetParam(), .delay = 20_ns};
  FlitLink link(kernel, a, b, of);
  Messages messages;
  Message& first = messages.tracked(Opcode::kMemRd, 1_ns);
  Message& second = messages.tracked(Opcode::kMemRd, 1_ns + 1_ps);
  link.a_to_b.send(first, 1_ns);
  link.a_to_b.send(second, 1_ns + 1_ps);
  kernel.run(Time::max(), kAllEvents);
  const Time sent = isolated(GetParam(), Opcode::kMemRd);
  EXPECT_EQ(b.arrivals[0].time, 1_ns + sent + 20_ns);
  EXPECT_EQ(b.arrivals[1].time, 1_ns + of.flit() + sent + 20_ns);
  EXPECT_EQ(Messages::segment(second, Segment::kLinkQueue), of.flit() - 1_ps);
}

TEST_P(EveryFormat, MessagesOfOneInstantShareAFlit) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  const FlitLinkOf of{.mode = GetParam(), .delay = 20_ns};
  FlitLink link(kernel, a, b, of);
  Messages messages;
  for (int i = 0; i < 2; ++i) link.a_to_b.send(messages.make(Opcode::kMemRd), 0_ps);
  kernel.run(Time::max(), kAllEvents);
  for (const auto& arrival : b.arrivals) {
    EXPECT_EQ(arrival.time, isolated(GetParam(), Opcode::kMemRd) + 20_ns);
  }
}

TEST_P(EveryFormat, DataWhoseTailComesInLaterAreSentWhenTheyAreThere) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  FlitLink link(kernel, a, b, {.mode = GetParam(), .delay = 20_ns});
  Messages messages;
  Message& write = messages.tracked(Opcode::kMemWr, 1_ns);
  write.tail = 3_ns;
  link.a_to_b.send(write, 1_ns);
  kernel.run(Time::max(), kAllEvents);
  EXPECT_EQ(b.arrivals[0].time, 4_ns + isolated(GetParam(), Opcode::kMemWr) + 20_ns);
  EXPECT_EQ(Messages::segment(write, Segment::kSerialization), 3_ns + isolated(GetParam(), Opcode::kMemWr));
}

/// When the data of `count` reads that go at once arrive, in flits, over a link without a flight.
std::vector<double> arrivals_of_reads(FlitMode mode, int count) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  const FlitLinkOf of{.mode = mode, .credits = ClassCredits(100)};
  FlitLink link(kernel, a, b, of);
  Messages messages;
  for (int i = 0; i < count; ++i) link.a_to_b.send(messages.make(Opcode::kMemData), 0_ps);
  kernel.run(Time::max(), kAllEvents);
  std::vector<double> flits;
  for (const auto& arrival : b.arrivals) flits.push_back(arrival.time.ns() / of.flit().ns());
  return flits;
}

TEST(FlitTransmitter, DataOverTwoFlitsAreThereWithTheSecond) {
  // 68B: two headers, three chunks | four | one: the first line ends in the second flit, the other in the
  // third.
  EXPECT_EQ(arrivals_of_reads(FlitMode::k68B, 2), (std::vector<double>{2, 3}));
  // 256B: two headers and eight chunks, a slot of headers, five chunks: the fourth line ends in the next
  // flit.
  EXPECT_EQ(arrivals_of_reads(FlitMode::k256B, 4), (std::vector<double>{1, 1, 1, 2}));
}

TEST(FlitTransmitter, AHalfFlitIsUsedWhenItIsIn) {
  // Headers in slot 0; the first line in slots 1 to 4, the second in 5, 6, 7 and 9: of the second half.
  EXPECT_EQ(arrivals_of_reads(FlitMode::k256BLo, 2), (std::vector<double>{0.5, 1}));
}

TEST_P(EveryFormat, SlotsByKindSumToAllSlots) {
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  FlitLink link(kernel, a, b, {.mode = GetParam(), .delay = 20_ns});
  link.open(0_ps);
  Messages messages;
  std::array<std::uint64_t, kChannelCount> sent{};
  for (int i = 0; i < 500; ++i) {
    const Opcode opcode =
        std::array{Opcode::kMemRd, Opcode::kMemWr, Opcode::kCmp}[static_cast<unsigned>(i) % 3];
    Message& message = messages.make(opcode, i % 9 == 1 ? 40 : 64);  // some with byte enables
    link.a_to_b.send(message, Time{i * i});
    ++sent[static_cast<std::size_t>(message.channel)];
  }
  kernel.run(Time::max(), kAllEvents);
  link.close(kernel.now());
  const FlitTotals totals = link.a_to_b.flits()->totals();
  const std::uint64_t flits = std::accumulate(totals.flits.begin(), totals.flits.end(), std::uint64_t{0});
  const FlitGeometry& shape = geometry(GetParam());
  EXPECT_EQ(std::accumulate(totals.slots.begin(), totals.slots.end(), std::uint64_t{0}), flits * shape.slots);
  EXPECT_EQ(std::accumulate(totals.fill.begin(), totals.fill.end(), std::uint64_t{0}), flits);
  EXPECT_EQ(link.a_to_b.monitor().closed_totals().bytes, flits * shape.bytes);
  EXPECT_EQ(link.a_to_b.monitor().closed_totals().busy,
            Time{static_cast<std::int64_t>(flits * shape.bytes) * 10});
  EXPECT_EQ(totals.messages, sent);
  const auto slots = [&](SlotKind kind) { return totals.slots[static_cast<std::size_t>(kind)]; };
  EXPECT_EQ(slots(SlotKind::kData), sent[static_cast<std::size_t>(Channel::kM2SRwD)] * 4);
  EXPECT_GT(slots(SlotKind::kTrailer), 0U);
  // Each class has its share of the header slots, and its data.
  const double of_classes = std::accumulate(totals.slots_of_class.begin(), totals.slots_of_class.end(), 0.0);
  EXPECT_NEAR(
      of_classes,
      static_cast<double>(slots(SlotKind::kHeader) + slots(SlotKind::kData) + slots(SlotKind::kTrailer)),
      1e-6);
  EXPECT_EQ(link.a_to_b.monitor().queue().maximum() > 0, true);
}

TEST(Phy, SyncHeadersTakeTwoBitsOf130UpTo32GigatransfersUnlessBypassed) {
  constexpr std::uint64_t kBytes = 1'280'000;
  const auto picoseconds = [](const Rate& rate) { return RateMeter(rate).advance(kBytes).ps(); };
  for (unsigned generation = 3; generation <= 7; ++generation) {
    const Phy phy{generation, 16};
    // 16 lanes take half a nanosecond for as many bytes as one has gigatransfers.
    const auto bypassed = static_cast<std::int64_t>(kBytes * 500 / phy.gigatransfers());
    EXPECT_EQ(picoseconds(phy.rate(true)), bypassed);
    EXPECT_EQ(picoseconds(phy.rate()), generation <= 5 ? bypassed / 128 * 130 : bypassed);
  }
}

TEST(FlitTransmitter, AMillionFlitsDoNotDrift) {
  // x16 at 32 GT/s: 68 B take 1079.1015625 ps. Messages of 1023 lines fill flits without costing much.
  Kernel kernel;
  Probe a(kernel, "a");
  Probe b(kernel, "b");
  const Rate rate = Phy{5, 16}.rate();
  FlitLink link(kernel, a, b, {.mode = FlitMode::k68B, .rate = rate, .delay = 100_ns});
  link.open(0_ps);
  Messages messages;
  for (int i = 0; i < 800; ++i) link.a_to_b.send(messages.make(Opcode::kMemWr, 1023 * 64), 0_ps);
  kernel.run(Time::max(), kAllEvents);
  link.close(kernel.now());
  const FlitTotals totals = link.a_to_b.flits()->totals();
  const std::uint64_t flits = std::accumulate(totals.flits.begin(), totals.flits.end(), std::uint64_t{0});
  EXPECT_GT(flits, 1'000'000U);
  const auto exact = static_cast<std::int64_t>(static_cast<long double>(flits) * 1079.1015625L);
  EXPECT_EQ(b.arrivals.back().time, Time{exact} + 100_ns);
}

}  // namespace
}  // namespace cxloom
