// The pending events, earliest first: a wheel of buckets of 64 ps, a finer wheel of the open bucket's
// picoseconds, and a coarser wheel for what lies beyond the horizon. Insert and remove cost O(1) for events
// within 8.6 ms, O(log n) beyond.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/prefetch.hpp"
#include "base/units.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "kernel/far_events.hpp"

namespace cxloom {

struct alignas(32) Event {
  static constexpr std::uint8_t kArrival =
      0x7f;  ///< the payload is a message; lower kinds are the handler's own
  static constexpr std::uint8_t kBackground =
      0x80;  ///< set in the kind of events that keep no simulation alive

  Time time;
  std::uint64_t order = 0;  ///< identity of the source (24 bits), its count (32), kind (8)
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

  /// Adds the pending events, in any order. Their own order may be changed as long as each stays before the
  /// same others.
  void list_pending(std::vector<Event*>& pending);

  void push(const Event& event) { push(event.time, event.order, event.handler, event.payload); }
  void push(Time time, std::uint64_t order, EventHandler* handler, std::uint64_t payload) {
    if (!push_near(time, order, handler, payload)) push_alone(time, order, handler, payload);
  }
  /// Adds an event of a source that counts: its order is above those of all before it of the same source and
  /// time, which were added so, too.
  void push_next(Time time, std::uint64_t order, EventHandler* handler, std::uint64_t payload) {
    if (!push_near(time, order, handler, payload)) push_elsewhere(time, order, handler, payload);
  }

  /// Many events of one source have shared an instant lately, as those of requests that go the same way side
  /// by side.
  bool looks_for_trains() const { return near_ == 0; }

  /// The earliest event; the queue must not be empty.
  const Event& top() {
    if (left_ == 0) open_next_instant();
    return events_[at_instant_[left_ - 1]];
  }

  /// Removes what `top` gave. Where events crowd an instant, returns one that
  /// comes after a few others: its handler and its message have been fetched. Else null.
  [[gnu::always_inline]] const Event* pop() {
    --size_;
    const std::uint32_t node = at_instant_[--left_];
    give_node(node);
    if (left_ == 0) {
      if (const std::uint32_t next = open_soon(node); next != kNone) fetch(next);
      return nullptr;
    }
    if (holds_ == 0) [[likely]] {
      fetch(at_instant_[left_ - 1]);
      return nullptr;
    }
    return look_ahead_in_instant(node);
  }

 private:
  using Nodes = std::vector<std::uint32_t>;
  /// Sorts nodes so that the earliest is the last.
  struct Later {
    const std::vector<Event>& events;
    bool operator()(std::uint32_t a, std::uint32_t b) const { return events[b].before(events[a]); }
  };

  static constexpr unsigned kFineBits = 6;  // a bucket of 64 ps: its instants are the bits of a word
  static constexpr std::uint32_t kFineMask = (1U << kFineBits) - 1;
  static constexpr unsigned kTurnBits = 15;
  static constexpr std::int64_t kBuckets = std::int64_t{1} << kTurnBits;  // a horizon of 2.1 us
  static constexpr std::size_t kWords = kBuckets / 64;
  static constexpr std::size_t kNextWords = 32;  // 131 ns
  static constexpr std::uint32_t kNone = 0xffffffffU;
  // So many events ahead in a crowded instant, memory is asked for what an event touches, and its handler for
  // the rest: some hundred nanoseconds each, which is what memory takes to answer. Fewer events than kCrowded
  // share an instant where what they touch fits in the second level of a cache: there, asking for it costs
  // more than it brings.
  static constexpr std::size_t kCrowded = 40;
  static constexpr std::size_t kFetchedAhead = 16;
  static constexpr std::size_t kForeseen = 8;
  // While many events of one source share instants, each is linked behind the last one of its source and
  // time: a train, of which the queue puts the first event in order alone. Trains are looked for until so
  // many events in a row have joined none.
  static constexpr std::uint32_t kPatience = 16;
  enum Holds : std::uint8_t { kMany = 1, kTrain = 2 };
  static constexpr unsigned kTrainBits = 6;    // the trains that are known at a time
  static constexpr std::uint32_t kNobody = 0;  // a node that no event has, of no time
  static constexpr std::size_t kMostNodes = std::size_t{1} << (31 - kFineBits);

  static std::int64_t bucket_of(Time time) { return time.ps() >> kFineBits; }
  static std::int64_t turn_of(std::int64_t bucket) { return bucket >> kTurnBits; }  // of the wheel
  // The time of the entries in a list of the open bucket, which has one for each instant.
  Time instant_of(std::uint32_t link) const { return Time{(open_ << kFineBits) + (link & kFineMask)}; }
  static std::uint32_t fine_of(Time time) { return static_cast<std::uint32_t>(time.ps()) & kFineMask; }

  // Lists of a bucket hold each node with the picosecond of its event within the bucket, so that spreading
  // them over the instants does not touch the events.
  void link_in_bucket(std::uint32_t node, Time time) {
    const auto slot = static_cast<std::size_t>(bucket_of(time) & (kBuckets - 1));
    next_[node] = buckets_[slot];
    buckets_[slot] = node << kFineBits | fine_of(time);
    words_[slot >> 6U] |= 1ULL << (slot & 63U);
    word_filled_[slot >> 6U] = 1;
  }
  void link_in_open_bucket(std::uint32_t node, std::uint32_t fine) {
    const std::uint64_t bit = 1ULL << fine;
    next_[node] = (filled_instants_ & bit) != 0 ? instants_[fine] : kNone;
    instants_[fine] = node;
    filled_instants_ |= bit;
  }
  [[gnu::always_inline]] bool push_near(Time time, std::uint64_t order, EventHandler* handler,
                                        std::uint64_t payload) {
    const std::int64_t ahead = bucket_of(time) - open_;
    if (static_cast<std::uint64_t>(ahead - 1) >= near_) [[unlikely]]
      return false;
    link_in_bucket(take_node(time, order, handler, payload), time);
    if (free_ == kNone) [[unlikely]]
      grow();
    return true;
  }
  // There is always one.
  [[gnu::always_inline]] std::uint32_t take_node(Time time, std::uint64_t order, EventHandler* handler,
                                                 std::uint64_t payload) {
    ++size_;
    const std::uint32_t node = free_;
    free_ = next_[node];
    Event& event = events_[node];
    event.time = time;
    event.order = order;
    event.handler = handler;
    event.payload = payload;
    return node;
  }
  // Two events or more are of the open instant, or one has been put before it.
  void expect_trains() {
    if (followers_ != 0) [[unlikely]]
      holds_ |= kTrain;
  }
  static std::size_t train_of(Time time, std::uint64_t order) {
    const std::uint64_t source = order >> EventSource::kIdentityShift;
    const std::uint64_t both = static_cast<std::uint64_t>(time.ps()) + (source << 3U);
    return both * 0x9e3779b97f4a7c15ULL >> (64 - kTrainBits);
  }
  void give_node(std::uint32_t node) {
    next_[node] = free_;
    free_ = node;
  }
  // What comes next will touch these: its handler, its message, and the account that lies four lines behind
  // it in a request.
  [[gnu::always_inline]] void fetch(std::uint32_t node) const {
    const Event& next = events_[node];
    prefetch(next.handler);
    prefetch(reinterpret_cast<const void*>(next.payload));
    prefetch(reinterpret_cast<const void*>(next.payload), 4);
  }
  // In a crowded instant there is time for the second line of the handler, too.
  [[gnu::always_inline]] void fetch_more(std::uint32_t node) const {
    fetch(node);
    prefetch(events_[node].handler, 1);
  }
  // A step along the list of the bucket that comes next, which is one load after the other when it is opened.
  void walk_ahead() {
    if (ahead_ == kNone) return;
    const std::uint32_t node = ahead_ >> kFineBits;
    prefetch(&events_[node]);
    ahead_ = next_[node];
  }
  void grow();
  void look_for_trains();
  std::uint32_t follow(std::uint32_t gone);
  void push_elsewhere(Time time, std::uint64_t order, EventHandler* handler, std::uint64_t payload);
  void push_alone(Time time, std::uint64_t order, EventHandler* handler, std::uint64_t payload);
  void insert_at_instant(std::uint32_t node);
  void open_next_instant();
  std::uint32_t open_soon(std::uint32_t gone);
  void order_instant(bool latest_first);
  void sort_instant(bool latest_first);
  bool open_next_bucket();
  bool open_bucket(std::int64_t bucket);
  void look_ahead();
  const Event* look_ahead_in_instant(std::uint32_t gone);
  void lay_out_instant();
  std::uint32_t open_next_of_bucket();
  bool lay_out_bucket(std::uint32_t first);
  std::int64_t bring_near();
  std::uint32_t take_bucket(std::int64_t bucket);
  void spread(std::uint32_t link);
  // A bit for each of the 64 buckets behind the open one, which lie in two words: whether it holds something.
  // Most often one of these comes next.
  std::uint64_t next_buckets() const {
    const auto start = static_cast<std::size_t>((open_ + 1) & (kBuckets - 1));
    const std::size_t word = start >> 6U;
    const std::uint64_t behind = words_[(word + 1) & (kWords - 1)];
    return words_[word] >> (start & 63U) | (behind << 1U) << (~start & 63U);
  }
  // Minus one: none is.
  std::int64_t next_filled_bucket() const {
    const std::uint64_t next = next_buckets();
    return next != 0 ? open_ + 1 + std::countr_zero(next) : far_filled_bucket();
  }
  std::int64_t far_filled_bucket() const;
  std::uint64_t filled_from(std::size_t word) const;
  std::size_t filled_word_from(std::size_t next) const;

  std::size_t size_ = 0;
  Time instant_{-1};        // of the events in `at_instant_`, or of the last one that was
  std::int64_t open_ = -1;  // number of the open bucket
  // Buckets behind it to which events go at once: none while trains are looked for.
  std::uint64_t near_ = kBuckets - 1;
  // The next events, last first; room for all nodes. They are of `instant_`, but for those before it that
  // were pushed after a look ahead had opened it.
  Nodes at_instant_;
  std::size_t left_ = 0;                                   // of these
  std::uint8_t holds_ = 0;                                 // what there is among these
  std::uint32_t followers_ = 0;                            // events in trains, but for the first ones
  std::vector<std::uint64_t> sorted_;                      // while many are sorted: source and node, twice
  std::uint64_t filled_instants_ = 0;                      // instants of the open bucket that hold something
  std::array<std::uint32_t, 1U << kFineBits> instants_{};  // a list of nodes each
  FarEvents far_;  // events that were beyond the horizon when they were pushed
  std::uint32_t free_ = kNone;
  std::uint32_t ahead_ = kNone;  // in the list of a bucket that is still closed
  std::vector<Event> events_;    // by node
  Nodes next_;     // by node: apart from the events, so that lists are walked in few cache lines
  Nodes buckets_;  // a list each
  std::array<std::uint64_t, kWords> words_{};  // which buckets hold something
  // Words that are not zero: 1, else 0. Behind the last there is room to look at more, all zero.
  std::array<std::uint8_t, kWords + kNextWords> word_filled_{};
  Nodes behind_;                                                      // by node: the next of its train
  std::array<std::uint32_t, std::size_t{1} << kTrainBits> trains_{};  // the last event of each
  std::uint32_t patience_ = 0;
};

// In line in the loop over events, for each of which these run once.

// Takes the list of a bucket out of the wheel.
[[gnu::always_inline]] inline std::uint32_t EventQueue::take_bucket(std::int64_t bucket) {
  const auto slot = static_cast<std::size_t>(bucket & (kBuckets - 1));
  const std::uint32_t link = std::exchange(buckets_[slot], kNone);
  words_[slot >> 6U] &= ~(1ULL << (slot & 63U));
  word_filled_[slot >> 6U] = words_[slot >> 6U] != 0 ? 1 : 0;
  return link;
}

[[gnu::always_inline]] inline bool EventQueue::open_bucket(std::int64_t bucket) {
  open_ = bucket;
  ahead_ = kNone;
  const std::uint32_t link = take_bucket(bucket);
  const std::uint32_t node = link >> kFineBits;
  const std::uint32_t other_link = next_[node];
  if (other_link == kNone) {
    at_instant_[0] = node;
    left_ = 1;
  } else {
    const std::uint32_t other = other_link >> kFineBits;
    if (next_[other] != kNone || ((link ^ other_link) & kFineMask) != 0) return lay_out_bucket(link);
    const bool node_first = events_[node].order < events_[other].order;
    at_instant_[0] = node_first ? other : node;
    at_instant_[1] = node_first ? node : other;
    left_ = 2;
    expect_trains();
  }
  instant_ = instant_of(link);
  return true;
}

// The next instant, if it is near, while the last event before it is still to happen: who it is for is known
// when its turn comes. If it is far, all events until then would have to be put in order one by one.
// Returns the first event of it, or none. If another one follows the last in its train, it is that.
[[gnu::always_inline]] inline std::uint32_t EventQueue::open_soon(std::uint32_t gone) {
  constexpr std::size_t kFew = 8;  // pending events, which are seldom near each other
  if (followers_ != 0) [[unlikely]] {
    if (const std::uint32_t next = follow(gone); next != kNone) return next;
  }
  if (filled_instants_ != 0) return open_next_of_bucket();
  if (size_ < kFew) return kNone;
  const std::uint64_t next = next_buckets();
  if (next == 0) return kNone;
  const std::int64_t bucket = open_ + 1 + std::countr_zero(next);
  if (turn_of(bucket) >= far_.first()) [[unlikely]]
    return kNone;
  if (!open_bucket(bucket)) return open_next_of_bucket();
  return at_instant_[left_ - 1];
}

}  // namespace cxloom
