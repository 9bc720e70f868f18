// What saturated links must reach, from the packing rules alone: docs/model/flit.md derives each figure.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "core/protocol/flit_traffic.hpp"
#include "protocol/flit_packer.hpp"

namespace cxloom {
namespace {

using test::FlitTraffic;
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
      {{.mode = FlitMode::k68B}, kS2MDRS, 4 / 4.5, 52.7},     // 4.5 slots a read
      {{.mode = FlitMode::k68B}, kM2SRwD, 4 / 5.0, 47.4},     // 5 slots a write
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
  // 68B: six slots a write.
  EXPECT_NEAR(saturated({.mode = FlitMode::k68B}, kM2SRwD, {.chunks = 4, .trailer = true}), 4.0 / 6, 0.001);
}

TEST(FlitBounds, HalfTransfersCostAHeaderEach) {
  // One data header a flit; two of the three other slots have its data.
  EXPECT_DOUBLE_EQ(saturated({.mode = FlitMode::k68B}, kS2MDRS, {.chunks = 2}), 1.0);
}

TEST(FlitBounds, IntegrityChecksCostASlotAnAggregation) {
  // 68B: writes need every slot, and a MAC is one in 20.
  EXPECT_NEAR(saturated({.mode = FlitMode::k68B, .mac_every = 5}, kM2SRwD), 0.8 * 19 / 20, 0.8 * kTolerance);
  // 256B: a MAC is in an H-slot, in which a write's header would have gone: 5 w = 2 * 15 - 1 in two flits.
  EXPECT_NEAR(saturated({.mode = FlitMode::k256B, .mac_every = 2}, kM2SRwD), 2.9, 2.9 * kTolerance);
}

/// Accesses a flit in one direction, if `share` of them (in 16ths) are reads: reads bring `read`, writes
/// `write`, and 64 of both together are waiting.
double mixed(FlitMode mode, Channel read, Channel write, unsigned share) {
  FlitTraffic traffic({.mode = mode});
  unsigned phase = 0;
  std::uint64_t messages = 0;
  constexpr unsigned kWarmup = 500;
  constexpr unsigned kFlits = 8000;
  for (unsigned i = 0; i < kWarmup + kFlits; ++i) {
    while (traffic.waiting(read) + traffic.waiting(write) < 64) {
      phase += share;
      traffic.add(phase >= 16 ? read : write);
      phase %= 16;
    }
    const Flit& flit = traffic.step();
    if (i >= kWarmup) messages += flit.message_count;
  }
  return static_cast<double>(messages) / kFlits;
}

/// The slots of a flit divided by the slots of an access, in the direction that runs out first.
double mixed_bound(FlitMode mode, double reads) {
  switch (mode) {
    case FlitMode::k68B:
      return std::min(4 / (reads + 5 * (1 - reads)), 4 / (4.5 * reads + 0.5 * (1 - reads)));
    case FlitMode::k256B: return std::min(15 / (5 - 4 * reads), 44 / (12 * reads + 1));
    case FlitMode::k256BLo:
      return std::min({15 / (5 - 4 * reads), 43 / (12 * reads + 1), 13 / (4 * reads + 1e-9)});
    case FlitMode::k256BPbr: break;
  }
  return std::min(15 / (5 - 4 * reads), 30 / (8 * reads + 1));
}

TEST(FlitBounds, MixedReadsAndWritesPeakWhereBothDirectionsAreFull) {
  // Where the two terms of the bound meet, and the bandwidth of both directions there.
  struct Peak {
    FlitMode mode;
    double reads;
    double bandwidth;
  };
  for (const Peak& peak :
       {Peak{FlitMode::k68B, 9.0 / 16, 86.3}, Peak{FlitMode::k256B, 205.0 / 356, 178.0},
        Peak{FlitMode::k256BLo, 25.0 / 44, 176.0}, Peak{FlitMode::k256BPbr, 9.0 / 16, 174.5}}) {
    EXPECT_NEAR(gigabytes(peak.mode, mixed_bound(peak.mode, peak.reads)), peak.bandwidth,
                0.001 * peak.bandwidth);
    const auto name = kFlitModeNames[static_cast<std::size_t>(peak.mode)];
    double best = 0;
    double best_reads = 0;
    for (unsigned share = 0; share <= 16; ++share) {
      const double reads = share / 16.0;
      const double got =
          std::min(mixed(peak.mode, kM2SReq, kM2SRwD, share), mixed(peak.mode, kS2MDRS, kS2MNDR, share));
      const double bound = mixed_bound(peak.mode, reads);
      // Where reads prevail, the rolling counts of read data keep 256B flits below what their slots alone
      // would allow.
      const bool rolling =
          peak.mode != FlitMode::k68B && peak.mode != FlitMode::k256BLo && reads > peak.reads - 0.02;
      const double slack = !rolling ? kTolerance : peak.mode == FlitMode::k256B ? 0.0075 : 0.029;
      EXPECT_GE(got, bound * (1 - slack)) << name << ", reads " << reads;
      EXPECT_LE(got, bound * 1.0005) << name << ", reads " << reads;
      if (got > best) best = got, best_reads = reads;
    }
    EXPECT_NEAR(best_reads, peak.reads, 1.0 / 16) << name;
  }
}

/// The best that any packer could do with one class of data in 256B flits: all ways to fill header slots and
/// generic slots by the rules, the highest mean over long runs. Data follow their headers without a gap, so
/// that the state between flits is the data under way and the headers in the last group of slots.
class BestPacking {
 public:
  BestPacking(FlitMode mode, Channel channel) : mode_(mode), limit_(largest_count(mode, channel)) {
    for (const SlotType type : {SlotType::kHeader, SlotType::kGeneric, SlotType::kSecondHeader}) {
      for (const SlotFormat& format : slot_formats(mode, type)) {
        for (const auto& part : format.parts) {
          if (part.channel == channel) most_[static_cast<std::size_t>(type)] = part.most;
        }
      }
    }
  }

  double mean() {
    std::vector<State> open{{0, 0}};
    while (!open.empty()) {
      const State state = open.back();
      open.pop_back();
      if (flits_.contains(state)) continue;
      next_ = &flits_[state];
      fill(0, state.first, state.second, 0, 0, 0);
      for (const auto& [behind, messages] : *next_) open.push_back(behind);
    }
    constexpr unsigned kFlits = 2400;
    std::map<State, unsigned> best;
    for (const auto& entry : flits_) best[entry.first] = 0;
    for (unsigned i = 0; i < kFlits; ++i) {
      std::map<State, unsigned> longer;
      for (const auto& [state, behind] : flits_) {
        for (const auto& [to, messages] : behind)
          longer[state] = std::max(longer[state], messages + best[to]);
      }
      best = std::move(longer);
    }
    return static_cast<double>(best[{0, 0}]) / kFlits;
  }

 private:
  using State = std::pair<unsigned, unsigned>;  // data slots under way, messages in slots 12 to 14

  void fill(unsigned slot, unsigned data, unsigned last, unsigned now, unsigned both, unsigned messages) {
    if (slot == 15) {
      unsigned& known = (*next_)[{data, now}];
      known = std::max(known, messages);
      return;
    }
    if (slot % 4 == 0 && slot > 0) last = now - both, now = both, both = 0;
    const bool header = geometry(mode_).is_header(slot);
    if (!header && data > 0) return fill(slot + 1, data - 1, last, now, both, messages);
    const SlotType type = slot == 0 ? SlotType::kHeader
                          : header  ? SlotType::kSecondHeader
                                    : SlotType::kGeneric;
    const unsigned room = std::min(limit_ - last - now, most_[static_cast<std::size_t>(type)]);
    for (unsigned k = 0; k <= (header && data > 16 ? 0 : room); ++k) {
      const bool counts_twice = mode_ == FlitMode::k256BLo && slot == 7;
      fill(slot + 1, data + 4 * k, last, now + k, counts_twice ? k : both, messages + k);
    }
  }

  FlitMode mode_;
  unsigned limit_;
  std::array<unsigned, 3> most_{};
  std::map<State, std::map<State, unsigned>> flits_;
  std::map<State, unsigned>* next_ = nullptr;
};

TEST(FlitBounds, NoPackerDoesBetterWithOneClassOfData) {
  for (const FlitMode mode : {FlitMode::k256B, FlitMode::k256BLo, FlitMode::k256BPbr}) {
    for (const Channel channel : {kS2MDRS, kM2SRwD, kD2HData, kH2DData}) {
      const double best = BestPacking(mode, channel).mean();
      EXPECT_NEAR(saturated({.mode = mode}, channel), best, 0.003 * best)
          << kFlitModeNames[static_cast<std::size_t>(mode)] << " "
          << kChannelNames[static_cast<std::size_t>(channel)];
    }
  }
}

}  // namespace
}  // namespace cxloom
