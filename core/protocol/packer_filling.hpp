// The packers' own: the state of one flit while it is being filled.
#pragma once

#include <bit>

#include "protocol/flit_packer.hpp"

namespace cxloom {

struct FlitPacker::Filling {
  const Offer& offer;
  Flit& flit;
  ClassNibbles left;          ///< messages of the offer that are not placed yet
  ClassNibbles group = 0;     ///< messages placed since the last step of the rolling counts (256B)
  ClassNibbles room;          ///< messages that the largest counts still allow
  bool data_headers = false;  ///< placed in this flit

  /// Messages of each class that could go into a slot (up to 7), of the classes in `allowed`.
  ClassNibbles available(ClassNibbles allowed) const { return least(at_most_7(left), room) & allowed * 15; }
  unsigned taken(Channel channel) const { return nibble_at(offer.counts_ - left, channel); }
  /// How many of the next messages of a class, of those described, bring 64 B without a trailer.
  unsigned whole_lines(Channel channel) const {
    const std::uint64_t others = (offer.shapes(channel) ^ Offer::kWholeLines) | std::uint64_t{1} << 32;
    return static_cast<unsigned>(std::countr_zero(others >> (taken(channel) * 4))) / 4;
  }
  void take(Channel channel, unsigned count) {
    const ClassNibbles nibble = nibble_of(channel, count);
    left -= nibble;
    room -= nibble;
    group += nibble;
  }
};

inline constexpr std::uint8_t kSlotsMask = 0x7;     // of a transfer under way: slots left
inline constexpr std::uint8_t kTrailerFlag = 0x80;  // and whether the last is a trailer

}  // namespace cxloom
