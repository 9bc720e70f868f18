// What saturated links must reach, from the packing rules alone: docs/model/flit.md derives each figure.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/protocol/flit/legal_flits.hpp"
#include "core/protocol/flit/traffic.hpp"
#include "protocol/flit/packer.hpp"

namespace cxloom {
namespace {

using test::FlitTraffic;
using test::LegalFlits;
using enum Channel;

constexpr double kTolerance = 0.005;

/// Messages a flit of one class that never runs dry.
double saturated(const FlitPacking& packing, Channel channel, DataShape data = {}) {
  FlitTraffic traffic(packing);
  constexpr unsigned kWarmup = 200;
  constexpr unsigned kFlits = 9360;  // a multiple of the patterns' periods, 2 to 13 flits
  std::uint64_t messages = 0;
  for (unsigned i = 0; i < kWarmup + kFlits; ++i) {
    while (traffic.waiting(channel) < Offer::kMost) traffic.add(channel, data);
    const Flit& flit = traffic.step();
    if (i >= kWarmup) messages += flit.message_count;
  }
  return static_cast<double>(messages) / kFlits;
}

/// 10^9 B/s of 64 B lines over x16: 68B flits at 32 GT/s with 128b/130b, 256B flits at 64 GT/s, which contain
/// their code.
double gigabytes(FlitMode mode, double lines_a_flit) {
  const double wire = mode == FlitMode::k68B ? 64.0 * 128 / 130 : 128.0;
  return lines_a_flit * 64 / geometry(mode).bytes * wire;
}

TEST(FlitBounds, SaturatedReadsAndWrites) {
  struct Bound {
    FlitPacking packing;
    Channel channel;
    double lines;      // a flit
    double bandwidth;  // x16
  };
  const FlitPacking cut{.mode = FlitMode::k256BLo, .zero_extended = false};
  const FlitPacking pbr_cut{.mode = FlitMode::k256BPbr, .zero_extended = false};
  const std::vector<Bound> bounds{
      {{.mode = FlitMode::k68B}, kS2MDRS, 4 / 4.5, 52.7},     // 4.5 slots per read
      {{.mode = FlitMode::k68B}, kM2SRwD, 4 / 5.0, 47.4},     // 5 slots per write
      {{.mode = FlitMode::k256B}, kS2MDRS, 27.0 / 8, 108.0},  // 44/13 = 108.3 by slots alone
      {{.mode = FlitMode::k256B}, kM2SRwD, 3, 96.0},
      {{.mode = FlitMode::k256BLo}, kS2MDRS, 13 / 4.0, 104.0},
      {{.mode = FlitMode::k256BLo}, kM2SRwD, 3, 96.0},
      {cut, kM2SRwD, 14 / 5.0, 89.6},
      {{.mode = FlitMode::k256BPbr}, kS2MDRS, 13 / 4.0, 104.0},
      {{.mode = FlitMode::k256BPbr}, kM2SRwD, 3, 96.0},
      {pbr_cut, kM2SRwD, 14 / 5.0, 89.6},
  };
  for (const Bound& bound : bounds) {
    const double lines = saturated(bound.packing, bound.channel);
    const auto name = kFlitModeNames[static_cast<std::size_t>(bound.packing.mode)];
    EXPECT_NEAR(lines, bound.lines, 1e-3 * bound.lines) << name;
    EXPECT_NEAR(gigabytes(bound.packing.mode, lines), bound.bandwidth, kTolerance * bound.bandwidth) << name;
  }
  EXPECT_NEAR(saturated({.mode = FlitMode::k256B}, kS2MDRS), 44.0 / 13, kTolerance * 44 / 13);
}

TEST(FlitBounds, RequestsAndResponsesWithoutDataReachTheLargestCounts) {
  for (const FlitMode mode : {FlitMode::k68B, FlitMode::k256B, FlitMode::k256BLo, FlitMode::k256BPbr}) {
    const unsigned groups = mode == FlitMode::k68B ? 1 : 2;  // of 68 B, of 128 B
    for (const Channel channel : {kM2SReq, kS2MNDR, kH2DReq, kD2HReq, kD2HRsp}) {
      EXPECT_DOUBLE_EQ(saturated({.mode = mode}, channel), groups * largest_count(mode, channel))
          << kChannelNames[static_cast<std::size_t>(channel)];
    }
  }
}

TEST(FlitBounds, ByteEnablesCostASlotAWrite) {
  // 256B: five slots of data and trailer a write, and one for its header but for the H-slot's: 5 w + (w - 1)
  // = 14.
  EXPECT_NEAR(saturated({.mode = FlitMode::k256B}, kM2SRwD, {.chunks = 4, .trailer = true}), 15.0 / 6,
              0.0025);
  // 68B: six slots per write.
  EXPECT_NEAR(saturated({.mode = FlitMode::k68B}, kM2SRwD, {.chunks = 4, .trailer = true}), 4.0 / 6, 0.001);
}

TEST(FlitBounds, HalfTransfersCostAHeaderEach) {
  // One data header per flit; two of the three other slots have its data.
  EXPECT_DOUBLE_EQ(saturated({.mode = FlitMode::k68B}, kS2MDRS, {.chunks = 2}), 1.0);
}

TEST(FlitBounds, IntegrityChecksCostASlotAnAggregation) {
  // 68B: writes need every slot, and a MAC is one in 20.
  EXPECT_NEAR(saturated({.mode = FlitMode::k68B, .mac_every = 5}, kM2SRwD), 0.8 * 19 / 20, 0.8 * kTolerance);
  // 256B: a MAC is in an H-slot, in which a write's header would have gone: 5 w = 2 * 15 - 1 in two flits.
  EXPECT_NEAR(saturated({.mode = FlitMode::k256B, .mac_every = 2}, kM2SRwD), 2.9, 2.9 * kTolerance);
}

/// The classes of one direction for reads and writes of memory.
struct Direction {
  Channel read;
  Channel write;
};
constexpr Direction kToMemory{kM2SReq, kM2SRwD};
constexpr Direction kFromMemory{kS2MDRS, kS2MNDR};

const std::vector<FlitPacking> kPackings{{.mode = FlitMode::k68B},
                                         {.mode = FlitMode::k256B},
                                         {.mode = FlitMode::k256BLo},
                                         {.mode = FlitMode::k256BPbr},
                                         {.mode = FlitMode::k256BLo, .zero_extended = false},
                                         {.mode = FlitMode::k256BPbr, .zero_extended = false}};

std::string name_of(const FlitPacking& packing) {
  return std::string(kFlitModeNames[static_cast<std::size_t>(packing.mode)]) +
         (packing.zero_extended ? "" : " without zero-extended headers");
}

TEST(LegalFlits, TheBestMixesKeepTheRulesOfTheReader) {
  for (const FlitPacking& packing : kPackings) {
    for (const auto& [read, write] : {kToMemory, kFromMemory}) {
      const LegalFlits legal(packing, read, write);
      for (const LegalFlits::Mix& mix : legal.corners()) {
        FlitReader reader(packing.mode);
        std::array<unsigned, 2> headers{};
        const std::size_t lead = mix.pattern.size() - 2 * std::size_t{mix.flits};
        for (std::size_t i = 0; i < mix.pattern.size(); ++i) {
          const Flit& flit = mix.pattern[i];
          ASSERT_NO_THROW(reader.read(flit)) << name_of(packing);
          for (unsigned k = 0; i >= lead && k < flit.message_count; ++k)
            ++headers[flit.message[k].channel == write];
        }
        for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(headers[k], 2 * mix.messages[k]) << name_of(packing);
      }
    }
  }
}

TEST(LegalFlits, TheBestMixesAreTheClosedForms) {
  // docs/model/flit.md: what decides between the corners.
  const auto from_memory = [](FlitMode mode, double share) {
    return LegalFlits({.mode = mode}, kS2MDRS, kS2MNDR).bound(share);
  };
  const auto to_memory = [](FlitMode mode, double share) {
    return LegalFlits({.mode = mode}, kM2SReq, kM2SRwD).bound(share);
  };
  for (const double share : {0.5, 0.56, 31.0 / 54, 0.59, 0.6, 0.67, 0.75, 13.0 / 16, 5.0 / 6, 0.9, 1.0}) {
    EXPECT_NEAR(from_memory(FlitMode::k68B, share), std::min(14 / (13 * share + 2), 16 / (17 * share + 1)),
                1e-9);
    EXPECT_NEAR(from_memory(FlitMode::k256B, share), std::min(44 / (12 * share + 1), 54 / (15 * share + 1)),
                1e-9);
    EXPECT_NEAR(from_memory(FlitMode::k256BLo, share), std::min(43 / (12 * share + 1), 13 / (4 * share)),
                1e-9);
    EXPECT_NEAR(from_memory(FlitMode::k256BPbr, share), std::min(30 / (8 * share + 1), 13 / (4 * share)),
                1e-9);
  }
  for (const double share : {0.0, 0.3, 0.5, 0.75}) {
    EXPECT_NEAR(to_memory(FlitMode::k68B, share), 4 / (5 - 4 * share), 1e-9);
    for (const FlitMode mode : {FlitMode::k256B, FlitMode::k256BLo, FlitMode::k256BPbr})
      EXPECT_NEAR(to_memory(mode, share), 15 / (5 - 4 * share), 1e-9);
  }
}

/// What was carried in a direction: accesses per flit, and the share of reads.
struct Carried {
  double accesses;
  double reads;
};

/// Accesses come with `share` of reads, spread evenly, and `depth` of them wait.
Carried mixed(const FlitPacking& packing, const Direction& classes, double share, unsigned depth,
              unsigned flits) {
  FlitTraffic traffic(packing);
  double phase = 0.5;
  std::array<std::uint64_t, 2> sent{};
  const unsigned warmup = 200 + 2 * depth;
  for (unsigned i = 0; i < warmup + flits; ++i) {
    while (traffic.waiting(classes.read) + traffic.waiting(classes.write) < depth) {
      phase += share;
      traffic.add(phase >= 1 ? classes.read : classes.write);
      if (phase >= 1) phase -= 1;
    }
    const Flit& flit = traffic.step();
    if (i < warmup) continue;
    for (unsigned k = 0; k < flit.message_count; ++k) ++sent[flit.message[k].channel == classes.write];
  }
  const auto all = static_cast<double>(sent[0] + sent[1]);
  return {all / flits, static_cast<double>(sent[0]) / all};
}

/// Both directions, each of which carries the accesses that the fuller one does.
TEST(FlitBounds, MixedReadsAndWritesReachTheBestLegalMix) {
  for (const FlitPacking& packing : kPackings) {
    const LegalFlits there(packing, kToMemory.read, kToMemory.write);
    const LegalFlits back(packing, kFromMemory.read, kFromMemory.write);
    for (const double share :
         {0.0,  0.1, 0.2,  0.3, 0.4,  0.5, 0.55, 0.5625, 25.0 / 44, 31.0 / 54, 205.0 / 356, 0.59, 0.6,
          0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.92, 0.94,   0.95,      0.96,      0.98,        1.0}) {
      const Carried to = mixed(packing, kToMemory, share, 64, 3000);
      const Carried from = mixed(packing, kFromMemory, share, 64, 3000);
      // None is better at what it carried.
      EXPECT_LE(to.accesses, there.bound(to.reads) * 1.001) << name_of(packing) << ", reads " << share;
      EXPECT_LE(from.accesses, back.bound(from.reads) * 1.001) << name_of(packing) << ", reads " << share;
      const double bound = std::min(there.bound(share), back.bound(share));
      EXPECT_GE(std::min(to.accesses, from.accesses), bound * (1 - kTolerance))
          << name_of(packing) << ", reads " << share;
    }
  }
}

TEST(FlitBounds, MixesOfX16PeakWhereBothDirectionsAreFull) {
  struct Peak {
    FlitMode mode;
    double reads;
    double bandwidth;
  };
  for (const Peak& peak :
       {Peak{FlitMode::k68B, 31.0 / 54, 87.74}, Peak{FlitMode::k256B, 205.0 / 356, 178.0},
        Peak{FlitMode::k256BLo, 25.0 / 44, 176.0}, Peak{FlitMode::k256BPbr, 9.0 / 16, 174.55}}) {
    const auto bound = [&](double reads) {
      return gigabytes(peak.mode, std::min(LegalFlits({.mode = peak.mode}, kM2SReq, kM2SRwD).bound(reads),
                                           LegalFlits({.mode = peak.mode}, kS2MDRS, kS2MNDR).bound(reads)));
    };
    EXPECT_NEAR(bound(peak.reads), peak.bandwidth, 0.01);
    EXPECT_LT(bound(peak.reads - 0.01), bound(peak.reads));
    EXPECT_LT(bound(peak.reads + 0.01), bound(peak.reads));
  }
}

TEST(FlitBounds, MoreMessagesWaitingDoNotCarryLess) {
  for (const FlitPacking& packing : kPackings) {
    const LegalFlits there(packing, kToMemory.read, kToMemory.write);
    const LegalFlits back(packing, kFromMemory.read, kFromMemory.write);
    for (const double share : {0.2, 0.4, 0.5, 0.6, 0.7, 0.85}) {
      double best = 0;
      for (const unsigned depth : {1U, 2U, 3U, 4U, 6U, 8U, 11U, 12U, 16U, 28U, 64U, 256U}) {
        // A long queue may shift the share for a while: what was carried counts by the room that its share
        // has.
        const auto carried = [&](const LegalFlits& legal, const Direction& classes) {
          const Carried got = mixed(packing, classes, share, depth, 1200);
          return got.accesses * legal.bound(share) / legal.bound(got.reads);
        };
        const double got = std::min(carried(there, kToMemory), carried(back, kFromMemory));
        EXPECT_GE(got, best * (1 - kTolerance))
            << name_of(packing) << ", reads " << share << ", waiting " << depth;
        best = std::max(best, got);
      }
    }
  }
}

TEST(FlitBounds, NoPackerDoesBetterWithOneClassOfData) {
  for (const FlitMode mode : {FlitMode::k68B, FlitMode::k256B, FlitMode::k256BLo, FlitMode::k256BPbr}) {
    for (const Channel channel : {kS2MDRS, kM2SRwD, kD2HData, kH2DData}) {
      const double best = LegalFlits({.mode = mode}, channel, kH2DReq).bound(1);
      EXPECT_NEAR(saturated({.mode = mode}, channel), best, 0.003 * best)
          << kFlitModeNames[static_cast<std::size_t>(mode)] << " "
          << kChannelNames[static_cast<std::size_t>(channel)];
    }
  }
}

}  // namespace
}  // namespace cxloom
