#include "component/wire_monitor.hpp"

#include <algorithm>
#include <memory>

namespace cxloom {

// Makes room in the ring for another one behind that which was kept apart: there it is one like the others.
// Where something is in the ring, none is.
[[gnu::cold]] void WireMonitor::begin_ring(Time now) {
  if (tail_ - ended_ == room_) make_room(now);
  if (ended_ != tail_ || last_.end == kNone) return;
  at(tail_++) = last_;
  last_.end = kNone;
}

void WireMonitor::make_room(Time now) {
  settle(now);
  if (tail_ - ended_ < room_ / 2) return;
  const std::uint32_t room = std::max(std::uint32_t{16}, room_ * 2);
  Passage* const places = std::pmr::polymorphic_allocator<Passage>(memory_).allocate(room);
  std::uninitialized_fill_n(places, room, Passage{});
  for (std::uint32_t i = ended_; i != tail_; ++i) places[i & (room - 1)] = at(i);
  give_back();
  places_ = places;
  room_ = room;
}

void WireMonitor::give_back() {
  if (places_) std::pmr::polymorphic_allocator<Passage>(memory_).deallocate(places_, room_);
}

// Passages from the first on that start when they are ready, with nobody in the queue, and have ended: most
// are such.
[[gnu::hot]] void WireMonitor::settle_unhindered(Time now) {
  WireTotals sums = totals_;
  std::uint32_t next = ended_;
  for (; next != tail_; ++next) {
    const Passage& passage = at(next);
    if (passage.end > now || passage.start > passage.ready) break;
    add(sums, passage);
  }
  ended_ = started_ = joined_ = next;
  totals_ = sums;
}

// Joins and starts in the order of time, up to the moment when nobody waits any more; a passage that starts
// when it is ready was never in the queue. Returns whether there may be more.
[[gnu::hot]] bool WireMonitor::settle_queue(Time now) {
  while (true) {
    if (joined_ != started_ && (joined_ == tail_ || at(started_).start <= at(joined_).ready)) {
      if (at(started_).start > now) return false;
      queue_.change(at(started_).start, -1);
      if (++started_ == joined_) return true;
    } else if (joined_ != tail_ && at(joined_).ready <= now) {
      if (at(joined_).start > at(joined_).ready) {
        queue_.change(at(joined_).ready, +1);
      } else {
        ++started_;  // nobody is ahead of it, so it is the next to start
      }
      ++joined_;
    } else {
      return false;
    }
  }
}

/// Accounts for everything up to `now`.
[[gnu::hot]] void WireMonitor::settle(Time now) {
  for (bool more = true; more;) {
    if (ended_ == joined_) settle_unhindered(now);
    more = settle_queue(now);
    while (ended_ != started_ && at(ended_).end <= now) add(totals_, at(ended_++));
  }
  if (last_.end <= now) {
    count(last_);
    last_.end = kNone;
  }
}

const Passage* WireMonitor::under_way(Time now) {
  const Passage* first = ended_ != started_ ? &at(ended_) : last_.end != kNone ? &last_ : nullptr;
  return first && first->start <= now ? first : nullptr;
}

void WireMonitor::open(Time now) {
  in_window_.open(now, so_far(now));
  queue_.open(now);
}

void WireMonitor::close(Time now) {
  in_window_.close(now, so_far(now));
  queue_.close(now);
}

WireTotals WireMonitor::so_far(Time now) {
  settle(now);
  WireTotals result = totals_;
  if (const Passage* passage = under_way(now)) {
    result.busy += std::min(now, passage->end) - passage->start;
  }
  return result;
}

}  // namespace cxloom
