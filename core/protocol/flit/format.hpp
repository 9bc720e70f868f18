// The four flit formats: slot formats and largest message counts, as data; where their slots lie is in
// flit_geometry.hpp. docs/model/flit.md names the source of each number, and what was chosen where the
// sources are silent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "protocol/flit/geometry.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

/// Most classes that share a slot.
inline constexpr std::size_t kMostPartsOfSlot = 3;

/// The load of a slot of this format; any part may be left out (its valid bit is clear).
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
