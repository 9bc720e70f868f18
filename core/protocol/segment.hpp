// The parts of a request's latency. A request is charged for what it waits on at each instant, so that its segments
// sum to its latency exactly; there is no "other".
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

inline constexpr std::size_t kSegmentCount = 24;
/// The last ones: of systems with persist buffers alone.
inline constexpr std::size_t kPersistSegments = 2;

struct SegmentInfo {
  std::string_view name;
  std::string_view meaning;
};

/// Name and meaning of each segment, in the order of the enumeration.
inline constexpr std::array<SegmentInfo, kSegmentCount> kSegments{{
    {"link_queue", "waiting at a device for the wire of its link"},
    {"credit", "waiting for receive-buffer credits of a link"},
    {"serialization", "the bytes of the message passing a wire: in cut-through the tail, once"},
    {"port_delay", "crossing ports at the ends of links"},
    {"propagation", "flight time on links"},
    {"switch_queue", "waiting in a switch: for arbitration, the output port, or behind another message"},
    {"switching", "crossing a switch"},
    {"bus_queue", "waiting for the shared medium of a bus"},
    {"bus", "crossing a bus"},
    {"requester_queue",
     "waiting at the requester for its turn: open-loop backlog, dependence, issue interval"},
    {"process", "the requester's own processing"},
    {"cache", "looking up the requester's cache"},
    {"mshr", "waiting for an earlier miss to the same line, or for a free miss register"},
    {"controller", "the device controller's processing"},
    {"media_queue", "waiting for a bank or the data path of the media"},
    {"media", "the access in the media"},
    {"retry",
     "lost to faults: flits sent again after an error on the wire, waiting for a link that has failed, for a "
     "way "
     "around it, or for the timeout of a message that is gone"},
    {"filter", "looking up the snoop filter, and waiting for its turn there"},
    {"home_queue",
     "waiting at the coherency agent: for an earlier request to the line, or for a free entry of the filter"},
    {"snoop",
     "in a cache that was snooped: looking up, clearing, waiting for what was under way for the line"},
    {"reorder", "waiting at the receiver for an earlier message to the line, which took another way"},
    {"throttle", "held back at the requester, at the rate for a memory that says that it is loaded"},
    {"persist_queue",
     "waiting for the persist buffer of a switch: for its turn, an Empty entry, or a drain. Absent where "
     "nothing came to one"},
    {"persist_buffer", "in the persist buffer of a switch. Absent without one"},
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

}  // namespace cxloom
