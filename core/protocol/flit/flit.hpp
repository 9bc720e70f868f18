// A packed flit: what each slot carries, which messages it brings in which order, and which transfers of data
// end in it. It holds classes and counts; the two ends of a link keep the messages themselves in queues
// beside it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/flit/format.hpp"

namespace cxloom {

/// Data behind a message's header.
struct DataShape {
  std::uint8_t chunks = 4;  ///< of 16 B: 4, or 2 for a half transfer (68B, not M2S)
  bool trailer = false;     ///< byte enables: one slot more

  std::uint8_t slots() const { return static_cast<std::uint8_t>(chunks + (trailer ? 1 : 0)); }
  bool operator==(const DataShape&) const = default;
};

/// Whether messages of a class carry data behind their header.
constexpr bool is_data_class(Channel channel) {
  return channel == Channel::kM2SRwD || channel == Channel::kS2MDRS || channel == Channel::kD2HData ||
         channel == Channel::kH2DData;
}

enum class SlotKind : std::uint8_t {
  kEmpty,    ///< sent, and carries nothing
  kHeader,   ///< messages in one of the slot formats
  kData,     ///< a chunk of 16 B
  kTrailer,  ///< the byte enables of the transfer that ends here
  kMac,      ///< integrity check of an aggregation of flits (IDE)
  kControl,  ///< credits or link control in place of messages
};

inline constexpr std::size_t kSlotKindCount = 6;
inline constexpr std::array<std::string_view, kSlotKindCount> kSlotKindNames{"empty",   "header", "data",
                                                                             "trailer", "mac",    "control"};

enum class FlitKind : std::uint8_t {
  kProtocol,  ///< CXL.cache and CXL.mem
  kAllData,   ///< 68B: four data slots without a header, and so without credits and acknowledgements
  kIo,        ///< CXL.io packets
  kControl,   ///< link layer control: credits, retry; needs no credit itself
};

/// Most messages of a flit: four in each slot of 256B, or five in each of the fewer ones of 68B.
inline constexpr std::size_t kMostMessagesOfFlit = 4 * kMostSlots;
/// Most transfers that end in a flit: one begun before it, and one for every two chunks behind.
inline constexpr std::size_t kMostEndsOfFlit = 8;

struct Flit {
  struct Slot {
    SlotKind kind;
    std::uint8_t format;  ///< of a header: its place in slot_formats()
  };
  /// A message of this flit: the k-th of a class is the k-th that its queue offered.
  struct Placement {
    Channel channel;
    std::uint8_t slot;
    DataShape data;  ///< that follows the header; no chunks for a message without data
  };

  FlitMode mode = FlitMode::k68B;
  FlitKind kind = FlitKind::kControl;
  std::uint16_t slots = 0;                               ///< valid entries of `slot`
  std::uint16_t message_count = 0;                       ///< valid entries of `message`
  std::uint16_t end_count = 0;                           ///< valid entries of `end`
  std::array<std::uint16_t, kSlotKindCount> slots_of{};  ///< slots by kind: their sum is `slots`
  std::array<Slot, kMostSlots> slot;
  std::array<Placement, kMostMessagesOfFlit> message;  ///< in the order on the wire
  /// The slots in which transfers of data are complete, trailers included; in the order of their headers,
  /// over flits.
  std::array<std::uint8_t, kMostEndsOfFlit> end;
  /// CXL.io: bytes of packets in it; packets that begin and that end in it.
  std::uint16_t io_bytes = 0;
  std::uint16_t io_begun = 0;
  std::uint16_t io_ended = 0;

  std::uint16_t& count(SlotKind of) { return slots_of[static_cast<std::size_t>(of)]; }
  std::uint16_t count(SlotKind of) const { return slots_of[static_cast<std::size_t>(of)]; }
  bool carries_credits() const { return kind != FlitKind::kAllData && kind != FlitKind::kIo; }
};

}  // namespace cxloom
