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
  const std::size_t old = nodes_.size();
  nodes_.resize(std::max<std::size_t>(256, old * 2));
  for (std::size_t i = nodes_.size(); i-- > old;) {
    nodes_[i].next = free_;
    free_ = static_cast<std::uint32_t>(i);
  }
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
  if (summary_ == 0) return -1;
  const auto start = static_cast<std::size_t>((open_ + 1) & (kBuckets - 1));
  const std::size_t first_word = start >> 6U;
  // The rest of the first word, then the words after it, then round the wheel to the front.
  std::size_t slot = 0;
  if (const std::uint64_t rest = words_[first_word] >> (start & 63U); rest != 0) {
    slot = start + static_cast<std::size_t>(std::countr_zero(rest));
  } else {
    const std::uint64_t after = first_word == 63 ? 0 : summary_ >> (first_word + 1) << (first_word + 1);
    const std::uint64_t words = after != 0 ? after : summary_;
    const auto word = static_cast<std::size_t>(std::countr_zero(words));
    slot = (word << 6U) + static_cast<std::size_t>(std::countr_zero(words_[word]));
  }
  const auto distance = static_cast<std::int64_t>((slot - start) & (kBuckets - 1));
  return open_ + 1 + distance;
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
    for (std::uint32_t node = heads_[slot]; node != kNone;) {
      sorted_.push_back(nodes_[node].event);
      const std::uint32_t next = nodes_[node].next;
      nodes_[node].next = free_;
      free_ = node;
      node = next;
    }
    heads_[slot] = kNone;
    words_[slot >> 6U] &= ~(1ULL << (slot & 63U));
    if (words_[slot >> 6U] == 0) summary_ &= ~(1ULL << (slot >> 6U));
  }
  while (!far_.empty() && bucket_of(far_.front().time) == bucket) {
    sorted_.push_back(far_.front());
    std::pop_heap(far_.begin(), far_.end(), Later{});
    far_.pop_back();
  }
  std::sort(sorted_.begin(), sorted_.end(), Later{});
}

}  // namespace cxloom
