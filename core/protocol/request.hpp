// A request: what a requester waits for. It lives at its requester and owns the account of its latency.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.hpp"
#include "protocol/message.hpp"
#include "protocol/segment.hpp"

namespace cxloom {

enum class AccessKind : std::uint8_t { kRead, kWrite };

/// The order of the members is that of use: a hop touches the message, the mark and the first segments, which are two
/// cache lines side by side.
struct alignas(64) Request {
  Message message;  ///< carries it there and the answer back
  Time mark;        ///< up to when its time is accounted for
  std::array<Time, kSegmentCount> segments{};
  std::uint64_t id = 0;  ///< number of the request at its requester, from zero, warm-up included
  Address address;
  Time created;             ///< when the clock of its latency started
  Request* next = nullptr;  ///< link of the list it waits in
  NodeId requester;
  NodeId target;  ///< the device that serves it, or says that it failed; the requester itself for a cache hit
  std::uint32_t thread = 0;
  std::uint16_t size = 0;  ///< bytes
  AccessKind kind = AccessKind::kRead;
  bool failed = false;  ///< answered with an error

  /// Accounts for the time from the mark up to `until`, and moves the mark there.
  void charge(Segment segment, Time until) {
    segments[static_cast<std::size_t>(segment)] += until - mark;
    mark = until;
  }
};

static_assert(sizeof(Request) - sizeof(Message) <= 192,
              "a request in flight costs no more than 192 bytes, and its message");

inline void Message::charge(Segment segment, Time until) {
  if (parent) parent->charge(segment, until);
}

}  // namespace cxloom
