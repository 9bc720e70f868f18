#include "kernel/far_events.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace cxloom {

FarEvents::FarEvents() { heads_.fill(kNone); }

void FarEvents::add(std::uint32_t node, std::int64_t bucket, std::int64_t open,
                    std::vector<std::uint32_t>& next) {
  first_ = std::min(first_, bucket);
  if (bucket - open >= kBuckets) {
    heap_.emplace_back(bucket, node);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    return;
  }
  const std::size_t slot = slot_of(bucket);
  next[node] = heads_[slot];
  heads_[slot] = node;
  filled_[slot >> 6U] |= 1ULL << (slot & 63U);
  filled_words_ |= 1ULL << (slot >> 6U);
}

std::uint32_t FarEvents::take_first(std::vector<std::uint32_t>& next) {
  const std::size_t slot = slot_of(first_);
  const std::size_t word = slot >> 6U;
  std::uint32_t list = kNone;
  if (next_in_wheel(first_ - 1) == first_) {
    list = std::exchange(heads_[slot], kNone);
    filled_[word] &= ~(1ULL << (slot & 63U));
    if (filled_[word] == 0) filled_words_ &= ~(1ULL << word);
  }
  while (!heap_.empty() && heap_.front().first == first_) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    next[heap_.back().second] = std::exchange(list, heap_.back().second);
    heap_.pop_back();
  }
  first_ = std::min(next_in_wheel(first_), heap_.empty() ? kNever : heap_.front().first);
  return list;
}

// The first bucket of the wheel that holds something, behind one before which all are empty.
std::int64_t FarEvents::next_in_wheel(std::int64_t after) const {
  if (filled_words_ == 0) return kNever;
  const std::size_t start = slot_of(after + 1);
  const std::size_t word = start >> 6U;
  const auto at_slot = [&](std::size_t slot) {
    return after + 1 + static_cast<std::int64_t>(slot_of(static_cast<std::int64_t>(slot - start)));
  };
  if (const std::uint64_t rest = filled_[word] >> (start & 63U); rest != 0) {
    return at_slot(start + static_cast<std::size_t>(std::countr_zero(rest)));
  }
  // The words behind it, round the wheel; last this one's begin.
  const auto turn = static_cast<int>((word + 1) & 63U);
  const auto steps = static_cast<std::size_t>(std::countr_zero(std::rotr(filled_words_, turn)));
  const std::size_t found = (word + 1 + steps) & 63U;
  return at_slot((found << 6U) + static_cast<std::size_t>(std::countr_zero(filled_[found])));
}

}  // namespace cxloom
