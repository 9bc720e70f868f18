#include "memory/dram/device/mapping.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/support/errors.hpp"

namespace cxloom {
namespace {

using test::contains;
using test::input_error;

const DramOrganisation kSmall{.sub_channels = 1,
                              .width = 32,
                              .device_width = 8,
                              .ranks = 2,
                              .bank_groups = 4,
                              .banks = 2,
                              .rows = 16,
                              .columns = 64,
                              .burst_length = 16,
                              .burst_clocks = 8};

TEST(DramMapping, FieldsStandFromTheTopOfTheAddress) {
  const DramMapping mapping("rochrababgco", kSmall, 2, BankHash::kNone);
  // Column: 64 / 16 = 4 bursts, 2 bits; bank group 2, bank 1, rank 1, channel 1, row 4.
  const DramPlace place = mapping.place(0b1010'1'0'1'10'11);
  EXPECT_EQ(place.column, 0b11U);
  EXPECT_EQ(place.group, 0b10U);
  EXPECT_EQ(place.bank, 1U);
  EXPECT_EQ(place.rank, 0U);
  EXPECT_EQ(place.channel, 1U);
  EXPECT_EQ(place.row, 0b1010U);
}

TEST(DramMapping, AFieldMayBeCut) {
  const DramMapping mapping("ro-ra-ba-co-bg-ch-co1", kSmall, 2, BankHash::kNone);
  EXPECT_EQ(mapping.place(0b1).column, 0b1U);
  EXPECT_EQ(mapping.place(0b10).channel, 1U);
  EXPECT_EQ(mapping.place(0b10000).column, 0b10U);
}

TEST(DramMapping, EveryBurstHasAPlaceOfItsOwn) {
  for (const char* fields : {"rochrababgco", "corabgbachro", "rorabacobgchco1", "ro2chbarabgro2co"}) {
    for (const BankHash hash : {BankHash::kNone, BankHash::kXor, BankHash::kFold}) {
      const DramMapping mapping(fields, kSmall, 2, hash);
      std::set<std::tuple<unsigned, unsigned, unsigned, unsigned, unsigned, unsigned>> places;
      for (std::uint64_t burst = 0; burst < 2048; ++burst) {
        const DramPlace p = mapping.place(burst);
        places.insert({p.channel, p.rank, p.group, p.bank, p.row, p.column});
      }
      EXPECT_EQ(places.size(), 2048U) << fields;
    }
  }
}

// Any number of channels, wherever they stand in the address, hashed or not: each burst of each channel is
// somebody's, once.
TEST(DramMapping, AnyNumberOfChannelsIsReachedOnce) {
  constexpr std::uint32_t kOfChannel = 1024;
  for (std::uint32_t channels = 1; channels <= 24; ++channels) {
    for (const char* fields : {"rochrababgco", "rorabacobgchco1", "chrorababgco", "rorababgcoch"}) {
      for (const ChannelHash hash : {ChannelHash::kNone, ChannelHash::kFold}) {
        const DramMapping mapping(fields, kSmall, channels, BankHash::kFold, hash);
        std::vector<std::set<std::tuple<unsigned, unsigned, unsigned, unsigned, unsigned>>> places(channels);
        for (std::uint64_t burst = 0; burst < std::uint64_t{kOfChannel} * channels; ++burst) {
          const DramPlace p = mapping.place(burst);
          ASSERT_LT(p.channel, channels);
          places[p.channel].insert({p.rank, p.group, p.bank, p.row, p.column});
        }
        for (const auto& of_channel : places) ASSERT_EQ(of_channel.size(), kOfChannel) << fields << channels;
      }
    }
  }
}

// The division gives powers of two what the bits of the address give them.
TEST(DramMapping, AnOddNumberOfChannelsTakesTurns) {
  const DramMapping twelve("rorabacobgchco1", kSmall, 12, BankHash::kNone);
  const DramMapping one("rorabacobgchco1", kSmall, 1, BankHash::kNone);
  for (std::uint64_t line = 0; line < 512; ++line) {
    const DramPlace place = twelve.place(line * 2);
    EXPECT_EQ(place.channel, line % 12);
    EXPECT_EQ(place.row, one.place(line / 12 * 2).row);
    EXPECT_EQ(place.group, one.place(line / 12 * 2).group);
  }
}

// A plain modulo sees one residue of eight in a stride of a power of two; folded, it takes all evenly.
TEST(DramMapping, AHashSpreadsStridesOverTheChannels) {
  for (const std::uint32_t channels : {8U, 12U, 24U}) {
    std::set<unsigned> plain;
    std::set<unsigned> hashed;
    const DramMapping none("rorabacobgchco1", kSmall, channels, BankHash::kNone);
    const DramMapping fold("rorabacobgchco1", kSmall, channels, BankHash::kNone, ChannelHash::kFold);
    for (std::uint64_t i = 0; i < 1024; ++i) {
      plain.insert(none.place(i * 2 * 4096).channel);
      hashed.insert(fold.place(i * 2 * 4096).channel);
    }
    EXPECT_LE(plain.size(), channels == 8 ? 1U : 3U) << channels;
    EXPECT_EQ(hashed.size(), channels);
  }
}

TEST(DramMapping, ChannelsThatAreDividedAreNoField) {
  for (const char* fields : {"roch2rababgch1co", "rorababgco", "roch4rababgco"}) {
    const InputError error =
        input_error([&] { const DramMapping mapping(fields, kSmall, 12, BankHash::kNone); });
    EXPECT_TRUE(contains(error.what(), "'ch' stands there once")) << error.what();
  }
}

TEST(DramMapping, HashedRowsOfOneBankLieInDifferentBanks) {
  for (const BankHash hash : {BankHash::kXor, BankHash::kFold}) {
    const DramMapping mapping("rorabachbgco", kSmall, 2, hash);
    std::set<std::pair<unsigned, unsigned>> banks;
    for (std::uint64_t row = 0; row < 8; ++row) {
      const DramPlace place = mapping.place(row << 7U);
      banks.insert({place.group, place.bank});
    }
    EXPECT_EQ(banks.size(), 8U);
  }
}

// Arrays a power of two apart, as they are where memory is handed out in such pieces, with every preset. With
// the lowest bits alone all that are farther apart than so many rows meet in one bank.
TEST(DramMapping, FoldedRowsAPowerOfTwoApartLieInDifferentBanks) {
  for (const DramDevice& device : dram_presets()) {
    const DramOrganisation& o = device.organisation;
    const DramMapping mapping("robabgrachco", o, o.sub_channels, BankHash::kFold);
    const std::uint64_t of_row =
        std::uint64_t{o.sub_channels} * o.ranks * o.banks_in_rank() * o.bursts_in_row();
    const auto place = [&](std::uint64_t row) { return mapping.place(row * of_row); };
    for (std::uint64_t apart = 1; apart * o.banks_in_rank() <= o.rows; apart *= 2) {
      EXPECT_EQ(place(apart).row, apart) << device.name;
      for (std::uint64_t row = 0; row < 2 * apart && row < 40;
           ++row)  // in the bank itself, not only in the group
        EXPECT_NE(place(row & ~apart).bank, place(row | apart).bank) << device.name;
      std::set<std::pair<unsigned, unsigned>> banks;
      for (std::uint64_t row = 0; row < o.banks_in_rank(); ++row)
        banks.insert({place(row * apart).group, place(row * apart).bank});
      EXPECT_EQ(banks.size(), o.banks_in_rank()) << device.name << ", " << apart << " rows apart";
    }
  }
}

TEST(DramMapping, WithOneBankInAGroupTheGroupsAreHashed) {
  DramOrganisation one = kSmall;
  one.banks = 1;
  const DramMapping mapping("rorabachbgco", one, 2, BankHash::kFold);
  EXPECT_EQ(mapping.place(3U << 6U).group, 3U);
  EXPECT_EQ(mapping.place(3U << 6U).bank, 0U);
}

TEST(DramMapping, RefusesWhatDoesNotCoverTheAddress) {
  const auto refused = [](const std::string& fields) {
    return input_error([&] { DramMapping(fields, kSmall, 2, BankHash::kNone); });
  };
  EXPECT_TRUE(contains(refused("rochrabaco").what(), "gives 0 bits to 'bg', which has 2"));
  EXPECT_TRUE(contains(refused("rochrababgco1").what(), "gives 1 bit to 'co', which has 2"));
  EXPECT_TRUE(contains(refused("rochrababgco3").what(), "gives 3 bits to 'co'"));
  EXPECT_TRUE(contains(refused("rochrababgcoco").what(), "twice"));
  EXPECT_TRUE(contains(refused("rochxxbabgco").what(), "no field of an address: 'xx'"));
  EXPECT_TRUE(contains(refused("").what(), "gives 0 bits"));
  EXPECT_EQ(refused("").path(), "mapping");
}

}  // namespace
}  // namespace cxloom
