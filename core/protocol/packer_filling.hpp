// The packers' own: the state of one flit while it is being filled.
#pragma once

#include <bit>

#include "protocol/flit_packer.hpp"

namespace cxloom {

struct FlitPacker::Filling {
  const Offer& offer;
  Flit& flit;
  ClassNibbles left;          ///< messages of the offer that are not placed yet
  ClassNibbles room;          ///< messages that the largest counts still allow
  ClassNibbles allowed = 0;   ///< classes that may go into the slot at hand
  ClassNibbles group = 0;     ///< messages placed since the last step of the rolling counts (256B)
  bool data_headers = false;  ///< placed in this flit

  ClassNibbles ready() const { return nonzero_classes(left) & nonzero_classes(room) & allowed; }
  unsigned available(Channel channel) const {
    if ((nibble_at(allowed, channel) & 1U) == 0) return 0;
    return std::min(nibble_at(left, channel), nibble_at(room, channel));
  }
  unsigned taken(Channel channel) const { return nibble_at(offer.counts_ - left, channel); }
  /// How many of the next messages of a class bring 64 B without a trailer.
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
