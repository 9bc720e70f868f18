// The flits of a message that goes alone, in all formats.
#include "protocol/flit/isolated_flits.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "core/support/flit_modes.hpp"

namespace cxloom {
namespace {

using test::kFlitModes;

TEST(IsolatedFlits, AMessageTakesItsHeaderAndItsData) {
  for (const FlitMode mode : kFlitModes) {
    for (std::size_t i = 0; i < kChannelCount; ++i) {
      const auto channel = static_cast<Channel>(i);
      SCOPED_TRACE(std::string(kFlitModeNames[static_cast<std::size_t>(mode)]) + " " +
                   std::string(kChannelNames[i]));
      const IsolatedFlits& isolated = isolated_flits(mode, true)[i];
      if (largest_count(mode, channel) == 0) {
        EXPECT_EQ(isolated.count, 0);
        continue;
      }
      const bool data = is_data_class(channel);
      // A line and its header are five slots, of which a flit of 68 B has four.
      ASSERT_EQ(isolated.count, mode == FlitMode::k68B && data ? 2 : 1);
      EXPECT_EQ(isolated.slots, data ? 5 : 1);
      EXPECT_EQ(isolated.flit[0].message_count, 1);
      EXPECT_EQ(isolated.flit[0].message[0].channel, channel);
      EXPECT_EQ(isolated.end_slot, !data ? 0 : isolated.count == 2 ? 1 : 4);
      for (unsigned k = 0; k < isolated.count; ++k) {
        EXPECT_EQ(isolated.flit[k].kind, FlitKind::kProtocol);
        EXPECT_EQ(isolated.flit[k].slots, geometry(mode).slots);
      }
    }
  }
}

void expect_same(const Flit& a, const Flit& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.slots_of, b.slots_of);
  ASSERT_EQ(a.message_count, b.message_count);
  for (std::size_t i = 0; i < a.message_count; ++i) {
    EXPECT_EQ(a.message[i].channel, b.message[i].channel);
    EXPECT_EQ(a.message[i].slot, b.message[i].slot);
    EXPECT_EQ(a.message[i].data, b.message[i].data);
  }
  ASSERT_EQ(a.end_count, b.end_count);
  for (std::size_t i = 0; i < a.end_count; ++i) EXPECT_EQ(a.end[i], b.end[i]);
  for (std::size_t i = 0; i < a.slots; ++i) {
    EXPECT_EQ(a.slot[i].kind, b.slot[i].kind);
    EXPECT_EQ(a.slot[i].format, b.slot[i].format);
  }
}

TEST(IsolatedFlits, TheyAreWhatPackingGivesAmongOtherFlits) {
  // Packers that check integrity pack every flit. Their first MAC would come after 255 flits.
  for (const FlitMode mode : kFlitModes) {
    RandomStream random(7, kFlitModeNames[static_cast<std::size_t>(mode)], "offers");
    std::size_t isolated = 0;
    for (int round = 0; round < 200; ++round) {
      FlitPacker remembers({.mode = mode});
      FlitPacker packs({.mode = mode, .mac_every = 255});
      Offer offer;
      for (int i = 0; i < 100; ++i) {
        if (remembers.fresh()) ++isolated;
        const auto channel = std::array{Channel::kM2SReq, Channel::kM2SRwD, Channel::kS2MNDR,
                                        Channel::kS2MDRS}[random.below(4)];
        offer = {};
        if (random.below(3) != 0) offer.set(channel, random.below(4) == 0 ? random.below(12) : 1);
        if (random.below(6) == 0) offer.set(Channel::kM2SReq, 1 + random.below(9));
        if (offer.empty() && !remembers.must_continue()) continue;
        Flit one;
        Flit other;
        remembers.pack(offer, one);
        packs.pack(offer, other);
        expect_same(one, other);
        ASSERT_EQ(remembers.data_waiting(), packs.data_waiting());
      }
    }
    EXPECT_GT(isolated, 1000U);
  }
}

}  // namespace
}  // namespace cxloom
