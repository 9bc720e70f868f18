// Sources of events, by which simultaneous events are ordered.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

/// A source of events. It gives simultaneous ones their order: its identity, then its own count. No global
/// counter takes part, so the order does not depend on how the work is divided among threads.
class EventSource {
 public:
  /// The next of all sources, which it joins: it stays where it is, as long as these may be counted anew.
  explicit EventSource(std::vector<EventSource*>& all);
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  std::uint32_t identity() const { return identity_in(next_); }
  /// The order of its next event, which is of this kind.
  std::uint64_t next(std::uint8_t kind) {
    const std::uint64_t order = next_ | kind;
    next_ += std::uint64_t{1} << kCountShift;
    return order;
  }

  /// The order of an event that is not counted: for a source that never counts.
  std::uint64_t order_of(std::uint8_t kind) const { return next_ | kind; }

  /// The source has sent no event that it counted.
  bool uncounted() const { return (next_ & kCountMask) == 0; }
  void count_from(std::uint32_t count) { next_ = with_count(next_, count); }
  static std::uint32_t identity_in(std::uint64_t order) {
    return static_cast<std::uint32_t>(order >> kIdentityShift);
  }
  static std::uint64_t with_count(std::uint64_t order, std::uint32_t count) {
    return (order & ~kCountMask) | std::uint64_t{count} << kCountShift;
  }

  static constexpr std::uint32_t kMost = 1U << 24U;  ///< sources
  static constexpr unsigned kCountShift = 8;
  static constexpr unsigned kIdentityShift = 40;

 private:
  static constexpr std::uint64_t kCountMask =
      (std::uint64_t{1} << kIdentityShift) - (std::uint64_t{1} << kCountShift);

  std::uint64_t next_;  // identity, count, and no kind
};

/// Where what an event does lies among all that the parts of a divided system do.
///
/// An instant has rounds: at the end of one who has asked for it settles, which may cause further events.
/// Within a round what can be done is done in the order of events, so that one that is scheduled by a later
/// one of the same round comes right behind that: it has the place of the latest before it.
struct EventPlace {
  Time at;
  std::uint64_t order = 0;  ///< the highest of the events of its round in its part so far
  std::uint32_t round = 0;  ///< of the instant

  /// Neither is, of two that have the same place: they are of one part.
  bool before(const EventPlace& other) const {
    return std::tie(at, round, order) < std::tie(other.at, other.round, other.order);
  }
};

}  // namespace cxloom
