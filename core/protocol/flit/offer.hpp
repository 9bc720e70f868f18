// The offer to a packer for its next flit.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "protocol/flit/flit.hpp"
#include "protocol/flit/slot_tables.hpp"

namespace cxloom {

/// The load that may go into the next flit: how many messages of each class, and the data
/// of each. It may be kept from flit to flit and brought up to date where queues change.
class Offer {
 public:
  /// More of a class than this may wait, but no flit takes more: twice the largest count of 128 B.
  static constexpr unsigned kMost = 12;
  /// The largest count for a class with data: the messages whose data are described.
  static constexpr unsigned kMostWithData = 8;

  void set(Channel channel, std::size_t count) {
    counts_ = (counts_ & ~nibble_of(channel, 15)) | nibble_of(channel, std::min<std::size_t>(count, kMost));
  }
  /// The data of the k-th message of a class, k < kMostWithData; 64 B without a trailer unless said
  /// otherwise. Stays until said anew.
  void set_data(Channel channel, std::size_t k, DataShape shape) {
    std::uint32_t& all = shapes_[static_cast<std::size_t>(channel)];
    const unsigned shift = static_cast<unsigned>(k) * 4;
    all = (all & ~(15U << shift)) | ((shape.chunks | (shape.trailer ? kTrailer : 0U)) << shift);
  }

  bool empty() const { return counts_ == 0; }
  /// One message, of whatever class.
  bool single() const { return (counts_ & (counts_ - 1)) == 0 && (counts_ & kOnes) != 0; }
  unsigned count(Channel channel) const { return nibble_at(counts_, channel); }
  /// The counts of all classes.
  ClassNibbles counts() const { return counts_; }
  DataShape data(Channel channel, std::size_t k) const { return decode(shapes(channel) >> (k * 4)); }
  /// How many described messages of a class from the k-th on bring 64 B without a trailer.
  unsigned whole_lines(Channel channel, std::size_t k) const {
    const std::uint64_t others = (shapes(channel) ^ kWholeLines) | std::uint64_t{1} << 32;
    return static_cast<unsigned>(std::countr_zero(others >> (k * 4))) / 4;
  }
  bool first_is_whole_line(Channel channel) const { return (shapes(channel) & 15U) == (kWholeLines & 15U); }

 private:
  static constexpr std::uint32_t kTrailer = 8;
  static constexpr std::uint32_t kWholeLines = 0x44444444;

  static DataShape decode(std::uint32_t code) {
    return {static_cast<std::uint8_t>(code & 7U), (code & kTrailer) != 0};
  }
  std::uint32_t shapes(Channel channel) const { return shapes_[static_cast<std::size_t>(channel)]; }

  ClassNibbles counts_ = 0;
  // Four bits per message: chunks, and whether a trailer follows.
  std::array<std::uint32_t, kChannelCount> shapes_{
      kWholeLines, kWholeLines, kWholeLines, kWholeLines, kWholeLines, kWholeLines, kWholeLines,
      kWholeLines, kWholeLines, kWholeLines, kWholeLines, kWholeLines, kWholeLines};
};

}  // namespace cxloom
