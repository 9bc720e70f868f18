// The flits of a message that goes alone, in all formats.
#include "protocol/lone_flits.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

constexpr FlitMode kModes[] = {FlitMode::k68B, FlitMode::k256B, FlitMode::k256BLo, FlitMode::k256BPbr};

TEST(LoneFlits, AMessageTakesItsHeaderAndItsData) {
  for (const FlitMode mode : kModes) {
    for (std::size_t i = 0; i < kChannelCount; ++i) {
      const auto channel = static_cast<Channel>(i);
      SCOPED_TRACE(std::string(kFlitModeNames[static_cast<std::size_t>(mode)]) + " " +
                   std::string(kChannelNames[i]));
      const LoneFlits& lone = lone_flits(mode, true)[i];
      if (largest_count(mode, channel) == 0) {
        EXPECT_EQ(lone.count, 0);
        continue;
      }
      const bool data = is_data_class(channel);
      // A line and its header are five slots, of which a flit of 68 B has four.
      ASSERT_EQ(lone.count, mode == FlitMode::k68B && data ? 2 : 1);
      EXPECT_EQ(lone.slots, data ? 5 : 1);
      EXPECT_EQ(lone.flit[0].message_count, 1);
      EXPECT_EQ(lone.flit[0].message[0].channel, channel);
      EXPECT_EQ(lone.end_slot, !data ? 0 : lone.count == 2 ? 1 : 4);
      for (unsigned k = 0; k < lone.count; ++k) {
        EXPECT_EQ(lone.flit[k].kind, FlitKind::kProtocol);
        EXPECT_EQ(lone.flit[k].slots, geometry(mode).slots);
      }
    }
  }
}

TEST(LoneFlits, AFreshPackerGivesThemAgain) {
  // After other traffic too, once the packer is fresh.
  for (const FlitMode mode : kModes) {
    FlitPacker packer({.mode = mode});
    Offer offer;
    Flit flit;
    for (const Channel channel : {Channel::kM2SReq, Channel::kS2MDRS, Channel::kM2SRwD, Channel::kS2MNDR}) {
      offer.set(Channel::kM2SReq, 12);
      offer.set(Channel::kS2MDRS, 7);
      packer.pack(offer, flit);
      EXPECT_FALSE(packer.fresh());
      offer = {};
      while (!packer.fresh()) {
        if (packer.data_waiting() == 0) offer.set(channel, 1);  // so that the rolling counts move on
        packer.pack(offer, flit);
        offer = {};
      }
      offer.set(channel, 1);
      const LoneFlits& lone = lone_flits(mode, true)[static_cast<std::size_t>(channel)];
      for (unsigned k = 0; k < lone.count; ++k) {
        packer.pack(offer, flit);
        offer = {};
        EXPECT_EQ(flit.slots_of, lone.flit[k].slots_of);
        EXPECT_EQ(flit.message_count, lone.flit[k].message_count);
        EXPECT_EQ(flit.end_count, lone.flit[k].end_count);
      }
      EXPECT_TRUE(packer.fresh());
    }
  }
}

}  // namespace
}  // namespace cxloom
