// The four flit formats: geometry, slot formats and largest message counts, as data. docs/model/flit.md names
// the source of each number, and what was chosen where the sources are silent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "protocol/opcode.hpp"

namespace cxloom {

enum class FlitMode : std::uint8_t {
  k68B,     ///< 64 B of slots, a protocol identifier and a CRC; up to 32 GT/s
  k256B,    ///< the standard 256 B flit with hierarchy-based (HBR) messages
  k256BLo,  ///< latency-optimised: two halves of 128 B, each with a CRC of its own
  k256BPbr  ///< the standard 256 B flit with the larger port-based (PBR) messages
};

inline constexpr std::size_t kFlitModeCount = 4;
inline constexpr std::array<std::string_view, kFlitModeCount> kFlitModeNames{"68B", "256B", "256B-lo",
                                                                             "256B-pbr"};

/// Most slots of a flit, over the formats.
inline constexpr std::size_t kMostSlots = 15;
/// A data slot carries so many bytes: a chunk.
inline constexpr unsigned kChunkBytes = 16;

struct FlitGeometry {
  unsigned bytes = 0;       ///< on the wire
  unsigned slots = 0;       ///< slot 0 is the header slot
  unsigned slot_bytes = 0;  ///< of all slots together
  unsigned io_bytes = 0;    ///< of CXL.io packets in a flit of theirs
  /// A second header slot (the HS-slot of the latency-optimised flit), or 0.
  unsigned second_header = 0;
  /// First byte on the wire behind each slot: when it has arrived, the slot has.
  std::array<std::uint16_t, kMostSlots> slot_end{};
  /// The part of the flit (0 or 1) whose CRC covers the end of the slot: a slot is usable when its part is
  /// checked.
  std::array<std::uint8_t, kMostSlots> half{};
  /// First byte on the wire behind each half; the same twice where the flit is checked as a whole.
  std::array<std::uint16_t, 2> half_end{};

  bool is_header(std::size_t slot) const { return slot == 0 || (slot == second_header); }
};

const FlitGeometry& geometry(FlitMode mode);

/// Most classes that share a slot.
inline constexpr std::size_t kMostPartsOfSlot = 3;
/// Most messages of a slot, over the formats: four data headers and a response.
inline constexpr std::size_t kMostMessagesOfSlot = 5;

/// What a slot of this format can carry; any part may be left out (its valid bit is clear).
struct SlotFormat {
  struct Part {
    Channel channel = Channel::kIo;
    std::uint8_t most = 0;  ///< messages of this class
  };
  std::string_view name;                       ///< the specification's, "H5"
  std::array<Part, kMostPartsOfSlot> parts{};  ///< in their order in the slot
  bool zero_extended = false;  ///< the message's last bits, all reserved, are cut off and taken as zero
};

enum class SlotType : std::uint8_t { kHeader, kGeneric, kSecondHeader };

/// The slot formats of a flit format that carry messages; data, trailers, MACs and control have none.
std::span<const SlotFormat> slot_formats(FlitMode mode, SlotType type);

/// Largest count of messages of a class in a flit (68B) or in a rolling 128 B (256B); 0 where the class does
/// not exist.
unsigned largest_count(FlitMode mode, Channel channel);

/// Bits of a message's header, without data; 0 where the class does not exist.
unsigned message_bits(FlitMode mode, Channel channel);

}  // namespace cxloom
