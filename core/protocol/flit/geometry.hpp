// The four flit formats, and where their slots lie. Every number of slots in the sources comes from here;
// docs/model/flit.md names the source of each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

/// A data slot carries so many bytes: a chunk.
inline constexpr unsigned kChunkBytes = 16;
/// Most slots of a flit in any format (256 B).
inline constexpr std::size_t kMostSlots = 15;

struct FlitGeometry {
  /// Slots that make 64 B, whose messages count together: two groups in a row of a 256 B flit share a largest
  /// count, and a flit of 68 B is one.
  static constexpr unsigned kSlotsOfGroup = 64 / kChunkBytes;

  unsigned bytes = 0;       ///< on the wire
  unsigned slots = 0;       ///< slot 0 is the header slot
  unsigned slot_bytes = 0;  ///< of all slots together
  unsigned io_bytes = 0;    ///< of CXL.io packets in a flit of theirs
  /// A second header slot (the HS-slot of the latency-optimised flit), or 0.
  unsigned second_header = 0;
  /// The slot that lies in both halves and counts in the groups of both (latency-optimised), or 0.
  unsigned split_slot = 0;
  /// First byte on the wire behind each slot: when it has arrived, the slot has.
  std::array<std::uint16_t, kMostSlots> slot_end{};
  /// The part of the flit (0 or 1) whose CRC covers the end of the slot: a slot is usable when its part is
  /// checked.
  std::array<std::uint8_t, kMostSlots> half{};
  /// First byte on the wire behind each half; one byte twice where the flit is checked as a whole.
  std::array<std::uint16_t, 2> half_end{};

  constexpr bool is_header(std::size_t slot) const { return slot == 0 || slot == second_header; }
  constexpr bool is_split(std::size_t slot) const { return slot != 0 && slot == split_slot; }
  /// Slots that may carry data.
  constexpr unsigned generic_slots() const { return slots - (second_header == 0 ? 1 : 2); }
  constexpr unsigned groups() const { return (slots + kSlotsOfGroup - 1) / kSlotsOfGroup; }
  static constexpr unsigned group_of(std::size_t slot) { return static_cast<unsigned>(slot) / kSlotsOfGroup; }
  /// The first slot from `slot` on with which a group begins.
  static constexpr unsigned group_from(unsigned slot) {
    return (slot + kSlotsOfGroup - 1) / kSlotsOfGroup * kSlotsOfGroup;
  }
};

constexpr FlitGeometry geometry_68b() {
  FlitGeometry flit{.bytes = 68, .slots = 4, .slot_bytes = 64, .io_bytes = 64};
  for (std::size_t i = 0; i < flit.slots; ++i)
    flit.slot_end[i] = static_cast<std::uint16_t>(2 + kChunkBytes * (i + 1));
  flit.half_end = {68, 68};
  return flit;
}

/// 2 B header, a 14 B H-slot, 14 G-slots, 2 B of credits, 8 B CRC, 6 B FEC.
constexpr FlitGeometry geometry_256b() {
  FlitGeometry flit{.bytes = 256, .slots = kMostSlots, .slot_bytes = 14 + 14 * kChunkBytes, .io_bytes = 236};
  for (std::size_t i = 0; i < flit.slots; ++i)
    flit.slot_end[i] = static_cast<std::uint16_t>(kChunkBytes * (i + 1));
  flit.half_end = {256, 256};
  return flit;
}

/// Two halves of 128 B. The first: 2 B header, the H-slot, slots 1 to 6, 10 B of slot 7, 6 B CRC. The second:
/// 6 B of slot 7, the 12 B HS-slot, slots 9 to 14, 2 B of credits, 6 B FEC, 6 B CRC. So slot 7 ends in the
/// second half.
constexpr FlitGeometry geometry_256b_lo() {
  FlitGeometry flit{.bytes = 256,
                    .slots = kMostSlots,
                    .slot_bytes = 14 + 12 + 13 * kChunkBytes,
                    .io_bytes = 232,
                    .second_header = 8,
                    .split_slot = 7};
  for (std::size_t i = 0; i < flit.split_slot; ++i)
    flit.slot_end[i] = static_cast<std::uint16_t>(kChunkBytes * (i + 1));
  flit.slot_end[flit.split_slot] = 128 + 6;
  for (std::size_t i = flit.second_header; i < flit.slots; ++i)
    flit.slot_end[i] = static_cast<std::uint16_t>(128 + 18 + kChunkBytes * (i - flit.second_header));
  for (std::size_t i = flit.split_slot; i < flit.slots; ++i) flit.half[i] = 1;
  flit.half_end = {128, 256};
  return flit;
}

inline constexpr std::array<FlitGeometry, kFlitModeCount> kFlitGeometries{
    geometry_68b(), geometry_256b(), geometry_256b_lo(), geometry_256b()};

constexpr const FlitGeometry& geometry(FlitMode mode) {
  return kFlitGeometries[static_cast<std::size_t>(mode)];
}

}  // namespace cxloom
