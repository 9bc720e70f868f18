// Which bits of an address choose channel, rank, bank group, bank, row and column.
//
// A mapping is written as fields from the top of the address down: `rochrababgco` is row, channel, rank,
// bank, bank group, column. A field may be cut into parts with a number of bits each: in `rorabacobgchco1`
// the lowest bit is one of the column, and the rest of the column lies above the bank group. `_`, `-` and
// spaces may stand between fields.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/divider.hpp"
#include "memory/dram/device/device.hpp"

namespace cxloom {

/// The hash of bank group and bank, by XOR: nothing; the lowest bits of the row, as in
/// Zhang et al., MICRO-33; the whole row, folded, so that every bit of it moves the bank.
enum class BankHash : std::uint8_t { kNone, kXor, kFold };

/// The hash of the number of the channel, by XOR: nothing, or the address bits above it, folded.
enum class ChannelHash : std::uint8_t { kNone, kFold };

/// Where a burst lies.
struct DramPlace {
  std::uint32_t channel = 0;  ///< sub-channels counted through: channel x sub-channels + sub-channel
  std::uint32_t rank = 0;
  std::uint32_t group = 0;
  std::uint32_t bank = 0;  ///< in its group
  std::uint32_t row = 0;
  std::uint32_t column = 0;  ///< in bursts
};

class DramMapping {
 public:
  /// `channels` counts sub-channels. Throws InputError unless the fields cover exactly the address bits of
  /// the organisation. Where they are no power of two, or hashed, what the address is from `ch` upwards is
  /// divided by their number: the remainder is the channel, and the quotient goes on in its place.
  DramMapping(const std::string& fields, const DramOrganisation& organisation, std::uint32_t channels,
              BankHash hash, ChannelHash channel_hash = ChannelHash::kNone);

  /// The place of the burst with this number (address / bytes of a burst).
  DramPlace place(std::uint64_t burst) const;

  /// The usual mapping: lines of 64 bytes spread over channels and bank groups, so that a stream finds many
  /// open rows.
  static std::string usual(const DramOrganisation& organisation);

 private:
  static constexpr std::array kMembers{&DramPlace::row,  &DramPlace::channel, &DramPlace::rank,
                                       &DramPlace::bank, &DramPlace::group,   &DramPlace::column};
  enum Field : std::uint8_t { kRow, kChannel, kRank, kBank, kGroup, kColumn, kFields };
  struct Part {
    unsigned shift = 0;  // of the address
    unsigned to = 0;     // of the field
    std::uint64_t mask = 0;

    std::uint32_t of(std::uint64_t burst) const {
      return static_cast<std::uint32_t>(((burst >> shift) & mask) << to);
    }
  };

  void set_hash(BankHash hash);
  std::uint64_t take_channel(std::uint64_t burst, std::uint32_t& channel) const;

  std::array<Part, kFields> lowest_;            ///< of each field, `to` its bit 0; few have more than one
  std::vector<std::pair<Field, Part>> higher_;  ///< the rest
  unsigned group_bits_ = 0;
  unsigned bank_bits_ = 0;
  bool hashed_;
  std::uint32_t divisor_ = 0;  ///< channels, if the address is divided by them; otherwise 0
  Divider by_channels_;
  unsigned channel_shift_ = 0;
  unsigned channel_hash_bits_ = 0;                        ///< of the channel, that are XORed
  std::array<std::array<std::uint8_t, 256>, 3> flips_{};  ///< of bank and bank group, by each byte of the row
};

/// The channel of a burst, and its number there.
inline std::uint64_t DramMapping::take_channel(std::uint64_t burst, std::uint32_t& channel) const {
  const std::uint64_t upper = burst >> channel_shift_;
  const std::uint64_t quotient = by_channels_(upper);
  channel = static_cast<std::uint32_t>(upper - quotient * divisor_);
  if (channel_hash_bits_ != 0) {
    std::uint64_t folded = 0;
    for (std::uint64_t bits = quotient; bits != 0; bits >>= channel_hash_bits_) folded ^= bits;
    channel ^= static_cast<std::uint32_t>(folded & ((1U << channel_hash_bits_) - 1));
  }
  return quotient << channel_shift_ | (burst & ((std::uint64_t{1} << channel_shift_) - 1));
}

inline DramPlace DramMapping::place(std::uint64_t burst) const {
  std::uint32_t channel = 0;
  if (divisor_ != 0) [[unlikely]]
    burst = take_channel(burst, channel);
  const auto lowest = [&](Field field) {
    return static_cast<std::uint32_t>(burst >> lowest_[field].shift & lowest_[field].mask);
  };
  DramPlace place{lowest(kChannel) | channel,
                  lowest(kRank),
                  lowest(kGroup),
                  lowest(kBank),
                  lowest(kRow),
                  lowest(kColumn)};
  for (const auto& [field, part] : higher_) place.*kMembers[field] |= part.of(burst);
  if (hashed_) {
    const unsigned flips =
        flips_[0][place.row & 255U] ^ flips_[1][place.row >> 8U & 255U] ^ flips_[2][place.row >> 16U & 255U];
    place.bank ^= flips & ((1U << bank_bits_) - 1);
    place.group ^= flips >> bank_bits_;
  }
  return place;
}

}  // namespace cxloom
