#include "memory/dram_queue.hpp"

namespace cxloom {

DramQueue::Slot DramQueue::add(const DramBurst& burst, Clock arrival, std::uint64_t order) {
  Slot slot = static_cast<Slot>(entries_.size());
  if (free_.empty()) {
    entries_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  entries_[slot] = {burst, arrival, order};
  List& list = lists_[burst.bank * 2 + burst.write];
  if (list.first == kNone) {
    list.first = slot;
  } else {
    entries_[list.last].next = slot;
  }
  list.last = slot;
  ++counts_[burst.write];
  return slot;
}

void DramQueue::remove(Slot slot) {
  const DramBurst& burst = entries_[slot].burst;
  List& list = lists_[burst.bank * 2 + burst.write];
  if (list.first == slot) {
    list.first = entries_[slot].next;
  } else {
    Slot before = list.first;
    while (entries_[before].next != slot) before = entries_[before].next;
    entries_[before].next = entries_[slot].next;
    if (list.last == slot) list.last = before;
  }
  --counts_[burst.write];
  free_.push_back(slot);
}

}  // namespace cxloom
