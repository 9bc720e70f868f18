// Back-invalidation as far as links are concerned: the order that a conflict rests on, independent progress
// of its classes, and what a snoop takes at the pins.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "core/support/back_invalidation.hpp"
#include "core/support/flit_bench.hpp"
#include "interconnect/wire/phy.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::FlitLink;
using test::FlitLinkOf;
using test::kAllEvents;
using test::Messages;
using test::SnoopedHost;
using test::SnoopingDevice;

constexpr FlitMode kModes[] = {FlitMode::k256B, FlitMode::k256BLo, FlitMode::k256BPbr};

TEST(BackInvalidation, OpcodesHaveTheirClassesAndNames) {
  const std::map<Channel, std::set<std::string_view>> expected{
      {Channel::kS2MBISnp,
       {"BISnpCur", "BISnpData", "BISnpInv", "BISnpCurBlk", "BISnpDataBlk", "BISnpInvBlk"}},
      {Channel::kM2SBIRsp, {"BIRspI", "BIRspS", "BIRspE", "BIRspIBlk", "BIRspSBlk", "BIRspEBlk"}},
      {Channel::kM2SRwD, {"MemWr", "MemAtomic", "BIConflict"}},
      {Channel::kS2MNDR, {"Cmp", "Cmp-S", "Cmp-E", "BI-ConflictAck"}},
      {Channel::kM2SReq, {"MemRd", "MemRdData", "MemInv", "MemClnEvct", "MemRdFwd"}},
      {Channel::kS2MDRS, {"MemData", "MemData-NXM"}},
      {Channel::kD2HReq,
       {"RdCurr", "RdShared", "RdAny", "RdOwn", "RdOwnNoData", "ItoMWr", "WrInv", "Atomic", "CleanEvict",
        "DirtyEvict"}},
      {Channel::kD2HRsp,
       {"RspIHitI", "RspIHitSE", "RspSHitSE", "RspVHitV", "RspIFwdM", "RspSFwdM", "RspVFwdV"}},
      {Channel::kD2HData, {"D2H-Data"}},
      {Channel::kH2DReq, {"SnpData", "SnpInv", "SnpCur"}},
      {Channel::kH2DRsp, {"GO-I", "GO-S", "GO-E", "WritePull", "GO_WritePull", "GO_WritePull_Drop"}},
      {Channel::kH2DData, {"H2D-Data"}},
      {Channel::kIo, {"MRd", "MWr", "CfgRd", "CplD"}}};
  std::map<Channel, std::set<std::string_view>> found;
  std::set<std::string_view> with_data;
  for (std::size_t i = 0; i < kOpcodeCount; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    found[channel_of(opcode)].insert(kOpcodeNames[i]);
    if (carries_data(opcode)) with_data.insert(kOpcodeNames[i]);
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(with_data, (std::set<std::string_view>{"MemWr", "MemAtomic", "MemData", "D2H-Data", "H2D-Data",
                                                   "MWr", "CplD"}));
}

/// Links with what may disturb the order of messages.
std::vector<std::pair<std::string, FlitLinkOf>> links() {
  std::vector<std::pair<std::string, FlitLinkOf>> all;
  for (const FlitMode mode : kModes) {
    const std::string name{kFlitModeNames[static_cast<std::size_t>(mode)]};
    const FlitLinkOf plain{.mode = mode, .port_delays = 5_ns};
    all.emplace_back(name + " plain", plain);
    for (const std::uint32_t credits : {1U, 4U, 30U}) {
      FlitLinkOf of = plain;
      of.credits = ClassCredits(credits);
      all.emplace_back(name + " credits " + std::to_string(credits), of);
      of.errors.every = 5;
      all.emplace_back(name + " credits and retries " + std::to_string(credits), of);
      for (const bool containment : {false, true}) {
        of.mac_every = 2;
        of.containment = containment;
        all.emplace_back(name + " all, " + (containment ? "containment " : "skid ") + std::to_string(credits),
                         of);
      }
    }
  }
  return all;
}

struct Bench {
  Kernel kernel;
  Messages messages;
  SnoopedHost host;
  SnoopingDevice device;
  FlitLink link;
  EventSource clock = kernel.new_source();

  explicit Bench(const FlitLinkOf& of, Time host_response = 3_ns)
      : host(kernel, "host", messages, host_response),
        device(kernel, "device", messages, 20_ns),
        link(kernel, host, device, of) {}
};

TEST(BackInvalidation, ABIConflictAckNeverPassesACmpToItsLine) {
  constexpr int kSteps = 5000;
  for (const auto& [name, of] : links()) {
    SCOPED_TRACE(name);
    Bench bench(of);
    RandomStream random(of.seed, "back-invalidation", name);
    int step = 0;
    test::Actor traffic([&](std::uint8_t, std::uint64_t) {
      // Few lines, so that snoops meet writes.
      const Address address{random.below(16) * kLineBytes};
      switch (random.below(4)) {
        case 0: bench.host.write(address); break;
        case 1: bench.device.snoop(address); break;
        case 2: {  // any class, either way
          const auto channel = static_cast<Channel>(random.below(kChannelCount - 1));
          random.below(2) == 0 ? bench.host.send_in(channel) : bench.device.send_in(channel);
          break;
        }
        default: {
          const Opcode packet = std::array{Opcode::kMRd, Opcode::kMWr, Opcode::kCplD}[random.below(3)];
          random.below(2) == 0 ? bench.host.send(packet) : bench.device.send(packet);
          break;
        }
      }
      if (++step == kSteps) return;
      bench.kernel.schedule(bench.kernel.now() + Time{static_cast<std::int64_t>(random.below(2000))},
                            bench.clock, traffic, 0);
    });
    bench.kernel.schedule(0_ps, bench.clock, traffic, 0);
    bench.kernel.run(Time::max(), kAllEvents);
    std::map<std::uint64_t, std::uint64_t> completed;
    std::size_t acks = 0;
    for (const auto& [time, message] : bench.host.arrivals) {
      if (message->opcode == Opcode::kCmp) ++completed[message->address.value()];
      if (message->opcode != Opcode::kBIConflictAck) continue;
      ++acks;
      ASSERT_GE(completed[message->address.value()], bench.device.behind.at(message));
    }
    // Each snoop was answered, and both kinds of conflicts happened.
    EXPECT_EQ(acks, bench.device.behind.size());
    const auto answers =
        std::count_if(bench.device.arrivals.begin(), bench.device.arrivals.end(),
                      [](const auto& each) { return each.message->opcode == Opcode::kBIRspI; });
    EXPECT_EQ(static_cast<std::uint64_t>(answers), bench.device.snoops);
    EXPECT_GT(bench.device.snoops, 30U);
    EXPECT_GT(bench.host.early_conflicts, 5U);
    EXPECT_GT(bench.host.late_conflicts, 5U);
  }
}

TEST(BackInvalidation, StalledRequestsStopNoOtherClass) {
  // The device never frees a buffer of an M2S Req, and more reads wait than it has. Snoops, their answers,
  // conflicts, writes, completions and data go on; without errors and checks, whose flits are counted, as if
  // the reads were not there.
  constexpr std::size_t kCount = 60;
  for (const auto& [name, of] : links()) {
    if (!of.credits.any()) continue;
    SCOPED_TRACE(name);
    const auto play = [&](std::size_t reads) {
      Bench bench(of);
      bench.device.hoards(Channel::kM2SReq);
      test::Actor stalled([&](std::uint8_t, std::uint64_t) {
        for (std::size_t i = 0; i < reads; ++i) bench.host.send(Opcode::kMemRd);
      });
      test::Actor others([&](std::uint8_t, std::uint64_t) {
        for (std::size_t i = 0; i < kCount; ++i) {
          const Address address{(i + 1) * kLineBytes};
          bench.device.snoop(address);
          bench.device.send(Opcode::kMemData);
          if (i % 2 == 0) bench.host.write(address);  // meets the snoop
        }
      });
      bench.kernel.schedule(0_ps, bench.clock, stalled, 0);
      bench.kernel.schedule(10_us, bench.clock, others, 0);
      bench.kernel.run(Time::max(), kAllEvents);
      const std::uint32_t buffers = *of.credits.of(Channel::kM2SReq);
      EXPECT_EQ(bench.device.count(Channel::kM2SReq), std::min<std::size_t>(reads, buffers));
      EXPECT_EQ(bench.device.count(Channel::kM2SBIRsp), kCount);
      const std::uint64_t conflicts = bench.host.early_conflicts + bench.host.late_conflicts;
      EXPECT_GT(conflicts, 0U);
      EXPECT_EQ(bench.device.count(Channel::kM2SRwD), kCount / 2 + conflicts);
      EXPECT_EQ(bench.host.count(Channel::kS2MBISnp), kCount);
      EXPECT_EQ(bench.host.count(Channel::kS2MNDR), kCount / 2 + conflicts);
      EXPECT_EQ(bench.host.count(Channel::kS2MDRS), kCount);
      std::vector<std::pair<Time, Opcode>> came;
      for (const auto* side : {&bench.host.arrivals, &bench.device.arrivals}) {
        for (const auto& [time, message] : *side) {
          if (message->channel != Channel::kM2SReq) came.emplace_back(time, message->opcode);
        }
      }
      return came;
    };
    const auto with = play(200);
    const auto without = play(0);
    if (of.errors.every == 0 && of.mac_every == 0) {
      EXPECT_TRUE(with == without);
    }
  }
}

TEST(BackInvalidation, ABlockIsOneMessage) {
  // Two per rolling 128 B, whatever they cover: four per flit.
  for (const std::uint32_t every : {0U, 1'000'000U}) {  // turns in batches, and one by one
    FlitLinkOf of{.delay = 20_ns};
    if (every > 0) of.errors.every = every;
    Bench bench(of);
    for (int i = 0; i < 8; ++i) bench.device.send(Opcode::kBISnpInvBlk, {}, 256);
    bench.kernel.run(Time::max(), kAllEvents);
    ASSERT_EQ(bench.host.arrivals.size(), 8U);
    for (std::size_t i = 0; i < 8; ++i)
      EXPECT_EQ(bench.host.arrivals[i].time, of.flit() * (i < 4 ? 1 : 2) + 20_ns) << i;
  }
}

TEST(BackInvalidation, ABIConflictTakesTheSlotsOfAWriteAndIsNoPayload) {
  const FlitLinkOf of{.delay = 20_ns};
  Bench bench(of);
  bench.link.open(0_ps);
  for (int i = 0; i < 6; ++i) bench.host.send(Opcode::kBIConflict);
  bench.kernel.run(Time::max(), kAllEvents);
  bench.link.close(bench.kernel.now());
  const FlitTotals totals = bench.link.a_to_b.flits()->totals();
  for (std::size_t i = 0; i < 6; ++i)  // three per flit, as writes
    EXPECT_EQ(bench.device.arrivals[i].time, of.flit() * (i < 3 ? 1 : 2) + 20_ns) << i;
  EXPECT_EQ(totals.slots[static_cast<std::size_t>(SlotKind::kData)], 6U * 4U);
  EXPECT_EQ(bench.link.a_to_b.monitor().closed_totals().payload, 0U);
}

TEST(BackInvalidation, AnIdleSnoopTakesNinetyNanosecondsAtThePins) {
  // The delays of the preset cxl/pins-x16-64: x16 at 64 GT/s, ports of 15 ns at both ends. From the last bit
  // of the BISnp's flit to the first bit of the BIRsp's at the host's pins: its port twice, and 60 ns of its
  // own.
  constexpr Time kPort = 15_ns;
  constexpr Time kHostResponse = 60_ns;
  const FlitLinkOf of{.mode = FlitMode::k256B, .rate = Phy{6, 16}.rate(), .port_delays = kPort * 2};
  ASSERT_EQ(of.flit(), 2_ns);
  Bench bench(of, kHostResponse);
  bench.device.snoop({});
  bench.kernel.run(Time::max(), kAllEvents);
  ASSERT_EQ(bench.device.arrivals.size(), 1U);
  ASSERT_EQ(bench.device.arrivals[0].message->opcode, Opcode::kBIRspI);
  const Time last_bit_in = of.flit() + kPort;
  const Time first_bit_out = bench.device.arrivals[0].time - kPort - of.flit();
  EXPECT_EQ(first_bit_out - last_bit_in, 90_ns);
  EXPECT_EQ(bench.device.arrivals[0].time, (of.flit() + kPort * 2) * 2 + kHostResponse);
}

}  // namespace
}  // namespace cxloom
