// The slot formats of a flit format by class: which formats carry a class, and which classes a type of slot
// carries.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "protocol/flit/format.hpp"

namespace cxloom {

/// Four bits per class: small counts, or a set of classes in their lowest bits. A packer looks at all classes
/// at once.
using ClassNibbles = std::uint64_t;

constexpr unsigned nibble_shift(Channel channel) { return static_cast<unsigned>(channel) * 4; }
constexpr ClassNibbles nibble_of(Channel channel, std::uint64_t value) {
  return value << nibble_shift(channel);
}
constexpr unsigned nibble_at(ClassNibbles all, Channel channel) { return all >> nibble_shift(channel) & 15U; }
/// The set of classes whose count is not zero.
constexpr ClassNibbles nonzero_classes(ClassNibbles all) {
  return (all | all >> 1 | all >> 2 | all >> 3) & 0x1111'1111'1111'1111;
}

inline constexpr ClassNibbles kOnes = 0x1111'1111'1111'1111;
/// The smaller count of each class; all counts below 8.
constexpr ClassNibbles least(ClassNibbles a, ClassNibbles b) {
  const ClassNibbles not_less = ((a | kOnes << 3) - b) & kOnes << 3;  // in the highest bit, where a >= b
  const ClassNibbles take_b = not_less - (not_less >> 3);
  return (b & take_b) | (a & ~take_b);
}
/// Counts above 7 taken as 7.
constexpr ClassNibbles at_most_7(ClassNibbles all) { return (all | (all >> 3 & kOnes) * 7) & kOnes * 7; }
/// The counts of all classes together, below 16.
constexpr unsigned sum_of(ClassNibbles all) { return static_cast<unsigned>(all * kOnes >> 60); }

inline constexpr ClassNibbles kDataClasses = nibble_of(Channel::kM2SRwD, 1) | nibble_of(Channel::kS2MDRS, 1) |
                                             nibble_of(Channel::kD2HData, 1) |
                                             nibble_of(Channel::kH2DData, 1);

struct SlotTables {
  /// Most formats of a type of slot that carry the same class.
  static constexpr std::size_t kMostFormats = 4;

  struct Format {
    ClassNibbles most = 0;  ///< messages of each class
    std::array<Channel, kMostPartsOfSlot> parts{};
    std::uint8_t part_count = 0;
    bool several_data = false;       ///< 68B: a slot for several data headers ...
    Channel several = Channel::kIo;  ///< ... of this class
  };
  static constexpr std::size_t kMostFormatsOfSlot = 12;

  struct ForSlot {
    std::array<Format, kMostFormatsOfSlot> formats{};  ///< in the order of slot_formats()
    ClassNibbles classes = 0;                          ///< that it carries at all
    ClassNibbles most = 0;                             ///< messages of each class in the format with most
    /// So many of a class must wait that it takes the slot before others: those without data that go by twos
    /// and more keep two back, for slots in which the largest counts leave no room for data headers.
    ClassNibbles enough = 0;
    std::array<std::array<std::uint8_t, kMostFormats>, kChannelCount> of_class{};  ///< places in `formats`
    std::array<std::uint8_t, kChannelCount> format_count{};
  };

  std::array<ForSlot, 3> slot;      ///< by SlotType
  ClassNibbles largest = 0;         ///< largest counts, of a flit (68B) or of a rolling 128 B (256B)
  ClassNibbles half_transfers = 0;  ///< the classes of data that may bring 32 B

  const ForSlot& of(SlotType type) const { return slot[static_cast<std::size_t>(type)]; }
};

/// The tables of a flit format, without the formats that cut off reserved bits unless those are allowed.
const SlotTables& slot_tables(FlitMode mode, bool zero_extended);

}  // namespace cxloom
