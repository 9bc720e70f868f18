#include "kernel/event_queue.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

EventQueue::EventQueue() : buckets_(kBuckets, kNone) { grow(); }

void EventQueue::grow() {
  const std::size_t old = events_.size();
  ensure(old < kMostNodes, "more pending events than the queue can number");
  events_.resize(std::max<std::size_t>(256, old * 2));
  next_.resize(events_.size());
  at_instant_.resize(events_.size());
  behind_.resize(events_.size(), kNone);
  events_[kNobody].time = Time{-1};
  const std::size_t first = std::max<std::size_t>(old, kNobody + 1);
  for (std::size_t i = events_.size(); i-- > first;) give_node(static_cast<std::uint32_t>(i));
}

void EventQueue::list_pending(std::vector<Event*>& pending) {
  std::vector<bool> unused(events_.size());
  unused[kNobody] = true;
  for (std::uint32_t node = free_; node != kNone; node = next_[node]) unused[node] = true;
  for (std::uint32_t node = 0; node < events_.size(); ++node) {
    if (!unused[node]) pending.push_back(&events_[node]);
  }
}

// Events that were pushed while nobody looked for trains are in none.
void EventQueue::look_for_trains() {
  if (near_ != 0) trains_.fill(kNobody);
  near_ = 0;
  patience_ = kPatience;
}

// An event whose time has no bucket in the wheel, or that may follow another one. What comes behind the last
// event of a source for a time comes next, whatever others send. A node that is free again, or another
// event's, is of another source or time, or of one that is over.
[[gnu::hot]] void EventQueue::push_elsewhere(Time time, std::uint64_t order, EventHandler* handler,
                                             std::uint64_t payload) {
  if (near_ != 0 || time <= instant_) return push_alone(time, order, handler, payload);
  std::uint32_t& last = trains_[train_of(time, order)];
  const Event& before = events_[last];
  const bool follows = before.time == time && EventSource::identity_in(before.order ^ order) == 0;
  if (!follows) {
    last = free_;  // it will have this node
    if (--patience_ == 0) near_ = kBuckets - 1;
    return push_alone(time, order, handler, payload);
  }
  const std::uint32_t node = take_node(time, order, handler, payload);
  behind_[last] = node;
  last = node;
  ++followers_;
  patience_ = kPatience;
  if (free_ == kNone) [[unlikely]]
    grow();
}

// The next of the train of an event that has just gone takes its turn. None: nothing follows it. By itself,
// so that where there are no trains the loop over events has but one look at that.
[[gnu::noinline]] std::uint32_t EventQueue::follow(std::uint32_t gone) {
  const std::uint32_t next = behind_[gone];
  if (next == kNone) return kNone;
  behind_[gone] = kNone;
  --followers_;
  at_instant_[left_++] = next;
  return next;
}

// By itself, so that what joins a train saves no registers for it.
[[gnu::hot, gnu::noinline]] void EventQueue::push_alone(Time time, std::uint64_t order, EventHandler* handler,
                                                        std::uint64_t payload) {
  const std::uint32_t node = take_node(time, order, handler, payload);
  const std::int64_t ahead = bucket_of(time) - open_;
  if (time <= instant_) {
    insert_at_instant(node);
  } else if (ahead == 0) {
    link_in_open_bucket(node, fine_of(time));
  } else if (ahead < kBuckets) {
    link_in_bucket(node, time);
  } else {
    far_.add(node, turn_of(bucket_of(time)), turn_of(open_), next_);
  }
  if (free_ == kNone) grow();
}

[[gnu::hot]] void EventQueue::insert_at_instant(std::uint32_t node) {
  // Most often it comes first of all.
  if (left_ == 0 || events_[node].before(events_[at_instant_[left_ - 1]])) {
    at_instant_[left_++] = node;
    return expect_trains();
  }
  const auto end = at_instant_.begin() + static_cast<std::ptrdiff_t>(left_);
  const auto place = std::lower_bound(at_instant_.begin(), end, node, Later{events_});
  std::copy_backward(place, end, end + 1);
  *place = node;
  ++left_;
  expect_trains();
}

// The first that is not among the next ones, round the wheel. In how many steps it is found nobody can
// foresee, so that the first are one.
[[gnu::hot]] std::int64_t EventQueue::far_filled_bucket() const {
  const auto start = static_cast<std::size_t>((open_ + 1) & (kBuckets - 1));
  const std::size_t word = start >> 6U;
  std::uint64_t behind = 0;  // a bit for each of the next words
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kNextWords; i += 8) {
    // Eight bytes that are one or zero, as eight bits: each product of a byte has a place of its own.
    constexpr std::uint64_t kGather = 0x0102040810204080U;
    behind |= (filled_from(word + 1 + i) * kGather >> 56U) << i;
  }
  std::size_t first = word + 1 + static_cast<std::size_t>(std::countr_zero(behind));
  if (behind == 0) {
    first = filled_word_from(std::min((word + 1 + kNextWords) & ~std::size_t{7}, kWords));
    if (first == kWords) return -1;
  }
  const std::size_t slot = (first << 6U) + static_cast<std::size_t>(std::countr_zero(words_[first]));
  return open_ + 1 + static_cast<std::int64_t>((slot - start) & (kBuckets - 1));
}

// Eight of `word_filled_`, the first lowest.
std::uint64_t EventQueue::filled_from(std::size_t word) const {
  std::uint64_t filled = 0;
  std::memcpy(&filled, &word_filled_[word], sizeof filled);
  return filled;
}

// The first word from `next` on, a multiple of eight, that is not zero, round the wheel; kWords: all are.
[[gnu::noinline]] std::size_t EventQueue::filled_word_from(std::size_t next) const {
  constexpr std::size_t kFew = 8;     // steps, after which all that is left is looked at in larger ones
  constexpr std::size_t kBlock = 64;  // words of such a step
  const auto empty_from = [&](std::size_t word) {
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < kBlock; i += 8) any |= filled_from(word + i);
    return any == 0;
  };
  for (std::size_t steps = 0; steps < kWords / 8; ++steps) {
    const std::size_t at = next & (kWords - 1);
    next = at + 8;
    if (steps >= kFew && at % kBlock == 0 && empty_from(at)) {
      next = at + kBlock;
      steps += kBlock / 8 - 1;
      continue;
    }
    if (const std::uint64_t filled = filled_from(at); filled != 0)
      return at + static_cast<std::size_t>(std::countr_zero(filled)) / 8;
  }
  return kWords;
}

// Over the instants of the open bucket.
[[gnu::hot, gnu::noinline]] void EventQueue::spread(std::uint32_t link) {
  while (link != kNone) {
    const std::uint32_t node = link >> kFineBits;
    const std::uint32_t fine = link & kFineMask;
    link = next_[node];
    prefetch(&events_[node]);
    link_in_open_bucket(node, fine);
  }
}

// To the list of the next bucket. Events that join it from now on are at its head, and have just been
// written.
void EventQueue::look_ahead() {
  const std::int64_t bucket = next_filled_bucket();
  ahead_ = bucket < 0 ? kNone : buckets_[static_cast<std::size_t>(bucket & (kBuckets - 1))];
}

// True: all that it held is of one instant, and the queue is open at that instant.
[[gnu::always_inline]] inline bool EventQueue::open_next_bucket() {
  std::int64_t bucket = next_filled_bucket();
  // Unsigned, minus one lies beyond them all: the wheel is empty.
  if (static_cast<std::uint64_t>(turn_of(bucket)) >= static_cast<std::uint64_t>(far_.first())) [[unlikely]]
    bucket = bring_near();
  return open_bucket(bucket);
}

// The open bucket held more than two events, or two instants. Most often it is one instant all the same.
[[gnu::hot, gnu::noinline]] bool EventQueue::lay_out_bucket(std::uint32_t first) {
  std::uint32_t* const nodes = at_instant_.data();
  std::size_t count = 0;
  for (std::uint32_t link = first; link != kNone; link = next_[nodes[count++]]) {
    if (((link ^ first) & kFineMask) != 0) {
      spread(first);
      return false;
    }
    nodes[count] = link >> kFineBits;
    prefetch(&events_[nodes[count]]);
  }
  left_ = count;
  instant_ = instant_of(first);
  order_instant(true);
  expect_trains();
  return true;
}

// Most often a bucket holds but one event, or two of one instant. What is done otherwise is apart, so that
// here no registers are saved for it.
[[gnu::hot]] void EventQueue::open_next_instant() {
  if (filled_instants_ == 0 && open_next_bucket()) return;
  lay_out_instant();
}

[[gnu::hot, gnu::noinline]] std::uint32_t EventQueue::open_next_of_bucket() {
  lay_out_instant();
  return at_instant_[left_ - 1];
}

// The first instant of the open bucket that holds something.
[[gnu::hot, gnu::noinline]] void EventQueue::lay_out_instant() {
  const auto fine = static_cast<std::size_t>(std::countr_zero(filled_instants_));
  filled_instants_ &= filled_instants_ - 1;
  instant_ = Time{(open_ << kFineBits) + static_cast<std::int64_t>(fine)};
  std::uint32_t* const nodes = at_instant_.data();
  std::size_t count = 0;
  for (std::uint32_t node = instants_[fine]; node != kNone; node = next_[node]) nodes[count++] = node;
  left_ = count;
  if (count == 1) return;
  order_instant(false);
  expect_trains();
}

[[gnu::noinline]] const Event* EventQueue::look_ahead_in_instant(std::uint32_t gone) {
  if ((holds_ & kTrain) != 0) {
    const std::uint32_t next = follow(gone);
    if (followers_ == 0 || left_ == 1) holds_ &= kMany;
    if (next != kNone || holds_ != kMany) {
      fetch(at_instant_[left_ - 1]);
      return nullptr;
    }
  }
  if (left_ > kFetchedAhead) fetch_more(at_instant_[left_ - 1 - kFetchedAhead]);
  walk_ahead();
  if (left_ > kForeseen) return &events_[at_instant_[left_ - 1 - kForeseen]];
  if (left_ == 1) holds_ = 0;
  return nullptr;
}

// In large systems many events share an instant. A sort spends most of its time on mispredicted branches;
// here the place of each is the number of events that go behind it, which is counted for several at a time.
void EventQueue::order_instant(bool latest_first) {
  constexpr std::size_t kFewest = 6;
  constexpr std::size_t kMost = 64;
  using Four [[gnu::vector_size(16)]] = std::int32_t;
  constexpr std::size_t kBlock = 16;
  std::uint32_t* const at = at_instant_.data();
  const Event* const events = events_.data();
  const auto goes_later = [events](std::uint32_t a, std::uint32_t b) {
    return events[a].order > events[b].order;  // all are of one time
  };
  const std::size_t count = left_;
  if (count < kFewest) {
    for (std::size_t i = 1; i < count; ++i) {
      const std::uint32_t added = at[i];
      std::size_t place = i;
      for (; place > 0 && goes_later(added, at[place - 1]); --place) at[place] = at[place - 1];
      at[place] = added;
    }
    return;
  }
  // Events of one source are in order already where their list has the latest first: requests that go the
  // same way side by side.
  const bool in_order = std::is_sorted(at, at + count, goes_later);
  if (in_order && EventSource::identity_in(events[at[0]].order ^ events[at[count - 1]].order) == 0)
    look_for_trains();
  if (!in_order && count > kMost) {
    sort_instant(latest_first);
  } else if (!in_order) {
    // Unlike keys of 31 bits: the source, and the turn in the list for events of one source.
    const std::uint32_t turns = latest_first ? kMost - 1 : 0;
    alignas(Four) std::array<std::int32_t, kMost> keys{};
    std::array<std::uint32_t, kMost> nodes;
    for (std::uint32_t i = 0; i < count; ++i) {
      nodes[i] = at[i];
      const auto source = static_cast<std::uint32_t>(events[nodes[i]].order >> EventSource::kIdentityShift);
      keys[i] = static_cast<std::int32_t>(source << 6U | (i ^ turns));
    }
    for (std::size_t start = 0; start < count; start += kBlock) {
      std::array<Four, kBlock / 4> block;
      std::memcpy(&block, &keys[start], sizeof block);
      std::array<Four, kBlock / 4> behind{};
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < block.size(); ++j) behind[j] -= keys[i] > block[j];  // true is minus one
      }
      const auto places = std::bit_cast<std::array<std::uint32_t, kBlock>>(behind);
      const std::size_t rest = std::min(kBlock, count - start);
      for (std::size_t j = 0; j < rest; ++j) at[places[j]] = nodes[start + j];
    }
  }
  // Few sources send two events to one instant, and out of their order.
  if (!in_order && !std::is_sorted(at, at + count, goes_later)) std::sort(at, at + count, goes_later);
  if (count < kCrowded) return;
  // The events whose turn comes first are fetched now, all others while events happen.
  holds_ |= kMany;
  look_ahead();
  for (std::size_t i = count; i > 0 && i + kFetchedAhead > count; --i) fetch_more(at[i - 1]);
}

// Very many, by the digits of their sources (Knuth, 5.2.5): stable, so that the events of one source stay in
// the order of the list, in which the latest comes first or last.
void EventQueue::sort_instant(bool latest_first) {
  constexpr unsigned kDigit = 8;
  constexpr std::uint64_t kMask = (1U << kDigit) - 1;
  const std::size_t count = left_;
  if (sorted_.size() < 2 * count) sorted_.resize(2 * count);
  std::uint64_t* from = sorted_.data();
  std::uint64_t* to = from + count;
  std::uint64_t unlike = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t node = at_instant_[latest_first ? i : count - 1 - i];
    const std::uint64_t source = EventSource::identity_in(events_[node].order);
    from[i] = (EventSource::kMost - 1 - source) << 32U | node;  // the last source comes first
    unlike |= from[i] ^ from[0];
  }
  for (unsigned shift = 32; unlike >> shift != 0; shift += kDigit) {
    std::array<std::uint32_t, kMask + 1> begins{};
    for (std::size_t i = 0; i < count; ++i) ++begins[from[i] >> shift & kMask];
    std::uint32_t end = 0;
    for (std::uint32_t& begin : begins) begin = std::exchange(end, end + begin);
    for (std::size_t i = 0; i < count; ++i) to[begins[from[i] >> shift & kMask]++] = from[i];
    std::swap(from, to);
  }
  for (std::size_t i = 0; i < count; ++i) at_instant_[i] = static_cast<std::uint32_t>(from[i]);
}

// Gives the events of the first turn that has far ones to the wheel, which holds nothing before that turn: it
// goes there. Returns the first bucket that is filled then.
[[gnu::noinline]] std::int64_t EventQueue::bring_near() {
  open_ = (far_.first() << kTurnBits) - 1;
  std::uint32_t node = far_.take_first(next_);
  while (node != kNone) {
    const std::uint32_t next = next_[node];
    if (next != kNone) prefetch(&events_[next]);
    link_in_bucket(node, events_[node].time);
    node = next;
  }
  return next_filled_bucket();
}

}  // namespace cxloom
