#include "memory/dram/device/mapping.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <optional>
#include <ranges>
#include <string_view>

#include "base/error.hpp"

namespace cxloom {

namespace {

constexpr std::array<std::string_view, 6> kBitNames{"ro", "ch", "ra", "ba", "bg", "co"};
constexpr std::string_view kAllowed =
    "fields from the top of the address: ro (row), ch (channel), ra (rank), ba (bank), bg (bank group), co "
    "(column), each once, or in parts with a number of bits such as co3";

unsigned bits_of(std::uint32_t count) { return static_cast<unsigned>(std::bit_width(count - 1)); }

struct Written {
  std::size_t field;
  std::optional<unsigned> bits;  // none: the rest of the field
};

InputError wrong(const std::string& problem, const std::string& text) {
  return InputError({problem, "'" + text + "'", std::string(kAllowed), {}}, "mapping");
}

std::vector<Written> parse(const std::string& text) {
  std::vector<Written> written;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '_' || text[at] == '-' || text[at] == ' ') {
      ++at;
      continue;
    }
    const auto name = std::find(kBitNames.begin(), kBitNames.end(), std::string_view(text).substr(at, 2));
    if (name == kBitNames.end()) throw wrong("no field of an address: '" + text.substr(at, 2) + "'", text);
    Written& part =
        written.emplace_back(Written{static_cast<std::size_t>(name - kBitNames.begin()), std::nullopt});
    for (at += 2; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0; ++at) {
      part.bits = std::min(part.bits.value_or(0) * 10 + static_cast<unsigned>(text[at] - '0'), 64U);
    }
  }
  return written;
}

}  // namespace

DramMapping::DramMapping(const std::string& fields, const DramOrganisation& organisation,
                         std::uint32_t channels, BankHash hash, ChannelHash channel_hash)
    : group_bits_(bits_of(organisation.bank_groups)),
      bank_bits_(bits_of(organisation.banks)),
      hashed_(hash != BankHash::kNone),
      divisor_(std::has_single_bit(channels) && channel_hash == ChannelHash::kNone ? 0 : channels),
      by_channels_(channels),
      channel_hash_bits_(
          channel_hash == ChannelHash::kNone ? 0U : static_cast<unsigned>(std::countr_zero(channels))) {
  set_hash(hash);
  const std::array<unsigned, kFields> wanted{bits_of(organisation.rows),
                                             divisor_ != 0 ? 0 : bits_of(channels),
                                             bits_of(organisation.ranks),
                                             bank_bits_,
                                             group_bits_,
                                             bits_of(organisation.bursts_in_row())};
  std::vector<Written> written = parse(fields);
  std::array<unsigned, kFields> given{};
  std::array<unsigned, kFields> rests{};
  for (const Written& part : written) {
    given[part.field] += part.bits.value_or(0);
    if (!part.bits) ++rests[part.field];
  }
  if (divisor_ != 0 && (rests[kChannel] != 1 || given[kChannel] != 0)) {
    throw wrong(std::to_string(channels) +
                    " channels (sub-channels counted) are no field of bits, as they are no power of two or "
                    "hashed: 'ch' stands there once, without a number of bits",
                fields);
  }
  for (std::size_t f = 0; f < kFields; ++f) {
    const std::string name(kBitNames[f]);
    if (rests[f] > 1)
      throw wrong("the field '" + name + "' stands there twice without a number of bits", fields);
    if (given[f] > wanted[f] || (rests[f] == 0 && given[f] != wanted[f])) {
      throw wrong("the mapping gives " + counted(given[f], "bit") + " to '" + name + "', which has " +
                      std::to_string(wanted[f]) + " in this organisation",
                  fields);
    }
  }
  // Rows may be three quarters of what their bits reach: the addresses that there are end before the last
  // quarter, if those bits are the highest.
  if (!std::has_single_bit(organisation.rows)) {
    const unsigned below = static_cast<unsigned>(std::countr_zero(organisation.rows));
    const auto bits = [&](const Written& part) {
      return part.bits.value_or(wanted[part.field] - given[part.field]);
    };
    const auto top = std::ranges::find_if(written, [&](const Written& part) { return bits(part) != 0; });
    if (top->field != kRow || bits(*top) + below < wanted[kRow]) {
      throw wrong("devices of " + std::to_string(organisation.density) +
                      "Gb have rows that are no power of two: 'ro' stands first, with " +
                      counted(wanted[kRow] - below, "bit") + " or more",
                  fields);
    }
  }
  unsigned shift = 0;
  std::array<unsigned, kFields> to{};
  for (const Written& part : std::views::reverse(written)) {
    const unsigned bits = part.bits.value_or(wanted[part.field] - given[part.field]);
    if (part.field == kChannel && divisor_ != 0) channel_shift_ = shift;
    if (bits == 0) continue;
    const Part placed{shift, to[part.field], (1ULL << bits) - 1};
    if (to[part.field] == 0) {
      lowest_[part.field] = placed;
    } else {
      higher_.emplace_back(static_cast<Field>(part.field), placed);
    }
    shift += bits;
    to[part.field] += bits;
  }
}

// Each bit of the row flips some of bank (the lower bits of a flip) and bank group. `xor`: the lowest ones a
// bit of the group each, the next a bit of the bank, the rest nothing. `fold`: the lowest a bit of the bank
// each; the next a bit of the group and one of the bank, from its lowest on; and so on with the rest. So each
// bit of the row flips one of the bank itself, whose groups a stream fills all, and as many rows as there are
// banks, a power of two apart, lie in all of them.
void DramMapping::set_hash(BankHash hash) {
  const unsigned bits = bank_bits_ + group_bits_;
  const auto flip = [&](unsigned bit) {
    if (hash == BankHash::kXor) {
      if (bit < group_bits_) return 1U << (bank_bits_ + bit);
      return bit < bits ? 1U << (bit - group_bits_) : 0U;
    }
    if (hash == BankHash::kNone || bits == 0) return 0U;
    const unsigned place = bit % bits;
    return 1U << place | (place >= bank_bits_ && bank_bits_ != 0 ? 1U << place % bank_bits_ : 0U);
  };
  for (unsigned bit = 0; bit < 8 * flips_.size(); ++bit) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      if ((byte >> bit % 8 & 1U) != 0) flips_[bit / 8][byte] ^= static_cast<std::uint8_t>(flip(bit));
    }
  }
}

std::string DramMapping::usual(const DramOrganisation& organisation) {
  const std::uint32_t bursts_in_line = organisation.bursts_in_line();
  const std::string rest = bursts_in_line > 1 ? "co" + std::to_string(bits_of(bursts_in_line)) : "";
  if (organisation.pseudo_channels == 1) return "rorabacobgch" + rest;
  return "rorabacobgra" + std::to_string(bits_of(organisation.pseudo_channels)) + "ch" + rest;
}

}  // namespace cxloom
