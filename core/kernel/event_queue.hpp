// The pending events, earliest first: a wheel of buckets of 64 ps, the open bucket sorted, and a heap for what lies
// beyond the wheel's horizon. Insert and remove cost O(1) for events within 2 us, O(log n) beyond.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "kernel/event_handler.hpp"

namespace cxloom {

/// The order of simultaneous events, given by their sender: its identity, then its own count. No global counter takes
/// part, so the order does not depend on how the work is divided among threads.
struct EventSource {
  std::uint32_t identity = 0;  ///< unique in the simulation, below 2^24
  std::uint32_t sequence = 0;  ///< events sent so far
};

struct alignas(32) Event {
  static constexpr std::uint8_t kArrival =
      0x7f;  ///< the payload is a message; lower kinds are the handler's own
  static constexpr std::uint8_t kBackground =
      0x80;  ///< set in the kind of events that keep no simulation alive

  Time time;
  std::uint64_t order = 0;  ///< source identity (24 bits), its sequence (32), kind (8)
  EventHandler* handler = nullptr;
  std::uint64_t payload = 0;

  std::uint8_t kind() const { return static_cast<std::uint8_t>(order & 0xffU); }
  bool before(const Event& other) const {
    return time < other.time || (time == other.time && order < other.order);
  }
};

class EventQueue {
 public:
  EventQueue();

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  void push(const Event& event) { push(event.time, event.order, event.handler, event.payload); }
  void push(Time time, std::uint64_t order, EventHandler* handler, std::uint64_t payload) {
    ++size_;
    const std::int64_t bucket = bucket_of(time);
    if (bucket <= open_) {
      push_late({time, order, handler, payload});
    } else if (bucket - open_ < kBuckets) {
      const auto slot = static_cast<std::size_t>(bucket & (kBuckets - 1));
      const std::uint32_t node = take_node();
      Event& event = events_[node];
      event.time = time;
      event.order = order;
      event.handler = handler;
      event.payload = payload;
      next_[node] = heads_[slot];
      heads_[slot] = node;
      words_[slot >> 6U] |= 1ULL << (slot & 63U);
      summary_[slot >> 12U] |= 1ULL << ((slot >> 6U) & 63U);
    } else {
      push_far({time, order, handler, payload});
    }
  }

  /// The earliest event; the queue must not be empty.
  const Event& top() {
    if (sorted_.empty() && late_.empty()) open_next_bucket();
    return top_is_late() ? late_.front() : events_[sorted_.back()];
  }

  /// Removes what `top` gave.
  void pop() {
    --size_;
    if (top_is_late()) {
      pop_late();
    } else {
      give_node(sorted_.back());
      sorted_.pop_back();
      if (!sorted_
               .empty()) {  // the next event will touch these: its handler, its message and what lies behind it
        const Event& next = events_[sorted_.back()];
        __builtin_prefetch(next.handler);
        __builtin_prefetch(reinterpret_cast<const char*>(next.payload));
        __builtin_prefetch(reinterpret_cast<const char*>(next.payload) + 64);
      }
    }
  }

 private:
  static constexpr std::int64_t kBuckets = 32768;  // times 64 ps: a horizon of 2.1 us
  static constexpr unsigned kBucketBits = 6;
  static constexpr std::uint32_t kNone = 0xffffffffU;

  static std::int64_t bucket_of(Time time) { return time.ps() >> kBucketBits; }
  bool top_is_late() const {
    return !late_.empty() && (sorted_.empty() || late_.front().before(events_[sorted_.back()]));
  }
  void give_node(std::uint32_t node) {
    next_[node] = free_;
    free_ = node;
  }
  std::uint32_t take_node() {
    if (free_ == kNone) grow();
    const std::uint32_t node = free_;
    free_ = next_[node];
    return node;
  }
  void grow();
  void push_late(const Event& event);
  void pop_late();
  void push_far(const Event& event);
  void open_next_bucket();
  std::int64_t next_filled_bucket() const;

  std::size_t size_ = 0;
  std::int64_t open_ = -1;             // number of the bucket that `sorted_` and `late_` hold
  std::vector<std::uint32_t> sorted_;  // nodes of the open bucket, latest first
  std::vector<Event> late_;            // heap: events that joined the open bucket after it was sorted
  std::vector<Event> far_;             // heap: events that were beyond the horizon when they were pushed
  std::uint32_t free_ = kNone;
  std::vector<Event> events_;  // by node
  std::vector<std::uint32_t>
      next_;  // by node: apart from the events, so that lists are walked in few cache lines
  std::vector<std::uint32_t> heads_;                         // one list of nodes a bucket
  std::array<std::uint64_t, kBuckets / 64> words_{};         // which buckets hold something
  std::array<std::uint64_t, kBuckets / 64 / 64> summary_{};  // which words are not zero
};

}  // namespace cxloom
