#include "tags/victim_2q.hpp"

#include <algorithm>

#include "base/schema.hpp"

namespace cxloom {

void TwoQueueVictims::Params::describe(Schema<Params>& schema) {
  schema.doc(
      "2Q: a line that comes in waits in a queue, in order, and leaves by it; one that comes again soon "
      "after that is "
      "kept by use. Lines that are wanted once, however many, do not push out what is wanted again.");
  schema.field("in", &Params::in)
      .fraction()
      .doc("Share of a set that lines which came for the first time may take (Kin); at least one.")
      .source("Johnson and Shasha, VLDB 1994: Kin should be 25 % of the page slots");
  schema.field("out", &Params::out)
      .min(0.0)
      .max(16.0)
      .doc("Lines that left that queue and are remembered, as a share of a set (Kout).")
      .source(
          "Johnson and Shasha, VLDB 1994: Kout, identifiers of as many pages as fit in 50 % of the buffer");
}

TwoQueueVictims::TwoQueueVictims(const Params& params, const VictimContext& context)
    : most_in_(std::max(1U, static_cast<std::uint32_t>(params.in * context.ways))),
      entries_(std::size_t{context.sets} * context.ways),
      sets_(context.sets) {
  const auto remembered = static_cast<std::uint32_t>(params.out * context.ways);
  for (Set& set : sets_) set.left.resize(remembered);
  left_ = LineIndex(remembered * context.sets + 1);
}

void TwoQueueVictims::append(std::uint32_t set, Slot slot, Queue queue) {
  List& list = list_of(set, queue);
  QueuedLine& entry = entries_[slot];
  entry.queue = queue;
  entry.previous = list.last;
  entry.next = kNoSlot;
  (list.last == kNoSlot ? list.first : entries_[list.last].next) = slot;
  list.last = slot;
  ++list.size;
}

void TwoQueueVictims::unlink(std::uint32_t set, Slot slot) {
  QueuedLine& entry = entries_[slot];
  List& list = list_of(set, entry.queue);
  (entry.previous == kNoSlot ? list.first : entries_[entry.previous].next) = entry.next;
  (entry.next == kNoSlot ? list.last : entries_[entry.next].previous) = entry.previous;
  entry.queue = Queue::kNone;
  --list.size;
}

/// In the place of the one that has been remembered longest.
void TwoQueueVictims::remember(std::uint32_t set, std::uint64_t line) {
  std::vector<std::uint64_t>& ring = sets_[set].left;
  if (ring.empty()) return;
  std::size_t& at = sets_[set].oldest;
  if (ring[at] != 0) left_.erase(LineAddress{ring[at] - 1});
  ring[at] = line + 1;
  left_.insert(LineAddress{line}, static_cast<Slot>(at));
  at = at + 1 == ring.size() ? 0 : at + 1;
}

bool TwoQueueVictims::recall(std::uint32_t set, std::uint64_t line) {
  const Slot at = left_.find(LineAddress{line});
  if (at == kNoSlot) return false;
  sets_[set].left[at] = 0;
  left_.erase(LineAddress{line});
  return true;
}

void TwoQueueVictims::inserted(std::uint32_t set, Slot slot, LineAddress line, const TagArray& /*tags*/) {
  const QueuedLine before = entries_[slot];
  if (before.queue != Queue::kNone) unlink(set, slot);
  const bool again = recall(set, line.number());
  if (before.queue == Queue::kIn) remember(set, before.line);
  entries_[slot].line = line.number();
  append(set, slot, again ? Queue::kMain : Queue::kIn);
}

void TwoQueueVictims::used(std::uint32_t set, Slot slot) {
  if (entries_[slot].queue != Queue::kMain) return;
  unlink(set, slot);
  append(set, slot, Queue::kMain);
}

void TwoQueueVictims::freed(std::uint32_t set, Slot slot, LineAddress line, const TagArray& /*tags*/) {
  // A cache may take the victim out before its successor comes.
  const bool came_in = entries_[slot].queue == Queue::kIn;
  unlink(set, slot);
  if (came_in) remember(set, line.number());
}

Slot TwoQueueVictims::first_of(const List& list, const SlotPins& pins) const {
  Slot slot = list.first;
  while (slot != kNoSlot && pins.pinned(slot)) slot = entries_[slot].next;
  return slot;
}

Slot TwoQueueVictims::victim(std::uint32_t set, const SlotOrder& /*order*/, const SlotPins& pins) {
  const Set& lists = sets_[set];
  const bool in_first = lists.in.size > most_in_;
  const Slot first = first_of(in_first ? lists.in : lists.main, pins);
  return first != kNoSlot ? first : first_of(in_first ? lists.main : lists.in, pins);
}

}  // namespace cxloom
