// The traffic of one direction of a wire: busy time, bytes, and how many messages wait for it, over time.
#pragma once

#include <cstdint>
#include <memory_resource>

#include "base/units.hpp"
#include "base/value.hpp"
#include "kernel/distribution.hpp"
#include "kernel/windowed.hpp"

namespace cxloom {

/// One message's use of a wire, or a turn of it. A port that knows the departure on arrival books it ahead of
/// time.
struct Passage {
  Time ready;  ///< when it could have started
  Time start;
  Time end;
  std::uint32_t bytes = 0;     ///< on the wire
  std::uint16_t payload = 0;   ///< of these, payload
  std::uint16_t messages = 1;  ///< complete with it; a flit may bring several, or none
};

struct WireTotals {
  Time busy;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t payload = 0;

  /// Transmission efficiency: of the bytes on the wire, the payload's share.
  Value efficiency() const { return mean_value(static_cast<double>(payload), static_cast<double>(bytes)); }
};

class WireMonitor {
 public:
  /// Passages that have not ended are kept in `memory`, which outlives it.
  explicit WireMonitor(std::pmr::memory_resource& memory = *std::pmr::new_delete_resource())
      : memory_(&memory) {}
  ~WireMonitor() { give_back(); }
  WireMonitor(const WireMonitor&) = delete;
  WireMonitor& operator=(const WireMonitor&) = delete;

  /// Books a passage; `ready`, `start` and `end` never decrease from one to the next, and `end` is not before
  /// `now`.
  [[gnu::always_inline]] void book(const Passage& passage, Time now) {
    if (ended_ == tail_ && last_.end <= now && passage.ready == passage.start) {
      count(last_);
      write(last_, passage);
    } else {
      if ((ended_ == tail_ && last_.end != kNone) || tail_ - ended_ == room_) [[unlikely]]
        begin_ring(now);
      write(at(tail_++), passage);
    }
  }

  /// The wire turns for so long, up to `start`: nothing passes meanwhile.
  void book_turn(Time turn, Time start, Time now) { book({start - turn, start - turn, start}, now); }

  /// A message begins (+1) or ends waiting for the wire, behind all that was booked up to then.
  void count_waiting(Time now, std::int32_t delta) {
    settle(now);
    queue_.change(now, delta);
  }
  /// A message passes now, on a wire without a limit: it takes no time.
  void count_at_once(std::uint64_t bytes, std::uint64_t payload) {
    ++totals_.messages;
    totals_.bytes += bytes;
    totals_.payload += payload;
  }

  void open(Time now);
  void close(Time now);
  const MeasuredWindow& measured() const { return in_window_.measured(); }
  /// Totals since the window opened, up to `now` or its close, with the part of the passage under way.
  WireTotals totals(Time now) { return in_window_.window(so_far(now)); }
  /// Totals of the window that was closed; until then, of the passages that have been worked off.
  WireTotals closed_totals() const { return in_window_.window(totals_); }
  /// Messages that have passed by `now`, whether a window is open or not.
  std::uint64_t messages_so_far(Time now) {
    settle(now);
    return totals_.messages;
  }
  /// Messages that wait for the wire now.
  std::int64_t waiting(Time now) {
    settle(now);
    return queue_.level();
  }
  /// Messages waiting for the wire; up to date after `totals` and once the window is closed.
  const LevelMonitor& queue() const { return queue_; }
  LevelMonitor& queue() { return queue_; }

 private:
  /// Member by member, from where they were worked out: a copy in wider words waits until the parts that it
  /// is made of are out of the store buffer.
  static void write(Passage& place, const Passage& passage) {
    place.ready = passage.ready;
    place.start = passage.start;
    place.end = passage.end;
    place.bytes = passage.bytes;
    place.payload = passage.payload;
    place.messages = passage.messages;
  }
  void begin_ring(Time now);
  /// It has ended. Looks at nothing but the totals: every message comes by here.
  void count(const Passage& passage) {
    if (passage.end != kNone) add(totals_, passage);
  }
  static void add(WireTotals& totals, const Passage& passage) {
    totals.busy += passage.end - passage.start;
    totals.messages += passage.messages;
    totals.bytes += passage.bytes;
    totals.payload += passage.payload;
  }
  /// Totals from the beginning up to `now`, with the part of the passage under way.
  WireTotals so_far(Time now);
  /// The first kept passage, if it has begun by `now`; null if not. All are accounted for up to `now`.
  const Passage* under_way(Time now);
  Passage& at(std::uint32_t index) { return places_[index & (room_ - 1)]; }
  void make_room(Time now);
  void give_back();
  void settle(Time now);
  void settle_unhindered(Time now);
  bool settle_queue(Time now);

  static constexpr Time kNone{-1};

  // A message touches what comes first and, where it waits, its place in the ring; where it does not wait,
  // the half of a line each of `last_` and `totals_`.
  //
  // Passages are booked ahead of time and worked off many at a time, which costs less than one by one.
  // [ended_, tail_) are kept; of these [joined_, tail_) have not joined the queue yet at the time up to which
  // the account goes, and [started_, tail_) have not started. The numbers wrap around.
  std::uint32_t ended_ = 0;
  std::uint32_t tail_ = 0;
  std::uint32_t room_ = 0;  // in the ring: a power of two
  std::uint32_t started_ = 0;
  Passage* places_ = nullptr;  // of the ring
  std::uint32_t joined_ = 0;
  // Most often a passage that starts when it is ready finds that the last one has ended. The last one is kept
  // here then, and nothing in the ring.
  Passage last_{kNone, kNone, kNone};
  WireTotals totals_;                  // from the beginning, of the passages that have been worked off
  std::pmr::memory_resource* memory_;  // gives the ring: a vector would keep its place and size again
  LevelMonitor queue_;
  CountsInWindow<WireTotals> in_window_;
};

}  // namespace cxloom
