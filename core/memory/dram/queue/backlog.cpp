#include "memory/dram/queue/backlog.hpp"

#include <algorithm>

namespace cxloom {

void DramBacklog::push(const DramArrival& arrival) {
  std::uint32_t entry = free_;
  if (entry == kNone) {
    entry = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    free_ = entries_[entry].next;
  }
  entries_[entry] = {arrival, kNone};
  ++waiting_;
  const std::uint32_t requester = index(arrival.burst.requester);
  if (requester >= requesters_.size()) {
    requesters_.resize(requester + std::size_t{1});
    queued_.resize(std::max(queued_.size(), requesters_.size()));
  }
  RequesterQueue& own = requesters_[requester];
  (own.first == kNone ? own.first : entries_[own.last].next) = entry;
  own.last = entry;
  if (own.level == kNone) link(requester, queued_[requester]);
}

DramArrival DramBacklog::pop() {
  while (levels_[lowest_].first == kNone) ++lowest_;
  const std::uint32_t index = levels_[lowest_].first;
  unlink(index);
  RequesterQueue& own = requesters_[index];
  const std::uint32_t entry = own.first;
  own.first = entries_[entry].next;
  entries_[entry].next = free_;
  free_ = entry;
  --waiting_;
  if (own.first != kNone) link(index, queued_[index] + 1);
  return entries_[entry].arrival;
}

void DramBacklog::fewer(std::uint32_t index) {
  if (index >= requesters_.size() || requesters_[index].level == kNone) return;
  unlink(index);
  link(index, queued_[index]);
}

void DramBacklog::link(std::uint32_t index, std::uint32_t at) {
  RequesterQueue& own = requesters_[index];
  own.level = at;
  Level& level = levels_[at];
  own.before = level.last;
  own.after = kNone;
  (level.last == kNone ? level.first : requesters_[level.last].after) = index;
  level.last = index;
  lowest_ = std::min(lowest_, at);
}

void DramBacklog::unlink(std::uint32_t index) {
  RequesterQueue& own = requesters_[index];
  Level& level = levels_[own.level];
  (own.before == kNone ? level.first : requesters_[own.before].after) = own.after;
  (own.after == kNone ? level.last : requesters_[own.after].before) = own.before;
  own.level = kNone;
}

}  // namespace cxloom
