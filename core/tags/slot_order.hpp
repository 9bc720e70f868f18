// The slots of each set of a tag array in order: free ones first, then full ones from the oldest on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/prefetch.hpp"
#include "base/zeroed_array.hpp"
#include "tags/slot.hpp"
#include "tags/slot_pins.hpp"

namespace cxloom {

/// A doubly linked list for each set, which ends in a sentinel of its own. "Old" is since insertion or,
/// with `moves_when_used`, since the last use. Everything takes constant time. The list has only one of
/// the slots that never held a line, the next to be taken, so that a large order takes no time to lay out.
class SlotOrder {
 public:
  SlotOrder(std::uint32_t sets, std::uint32_t ways, bool moves_when_used)
      : links_(std::size_t{sets} * ways + sets),
        slots_(sets * ways),
        ways_(ways),
        moves_when_used_(moves_when_used) {}

  /// What one takes of memory.
  static std::uint64_t bytes(std::uint64_t sets, std::uint64_t slots) {
    return (sets + slots) * sizeof(Links);
  }

  /// The oldest and the newest slot that is not pinned. The set has no free slot,
  /// and one that is not pinned. Each pinned slot on the way there is a step.
  Slot oldest(std::uint32_t set, const SlotPins& pins) const {
    Slot slot = links_[sentinel(set)].next;
    while (pins.pinned(slot)) slot = links_[slot].next;
    return slot;
  }
  Slot newest(std::uint32_t set, const SlotPins& pins) const {
    Slot slot = links_[sentinel(set)].previous;
    while (pins.pinned(slot)) slot = links_[slot].previous;
    return slot;
  }

  /// Calls `visit(slot)` from the newest on, as long as that returns true; behind the oldest come free slots.
  template <class Visit>
  void newest_first(std::uint32_t set, Visit&& visit) const {
    Slot slot = links_[sentinel(set)].previous;
    if (slot == 0 && set > 0) return;  // nothing has been in the set yet: slot 0 is the first one's
    while (slot < slots_ && visit(slot)) slot = links_[slot].previous;
  }

  /// True if a use of the slot changes nothing, which is the case of most hits.
  bool settled(Slot slot) const { return !moves_when_used_ || links_[slot].next >= slots_; }
  void used(std::uint32_t set, Slot slot) {
    if (!settled(slot)) move_before(sentinel(set), slot);
  }
  void inserted(std::uint32_t set, Slot slot) {
    const std::uint32_t end = sentinel(set);
    move_before(end, slot);
    const Slot next = slot + 1;  // of this set, unless that ends here
    if (!linked(next) && next != (set + 1) * ways_) [[unlikely]]
      link_before(links_[end].next, next);
  }
  void freed(std::uint32_t set, Slot slot) {
    unlink(slot);
    link_before(links_[sentinel(set)].next, slot);
  }
  /// The slot that `first` gives, of a set that has been used. Of others one of those that it may give.
  Slot next(std::uint32_t set) const { return links_[sentinel(set)].next; }
  /// Asks memory for what a use of the slot changes.
  [[gnu::always_inline]] void foresee(Slot slot) const { prefetch(&links_[slot]); }
  [[gnu::always_inline]] void foresee_neighbours(Slot slot) const {
    prefetch(&links_[links_[slot].previous]);
    prefetch(&links_[links_[slot].next]);
  }
  /// Asks for what a line that comes into the set changes, whichever slot it gets.
  [[gnu::always_inline]] void foresee_set(std::uint32_t set) const {
    prefetch(&links_[sentinel(set)]);
    prefetch(&links_[std::size_t{set} * ways_]);
    prefetch(&links_[std::size_t{set} * ways_ + ways_ - 1]);
  }
  /// A free slot, if the set has one; the oldest, if not.
  Slot first(std::uint32_t set) {
    const std::uint32_t end = sentinel(set);
    // A list of one slot, or of none yet.
    if (links_[end].next == links_[end].previous) [[unlikely]] {
      links_[end] = {set * ways_, set * ways_};
      links_[set * ways_] = {end, end};
    }
    return links_[end].next;
  }

 private:
  struct Links {
    std::uint32_t previous;
    std::uint32_t next;
  };

  std::uint32_t sentinel(std::uint32_t set) const { return slots_ + set; }
  /// Whether a slot is in the list of its set: one of its neighbours is not slot 0.
  bool linked(Slot slot) const { return (links_[slot].previous | links_[slot].next) != 0; }
  void unlink(std::uint32_t at) {
    const Links links = links_[at];
    links_[links.previous].next = links.next;
    links_[links.next].previous = links.previous;
  }
  void link_before(std::uint32_t successor, std::uint32_t at) {
    const std::uint32_t previous = links_[successor].previous;
    links_[at] = {previous, successor};
    links_[previous].next = at;
    links_[successor].previous = at;
  }
  void move_before(std::uint32_t successor, std::uint32_t at) {
    unlink(at);
    link_before(successor, at);
  }

  ZeroedArray<Links> links_;  // of the slots, then of the sentinels
  std::uint32_t slots_;
  std::uint32_t ways_;
  bool moves_when_used_;
};

}  // namespace cxloom
