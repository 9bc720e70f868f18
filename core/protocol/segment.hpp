// The parts of a request's latency. A request is charged for what it waits on at each instant, so that its
// segments sum to its latency exactly; there is no "other".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cxloom {

/// How they lie in a request is said in account.hpp.
enum class Segment : std::uint8_t {
  kLinkQueue,
  kCredit,
  kSerialization,
  kPortDelay,
  kPropagation,
  kSwitchQueue,
  kSwitching,
  kBusQueue,
  kBus,
  kRequesterQueue,
  kProcess,
  kCache,
  kMshr,
  kController,
  kMediaQueue,
  kMedia,
  kRetry,
  kFilter,
  kHomeQueue,
  kSnoop,
  kReorder,
  kThrottle,
  kPersistQueue,
  kPersistBuffer,
};

inline constexpr std::size_t kSegmentCount = static_cast<std::size_t>(Segment::kPersistBuffer) + 1;
/// The last ones: of systems with persist buffers alone.
inline constexpr std::size_t kPersistSegments = 2;

/// Where requests are in it.
enum class SegmentPlace : std::uint8_t {
  kRequester,
  kCache,
  kLink,
  kBus,
  kSwitch,
  kPersist,
  kHome,
  kMemory,
};

/// Their names, in the order of the enumeration.
inline constexpr std::array<std::string_view, 8> kSegmentPlaces{
    "requester", "cache", "link", "bus", "switch", "persistence", "coherence", "memory"};

struct SegmentInfo {
  std::string_view name;
  SegmentPlace place;
  bool
      waits;  ///< for a turn, a place or an answer to somebody else; otherwise something works on the request
  std::string_view meaning;
};

/// Name and meaning of each segment, in the order of the enumeration.
inline constexpr std::array<SegmentInfo, kSegmentCount> kSegments{{
    {"link_queue", SegmentPlace::kLink, true, "waiting at a device for the wire of its link"},
    {"credit", SegmentPlace::kLink, true, "waiting for receive-buffer credits of a link"},
    {"serialization", SegmentPlace::kLink, false,
     "the bytes of the message passing a wire: in cut-through the tail, once"},
    {"port_delay", SegmentPlace::kLink, false, "crossing ports at the ends of links"},
    {"propagation", SegmentPlace::kLink, false, "flight time on links"},
    {"switch_queue", SegmentPlace::kSwitch, true,
     "waiting in a switch: for arbitration, the output port, or behind another message"},
    {"switching", SegmentPlace::kSwitch, false, "crossing a switch"},
    {"bus_queue", SegmentPlace::kBus, true, "waiting for the shared medium of a bus"},
    {"bus", SegmentPlace::kBus, false, "crossing a bus"},
    {"requester_queue", SegmentPlace::kRequester, true,
     "waiting at the requester for its turn: open-loop backlog, dependence, issue interval"},
    {"process", SegmentPlace::kRequester, false, "the requester's own processing"},
    {"cache", SegmentPlace::kCache, false, "looking up the requester's cache"},
    {"mshr", SegmentPlace::kCache, true,
     "waiting for an earlier miss to the same line, or for a free miss register"},
    {"controller", SegmentPlace::kMemory, false, "the device controller's processing"},
    {"media_queue", SegmentPlace::kMemory, true, "waiting for a bank or the data path of the media"},
    {"media", SegmentPlace::kMemory, false, "the access in the media"},
    {"retry", SegmentPlace::kLink, false,
     "lost to faults: flits sent again after an error on the wire, waiting for a link that has failed, for a "
     "way around it, or for the timeout of a message that is gone"},
    {"filter", SegmentPlace::kHome, false, "looking up the snoop filter, and waiting for its turn there"},
    {"home_queue", SegmentPlace::kHome, true,
     "waiting at the coherency agent: for an earlier request to the line, or for a free entry of the filter"},
    {"snoop", SegmentPlace::kHome, false,
     "in a cache that was snooped: looking up, clearing, waiting for what was under way for the line"},
    {"reorder", SegmentPlace::kSwitch, true,
     "waiting at the receiver for an earlier message to the line, which took another way"},
    {"throttle", SegmentPlace::kRequester, true,
     "held back at the requester, at the rate for a memory that says that it is loaded"},
    {"persist_queue", SegmentPlace::kPersist, true,
     "waiting for the persist buffer of a switch: for its turn, an Empty entry, or a drain. Absent where "
     "nothing came to one"},
    {"persist_buffer", SegmentPlace::kPersist, false,
     "in the persist buffer of a switch. Absent without one"},
}};

/// The order in which people read them: along the way of a request.
inline constexpr std::array<Segment, kSegmentCount> kPathOrder{
    Segment::kRequesterQueue,
    Segment::kProcess,
    Segment::kCache,
    Segment::kMshr,
    Segment::kThrottle,
    Segment::kLinkQueue,
    Segment::kCredit,
    Segment::kSerialization,
    Segment::kPortDelay,
    Segment::kPropagation,
    Segment::kRetry,
    Segment::kBusQueue,
    Segment::kBus,
    Segment::kSwitchQueue,
    Segment::kSwitching,
    Segment::kPersistQueue,
    Segment::kPersistBuffer,
    Segment::kReorder,
    Segment::kFilter,
    Segment::kHomeQueue,
    Segment::kSnoop,
    Segment::kController,
    Segment::kMediaQueue,
    Segment::kMedia,
};

// A row or a place too many does not compile; one too few would be empty, or the first segment again.
static_assert(
    [] {
      for (const SegmentInfo& segment : kSegments) {
        if (segment.name.empty() || segment.meaning.empty()) return false;
      }
      return true;
    }(),
    "each value of Segment has its row in kSegments, at the same place");
static_assert(
    [] {
      std::array<bool, kSegmentCount> there{};
      for (const Segment segment : kPathOrder) there[static_cast<std::size_t>(segment)] = true;
      for (const bool one : there) {
        if (!one) return false;
      }
      return true;
    }(),
    "each value of Segment has its place on the way of a request in kPathOrder, once");

}  // namespace cxloom
