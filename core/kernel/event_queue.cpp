#include "kernel/event_queue.hpp"

#include <algorithm>
#include <bit>

namespace cxloom {

namespace {

struct Later {
  bool operator()(const Event& a, const Event& b) const { return b.before(a); }
};

}  // namespace

EventQueue::EventQueue() : heads_(kBuckets, kNone) {}

void EventQueue::grow() {
  const std::size_t old = events_.size();
  events_.resize(std::max<std::size_t>(256, old * 2));
  next_.resize(events_.size());
  for (std::size_t i = events_.size(); i-- > old;) give_node(static_cast<std::uint32_t>(i));
}

void EventQueue::push_late(const Event& event) {
  late_.push_back(event);
  std::push_heap(late_.begin(), late_.end(), Later{});
}

void EventQueue::pop_late() {
  std::pop_heap(late_.begin(), late_.end(), Later{});
  late_.pop_back();
}

void EventQueue::push_far(const Event& event) {
  far_.push_back(event);
  std::push_heap(far_.begin(), far_.end(), Later{});
}

std::int64_t EventQueue::next_filled_bucket() const {
  const auto start = static_cast<std::size_t>((open_ + 1) & (kBuckets - 1));
  const auto at_slot = [&](std::size_t slot) {
    return open_ + 1 + static_cast<std::int64_t>((slot - start) & (kBuckets - 1));
  };
  const auto first_of = [&](std::size_t word) {
    return at_slot((word << 6U) + static_cast<std::size_t>(std::countr_zero(words_[word])));
  };
  // The rest of the word at hand, the rest of its summary, then the summaries round the wheel.
  const std::size_t word = start >> 6U;
  if (const std::uint64_t rest = words_[word] >> (start & 63U); rest != 0) {
    return at_slot(start + static_cast<std::size_t>(std::countr_zero(rest)));
  }
  const std::size_t block = word >> 6U;
  if (const std::uint64_t rest = (summary_[block] >> (word & 63U)) >> 1U; rest != 0) {
    return first_of(word + 1 + static_cast<std::size_t>(std::countr_zero(rest)));
  }
  for (std::size_t step = 1; step <= summary_.size(); ++step) {
    const std::size_t next = (block + step) % summary_.size();
    if (summary_[next] != 0)
      return first_of((next << 6U) + static_cast<std::size_t>(std::countr_zero(summary_[next])));
  }
  return -1;
}

void EventQueue::open_next_bucket() {
  std::int64_t bucket = next_filled_bucket();
  if (!far_.empty()) {
    const std::int64_t far = bucket_of(far_.front().time);
    if (bucket < 0 || far < bucket) bucket = far;
  }
  const std::int64_t before = open_;
  open_ = bucket;
  if (bucket - before < kBuckets) {  // a bucket further away has come from the heap alone
    const auto slot = static_cast<std::size_t>(bucket & (kBuckets - 1));
    for (std::uint32_t node = heads_[slot]; node != kNone; node = next_[node]) sorted_.push_back(node);
    heads_[slot] = kNone;
    words_[slot >> 6U] &= ~(1ULL << (slot & 63U));
    if (words_[slot >> 6U] == 0) summary_[slot >> 12U] &= ~(1ULL << ((slot >> 6U) & 63U));
  }
  while (!far_.empty() && bucket_of(far_.front().time) == bucket) {
    const std::uint32_t node = take_node();
    events_[node] = far_.front();
    sorted_.push_back(node);
    std::pop_heap(far_.begin(), far_.end(), Later{});
    far_.pop_back();
  }
  if (sorted_.size() > 1) {
    std::sort(sorted_.begin(), sorted_.end(),
              [this](std::uint32_t a, std::uint32_t b) { return events_[b].before(events_[a]); });
  }
}

}  // namespace cxloom
