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
  if (requester >= lanes_.size()) {
    lanes_.resize(requester + std::size_t{1});
    queued_.resize(std::max(queued_.size(), lanes_.size()));
  }
  Lane& own = lanes_[requester];
  (own.first == kNone ? own.first : entries_[own.last].next) = entry;
  own.last = entry;
  if (own.level == kNone) link(requester, queued_[requester]);
}

DramArrival DramBacklog::pop() {
  while (levels_[lowest_].first == kNone) ++lowest_;
  const std::uint32_t index = levels_[lowest_].first;
  unlink(index);
  Lane& lane = lanes_[index];
  const std::uint32_t entry = lane.first;
  lane.first = entries_[entry].next;
  entries_[entry].next = free_;
  free_ = entry;
  --waiting_;
  if (lane.first != kNone) link(index, queued_[index] + 1);
  return entries_[entry].arrival;
}

void DramBacklog::fewer(std::uint32_t index) {
  if (index >= lanes_.size() || lanes_[index].level == kNone) return;
  unlink(index);
  link(index, queued_[index]);
}

void DramBacklog::link(std::uint32_t index, std::uint32_t at) {
  Lane& lane = lanes_[index];
  lane.level = at;
  Level& level = levels_[at];
  lane.before = level.last;
  lane.after = kNone;
  (level.last == kNone ? level.first : lanes_[level.last].after) = index;
  level.last = index;
  lowest_ = std::min(lowest_, at);
}

void DramBacklog::unlink(std::uint32_t index) {
  Lane& lane = lanes_[index];
  Level& level = levels_[lane.level];
  (lane.before == kNone ? level.first : lanes_[lane.before].after) = lane.after;
  (lane.after == kNone ? level.last : lanes_[lane.after].before) = lane.before;
  lane.level = kNone;
}

}  // namespace cxloom
