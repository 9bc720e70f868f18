// Single flits by the rules, and random traffic through every packer and back.
#include "protocol/flit/packer.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/protocol/flit/traffic.hpp"
#include "core/support/flit_modes.hpp"
#include "protocol/flit/credit.hpp"

namespace cxloom {
namespace {

using test::FlitTraffic;
using test::kFlitModes;
using enum Channel;

std::string kinds(const Flit& flit) {
  std::string text;
  for (std::size_t i = 0; i < flit.slots; ++i) text += "_HDTMC"[static_cast<std::size_t>(flit.slot[i].kind)];
  return text;
}

std::string format_of(const Flit& flit, std::size_t slot) {
  const SlotType type = slot == 0                                   ? SlotType::kHeader
                        : slot == geometry(flit.mode).second_header ? SlotType::kSecondHeader
                                                                    : SlotType::kGeneric;
  return std::string(slot_formats(flit.mode, type)[flit.slot[slot].format].name);
}

void add(FlitTraffic& traffic, Channel channel, unsigned count, DataShape data = {}) {
  for (unsigned i = 0; i < count; ++i) traffic.add(channel, data);
}

TEST(FlitFormat, MessagesFitTheBitsOfTheirSlots) {
  for (const FlitMode mode : kFlitModes) {
    // The bits of a slot: 68B keeps its format fields in the flit header, 256B spends 4 bits of each slot.
    const unsigned generic = mode == FlitMode::k68B ? 128 : 16 * 8 - 4;
    const unsigned header = mode == FlitMode::k68B ? 96 : 14 * 8 - 4;
    for (const auto& [type, room] : {std::pair{SlotType::kHeader, header},
                                     {SlotType::kGeneric, generic},
                                     {SlotType::kSecondHeader, 12U * 8 - 4}}) {
      for (const SlotFormat& format : slot_formats(mode, type)) {
        unsigned bits = 0;
        for (const auto& part : format.parts) bits += part.most * message_bits(mode, part.channel);
        EXPECT_EQ(bits > room, format.zero_extended) << format.name << ": " << bits << " of " << room;
      }
    }
  }
}

TEST(FlitFormat, EveryClassOfAModeHasAFormatForOneMessageInBothTypesOfSlot) {
  for (const FlitMode mode : kFlitModes) {
    for (std::size_t i = 0; i < kChannelCount; ++i) {
      const auto channel = static_cast<Channel>(i);
      EXPECT_EQ(largest_count(mode, channel) > 0, message_bits(mode, channel) > 0);
      for (const SlotType type : {SlotType::kHeader, SlotType::kGeneric}) {
        bool found = false;
        for (const SlotFormat& format : slot_formats(mode, type)) {
          for (const auto& part : format.parts)
            found |= part.channel == channel && (part.most == 1 || mode != FlitMode::k68B) && part.most > 0;
        }
        if (mode == FlitMode::k68B && !is_data_class(channel)) continue;  // several without data share a slot
        EXPECT_EQ(found, largest_count(mode, channel) > 0) << kChannelNames[i];
      }
    }
  }
}

TEST(FlitFormat, SlotsEndWhereTheirBytesDo) {
  EXPECT_EQ(geometry(FlitMode::k68B).slot_end[3], 66);   // 2 B protocol identifier, 64 B; the CRC behind
  EXPECT_EQ(geometry(FlitMode::k256B).slot_end[0], 16);  // 2 B header, 14 B
  EXPECT_EQ(geometry(FlitMode::k256B).slot_end[14], 240);
  const FlitGeometry& halves = geometry(FlitMode::k256BLo);
  EXPECT_EQ(halves.slot_end[6], 112);  // and 10 B of slot 7, and 6 B of CRC, make 128
  EXPECT_EQ(halves.half[6], 0);
  EXPECT_EQ(halves.half[7], 1);
  EXPECT_EQ(halves.slot_end[14], 256 - 6 - 6 - 2);  // CRC, FEC and credits behind
}

// docs/model/flit.md: a slot is 16 B but for the headers, of 14 B in 256B and 12 B for the second one.
TEST(FlitFormat, SlotsAreHeadersAndGenericOnes) {
  EXPECT_EQ(geometry(FlitMode::k68B).generic_slots(), 3U);
  EXPECT_EQ(geometry(FlitMode::k68B).groups(), 1U);
  EXPECT_EQ(geometry(FlitMode::k68B).slot_bytes, 64U);
  for (const FlitMode mode : {FlitMode::k256B, FlitMode::k256BPbr}) {
    EXPECT_EQ(geometry(mode).generic_slots(), 14U);
    EXPECT_EQ(geometry(mode).groups(), 4U);
    EXPECT_EQ(geometry(mode).slot_bytes, 14U + 14 * 16);
  }
  const FlitGeometry& halves = geometry(FlitMode::k256BLo);
  EXPECT_EQ(halves.generic_slots(), 13U);
  EXPECT_EQ(halves.groups(), 4U);
  EXPECT_EQ(halves.slot_bytes, 14U + 12 + 13 * 16);
  for (std::size_t slot = 0; slot < halves.slots; ++slot) {
    EXPECT_EQ(halves.is_header(slot), slot == 0 || slot == 8) << slot;
    // Split is the slot that begins before the CRC of the first half and ends behind it.
    const bool before = slot > 0 && halves.slot_end[slot - 1] < halves.half_end[0];
    EXPECT_EQ(halves.is_split(slot), before && halves.slot_end[slot] > halves.half_end[0]) << slot;
  }
}

TEST(FlitPacker, ALoneMessageGoesAtOnceInAFlitOfItsOwn) {
  for (const FlitMode mode : kFlitModes) {
    for (std::size_t i = 0; i < kChannelCount; ++i) {
      const auto channel = static_cast<Channel>(i);
      if (largest_count(mode, channel) == 0) continue;
      FlitTraffic traffic({.mode = mode});
      traffic.add(channel);
      const Flit& flit = traffic.step();
      ASSERT_EQ(flit.message_count, 1);
      EXPECT_EQ(flit.message[0].channel, channel);
      EXPECT_EQ(flit.message[0].slot, 0);
      // 68B: three chunks beside the header, the fourth in the flit behind.
      const bool continued = mode == FlitMode::k68B && is_data_class(channel);
      EXPECT_EQ(traffic.packer().must_continue(), continued);
      traffic.drain();
      EXPECT_EQ(traffic.flits(), continued ? 2U : 1U);
    }
  }
}

TEST(FlitPacker, Rollover68B) {
  // More than three chunks waiting: an all-data flit. Three fill slots 1 to 3, two 1 and 2, one 1.
  FlitTraffic traffic({.mode = FlitMode::k68B});
  add(traffic, kS2MDRS, 8);
  std::vector<std::string> flits;
  while (traffic.busy()) flits.push_back(kinds(traffic.step()));
  EXPECT_EQ(flits, (std::vector<std::string>{"HDDD", "DDDD", "HDDD", "DDDD", "HDDD", "DDDD", "HDDD", "DDDD",
                                             "DDDD"}));
  // One write a flit: one more chunk is left over each time, until there are four.
  FlitTraffic writes({.mode = FlitMode::k68B});
  add(writes, kM2SRwD, 4);
  flits.clear();
  while (writes.busy()) flits.push_back(kinds(writes.step()));
  EXPECT_EQ(flits, (std::vector<std::string>{"HDDD", "HDDD", "HDDD", "HDDD", "DDDD"}));
}

TEST(FlitPacker, FormatsThatCombineClasses68B) {
  FlitTraffic up({.mode = FlitMode::k68B});
  up.add(kD2HData, {.chunks = 2, .trailer = true});
  add(up, kD2HRsp, 2);
  up.add(kS2MNDR);
  const Flit& flit = up.step();
  EXPECT_EQ(format_of(flit, 0), "H0");
  EXPECT_EQ(flit.message_count, 4);
  EXPECT_EQ(kinds(flit), "HDDT");
  EXPECT_EQ(flit.end_count, 1);
  EXPECT_EQ(flit.end[0], 3);
}

TEST(FlitPacker, SeveralDataHeadersShareASlotOnlyForWholeLines68B) {
  FlitTraffic traffic({.mode = FlitMode::k68B});
  add(traffic, kD2HData, 4, {.chunks = 4, .trailer = true});
  EXPECT_EQ(traffic.step().message_count, 1);
  traffic.drain();
  add(traffic, kD2HData, 4);
  const Flit& flit = traffic.step();
  EXPECT_EQ(format_of(flit, 0), "H2");
  EXPECT_EQ(flit.message_count, 4);
}

TEST(FlitPacker, AnAllDataFlitCarriesNoCredits) {
  FlitTraffic traffic({.mode = FlitMode::k68B});
  add(traffic, kS2MDRS, 2);
  EXPECT_TRUE(traffic.step().carries_credits());
  EXPECT_FALSE(traffic.step().carries_credits());
}

TEST(FlitPacker, DataNeverGoIntoAHeaderSlot) {
  FlitTraffic standard({.mode = FlitMode::k256B});
  add(standard, kM2SRwD, 1);
  EXPECT_EQ(kinds(standard.step()), "HDDDD__________");
  FlitTraffic halves({.mode = FlitMode::k256BLo});
  add(halves, kS2MDRS, 2);
  EXPECT_EQ(kinds(halves.step()), "HDDDDDDD_D_____");
  // By default a write header fits the 12 B of slot 8 with its reserved bits cut off; else it waits for a
  // generic slot.
  for (const bool zero_extended : {true, false}) {
    FlitTraffic writes({.mode = FlitMode::k256BLo, .zero_extended = zero_extended});
    add(writes, kM2SRwD, 3);
    EXPECT_EQ(kinds(writes.step()), zero_extended ? "HDDDDHDDHDDDDDD" : "HDDDDHDD_DDHDDD");
  }
}

TEST(FlitPacker, ByteEnablesFollowTheirData) {
  FlitTraffic traffic({.mode = FlitMode::k256B});
  add(traffic, kM2SRwD, 2, {.chunks = 4, .trailer = true});
  const Flit& flit = traffic.step();
  EXPECT_EQ(kinds(flit), "HDDDDTHDDDDT___");
  EXPECT_EQ(flit.end[0], 5);
  EXPECT_EQ(flit.end[1], 11);
}

TEST(FlitPacker, RefusesWhatAFormatDoesNotHave) {
  Flit flit;
  for (const Channel channel : {kS2MBISnp, kM2SBIRsp, kIo}) {
    Offer offer;
    offer.set(channel, 1);
    FlitPacker packer({.mode = FlitMode::k68B});
    EXPECT_THROW(packer.pack(offer, flit), InternalError) << kChannelNames[static_cast<std::size_t>(channel)];
  }
  Offer half;
  half.set(kS2MDRS, 1);
  half.set_data(kS2MDRS, 0, {.chunks = 2});
  EXPECT_THROW(FlitPacker({.mode = FlitMode::k256B}).pack(half, flit), InternalError);
  EXPECT_NO_THROW(FlitPacker({.mode = FlitMode::k68B}).pack(half, flit));
  Offer write;
  write.set(kM2SRwD, 1);
  write.set_data(kM2SRwD, 0, {.chunks = 2});
  EXPECT_THROW(FlitPacker({.mode = FlitMode::k68B}).pack(write, flit), InternalError);
}

TEST(FlitPacker, AMacTakesASlotOfEveryAggregation) {
  for (const auto& [mode, every] :
       {std::pair{FlitMode::k68B, 5U}, {FlitMode::k256B, 2U}, {FlitMode::k256BLo, 2U}}) {
    FlitTraffic traffic({.mode = mode, .mac_every = static_cast<std::uint8_t>(every)});
    for (unsigned i = 0; i < 1000; ++i) {
      while (traffic.waiting(kM2SReq) < 12) traffic.add(kM2SReq);
      traffic.step();
    }
    // The first aggregation's is in the flit behind it.
    EXPECT_EQ(traffic.slots(SlotKind::kMac), (1000 - 1) / every);
  }
}

TEST(FlitPacker, AnIdleLinkClosesItsAggregation) {
  FlitTraffic traffic({.mode = FlitMode::k68B, .mac_every = 5});
  traffic.add(kM2SReq);
  EXPECT_EQ(kinds(traffic.step()), "H___");
  EXPECT_EQ(traffic.packer().unchecked_flits(), 1U);
  EXPECT_EQ(kinds(traffic.step()), "M___");
  EXPECT_EQ(traffic.packer().unchecked_flits(), 0U);
  EXPECT_EQ(kinds(traffic.step()), "C___");
}

TEST(FlitPacker, ResponsesAreNotStarvedByRequests) {
  for (const FlitMode mode : kFlitModes) {
    for (const Channel watched : {kS2MNDR, kS2MDRS, kH2DRsp, kD2HRsp, kM2SReq}) {
      // The others are saturated, or there is always a message of theirs, as of the class that is watched.
      for (const std::size_t others : {12U, 1U}) {
        FlitTraffic traffic({.mode = mode});
        unsigned longest = 0;
        for (unsigned round = 0; round < 200; ++round) {
          traffic.add(watched);
          for (unsigned flits = 1; traffic.waiting(watched) > 0; ++flits) {
            while (watched != kD2HReq && traffic.waiting(kD2HReq) < 12) traffic.add(kD2HReq);
            for (const Channel channel : {kM2SReq, kM2SRwD, kH2DReq, kS2MDRS, kD2HData}) {
              while (channel != watched && traffic.waiting(channel) < others) traffic.add(channel);
            }
            traffic.step();
            longest = std::max(longest, flits);
          }
        }
        // An eighth of the header slots goes by a round of seven classes; an all-data flit may come between.
        EXPECT_LE(longest, 8U * 7 * 2)
            << kFlitModeNames[static_cast<std::size_t>(mode)] << " "
            << kChannelNames[static_cast<std::size_t>(watched)] << ", others " << others;
      }
    }
  }
}

TEST(FlitPacker, SaturatedClassesShareTheSlots) {
  // A read request takes one slot and a write five, so that equal shares are five reads a write. The largest
  // counts allow fewer (two in four slots, or four in eight, of which a write's data take some): writes have
  // what is left, and no slot stays empty.
  for (const FlitMode mode : kFlitModes) {
    FlitTraffic traffic({.mode = mode});
    std::array<double, kChannelCount> sent{};
    for (unsigned i = 0; i < 4000; ++i) {
      for (const Channel channel : {kM2SReq, kM2SRwD}) {
        while (traffic.waiting(channel) < 30) traffic.add(channel);
      }
      const Flit& flit = traffic.step();
      for (std::size_t k = 0; k < flit.message_count; ++k)
        ++sent[static_cast<std::size_t>(flit.message[k].channel)];
    }
    const double share = sent[static_cast<std::size_t>(kM2SReq)] / sent[static_cast<std::size_t>(kM2SRwD)];
    EXPECT_GE(share, 1) << kFlitModeNames[static_cast<std::size_t>(mode)];
    EXPECT_LE(share, 5) << kFlitModeNames[static_cast<std::size_t>(mode)];
    EXPECT_EQ(traffic.slots(SlotKind::kEmpty), 0U) << kFlitModeNames[static_cast<std::size_t>(mode)];
  }
}

TEST(FlitCredit, ReturnsTheLargestCountThatTheFieldEncodes) {
  EXPECT_EQ(largest_credit_return(FlitMode::k68B, 0), 0U);
  EXPECT_EQ(largest_credit_return(FlitMode::k68B, 3), 2U);
  EXPECT_EQ(largest_credit_return(FlitMode::k68B, 1000), 64U);
  EXPECT_EQ(largest_credit_return(FlitMode::k256B, 3), 1U);
  EXPECT_EQ(largest_credit_return(FlitMode::k256BLo, 11), 8U);
  EXPECT_EQ(largest_credit_return(FlitMode::k256BPbr, 1000), 16U);
  EXPECT_EQ(credit_group(kS2MBISnp), CreditGroup::kRequest);
  EXPECT_EQ(credit_group(kM2SBIRsp), CreditGroup::kResponse);
  EXPECT_EQ(credit_group(kD2HData), CreditGroup::kData);
  EXPECT_THROW(credit_group(kIo), InternalError);
}

TEST(FlitReader, RefusesFlitsThatBreakARule) {
  FlitPacker packer({.mode = FlitMode::k256B});
  Offer offer;
  offer.set(kS2MDRS, 8);
  Flit good;
  packer.pack(offer, good);
  const auto reading = [&](auto&& spoil) {
    Flit flit = good;
    spoil(flit);
    FlitReader(FlitMode::k256B).read(flit);
  };
  EXPECT_NO_THROW(reading([](Flit&) {}));
  EXPECT_THROW(reading([](Flit& flit) { flit.slot[3].kind = SlotKind::kEmpty; }), InternalError);
  EXPECT_THROW(reading([](Flit& flit) { flit.slot[0].kind = SlotKind::kData; }), InternalError);
  EXPECT_THROW(reading([](Flit& flit) { --flit.end_count; }), InternalError);
  EXPECT_THROW(reading([](Flit& flit) { flit.message[0].channel = kM2SReq; }), InternalError);
  EXPECT_THROW(reading([](Flit& flit) { flit.message[1].slot = 9; }), InternalError);
  EXPECT_THROW(reading([](Flit& flit) { ++flit.count(SlotKind::kMac); }), InternalError);
  EXPECT_THROW(reading([](Flit& flit) { flit.message[0].data.trailer = true; }), InternalError);
}

class FlitFuzz : public testing::TestWithParam<FlitMode> {};

TEST_P(FlitFuzz, WhatGoesInComesOut) {
  for (std::uint64_t seed = 0; seed < 150; ++seed)
    ASSERT_NO_THROW(test::fuzz_flits(GetParam(), seed, 120)) << seed;
}

std::string test_name(const testing::TestParamInfo<FlitMode>& mode) {
  constexpr std::array kNames{"68B", "256B", "256BLo", "256BPbr"};
  return kNames[static_cast<std::size_t>(mode.param)];
}

INSTANTIATE_TEST_SUITE_P(Modes, FlitFuzz, testing::ValuesIn(kFlitModes), test_name);

}  // namespace
}  // namespace cxloom
