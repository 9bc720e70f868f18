// MRDIMMs: two ranks of a sub-channel at once, in one direction, and the delay of a module's buffers.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "core/support/dram_bench.hpp"
#include "memory/dram/device/clock.hpp"
#include "memory/dram/device/mapping.hpp"

namespace cxloom {
namespace {

using test::DramAccess;
using test::DramBench;
using test::DramPattern;
using test::DramRun;

/// Lines in sequence in every second line of the addresses, from `first` on: one pseudo channel of an MRDIMM
/// with one sub-channel's worth of bits below, or one sub-channel of DDR5.
std::function<DramAccess()> every_other(std::uint64_t first, std::uint64_t apart, bool write,
                                        std::uint32_t requester) {
  return [=, i = std::uint64_t{0}]() mutable {
    const std::uint64_t line = i++;
    // `apart` lines of two of these streams stand beside each other: two sub-channels.
    const std::uint64_t address = line / apart * 2 * apart + first * apart + line % apart;
    return DramAccess{address * 64 % (1ULL << 30U), write, 64, NodeId{requester}};
  };
}

TEST(DramMultiplexed, PseudoChannelsAreTheLowestBitOfTheRank) {
  const DramConfig config = resolve(DramBench::preset("MRDIMM-8800"), {});
  EXPECT_EQ(config.device.organisation.ranks, 2U);
  EXPECT_EQ(config.sub_channels, 2U);
  EXPECT_EQ(config.capacity(), 32ULL << 30U);  // two ranks of eight chips of 16 Gb
  const DramMapping mapping(config.mapping, config.device.organisation, config.sub_channels, config.hash);
  EXPECT_EQ(mapping.place(0).rank, 0U);
  EXPECT_EQ(mapping.place(1).channel, 1U);  // the next line: the other sub-channel
  EXPECT_EQ(mapping.place(2).rank, 1U);     // and the other pseudo channel
  DramParams more = DramBench::preset("MRDIMM-8800");
  more.ranks = 2;
  EXPECT_EQ(resolve(more, {}).device.organisation.ranks, 4U);
}

// One stream writes what lies in one pseudo channel, one reads what lies in the other: each alone gets what
// its pseudo channel carries, and together they get no more than one, since both have one direction. Two
// sub-channels of the same chips get twice that.
TEST(DramMultiplexed, BothReadOrBothWrite) {
  const auto measured = [](const char* preset, std::uint64_t apart) {
    DramBench bench(DramBench::preset(preset));
    return bench.hosts({every_other(0, apart, false, 0), every_other(1, apart, true, 1)}, 40'000, 512)
        .gb_per_s;
  };
  constexpr double kPseudoChannels = 2 * 17.6;  // of two sub-channels, one pseudo channel each
  const double mixed = measured("MRDIMM-8800", 2);
  EXPECT_LT(mixed, kPseudoChannels);
  EXPECT_GT(mixed, 0.8 * kPseudoChannels);
  const double apart = measured("DDR5-4400", 1);  // each of its two sub-channels has a direction of its own
  EXPECT_GT(apart, 0.9 * kPseudoChannels);
}

// Two streams of reads, or of writes, go on side by side.
TEST(DramMultiplexed, ReadsOfBothGoOnSideBySide) {
  for (const bool write : {false, true}) {
    DramBench bench(DramBench::preset("MRDIMM-8800"));
    const DramRun run = bench.hosts({every_other(0, 2, write, 0), every_other(1, 2, write, 1)}, 40'000, 512);
    EXPECT_GT(run.gb_per_s, (write ? 0.75 : 0.9) * 70.4) << write;
  }
}

// A read waits for the buffers, at any load; what a stream of reads carries stays the same, and turns from
// reads to writes take longer.
TEST(DramMultiplexed, BuffersDelayReads) {
  const auto with = [](std::int64_t ps) {
    DramParams params = DramBench::preset("MRDIMM-8800");
    params.buffer_delay = Time{ps};
    params.refresh.kind = "off";
    return params;
  };
  const DramConfig without = resolve(with(0), {});
  const DramConfig delayed = resolve(with(3'000), {});
  const Clock clocks = DramClock(delayed.device.clock).edge_at(Time{3'000});
  EXPECT_EQ(clocks, 14);  // 13.2, at 4400 MHz
  EXPECT_EQ(delayed.device.timing.CL, without.device.timing.CL + clocks);
  EXPECT_EQ(delayed.device.timing.tRTW, without.device.timing.tRTW + clocks);
  const auto idle = [&](std::int64_t ps) {
    DramBench bench(with(ps));
    bench.access({0, false}, Time{});
    bench.run();
    return bench.latency(0).ns();
  };
  EXPECT_NEAR(idle(3'000) - idle(0), 14 / 4.4, 0.002);
  const auto carried = [&](std::int64_t ps, const char* pattern) {
    DramBench bench(with(ps));
    return bench.closed_loop(DramPattern(pattern, 1ULL << 30U), 30'000, 512).gb_per_s;
  };
  EXPECT_NEAR(carried(3'000, "seq_r") / carried(0, "seq_r"), 1.0, 0.005);
  EXPECT_LT(carried(20'000, "rand_mix21"), carried(0, "rand_mix21"));
}

}  // namespace
}  // namespace cxloom
