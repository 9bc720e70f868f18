// Tags in sets: which lines an array holds, in which slots, and which one leaves when another comes. It knows
// nothing else of a line; caches, cache filters and snoop filters keep more about each in arrays beside it,
// by slot.
#pragma once

#include <cstdint>

#include <memory>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "base/prefetch.hpp"
#include "base/units.hpp"
#include "base/zeroed_array.hpp"
#include "tags/slot_index.hpp"
#include "tags/slot_order.hpp"
#include "tags/slot_pins.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

class TagArray {
 public:
  /// Throws InputError if the policy is no kind, or refuses what it finds around itself.
  TagArray(const KindSpec& policy, const VictimRegistry& policies, VictimContext context);

  /// What one takes of memory; of the policies that come with cxloom the one that takes most.
  static std::uint64_t bytes(std::uint64_t sets, std::uint32_t ways);

  std::uint32_t sets() const { return sets_; }
  std::uint32_t ways() const { return ways_; }
  /// Number of slots: slots are 0 .. capacity() - 1.
  std::uint32_t capacity() const { return sets_ * ways_; }
  /// Number of lines held.
  std::uint32_t occupied() const { return occupied_; }
  std::uint32_t set_of(LineAddress line) const {
    const std::uint64_t set = mask_sets_ ? line.number() & (sets_ - 1) : line.number() % sets_;
    return static_cast<std::uint32_t>(set);
  }

  /// The slot of a line, or kNoSlot. Does not count as a use.
  Slot lookup(LineAddress line) const {
    if (indexed_) return index_.find(line, tags_.data(), tag_of(line));
    const Slot first = set_of(line) * ways_;
    const std::uint64_t* tags = tags_.data() + first;
    const std::uint64_t wanted = tag_of(line);
    // Compares every way: leaving early costs a mispredicted branch, which takes longer (27 against 13 ns per
    // hit).
    Slot found = kNoSlot;
    for (std::uint32_t way = 0; way < ways_; ++way) found = tags[way] == wanted ? first + way : found;
    return found;
  }
  /// Asks memory for what `lookup` will look at first: a hint, and no use.
  [[gnu::always_inline]] void foresee(LineAddress line) const {
    if (indexed_) return index_.foresee(line);
    prefetch(tags_.data() + std::size_t{set_of(line)} * ways_);
  }
  /// Asks for what a line that comes in changes beside its tag, long before it does.
  [[gnu::always_inline]] void foresee_place(LineAddress line) const {
    if (!indexed_) order_.foresee_set(set_of(line));
  }
  /// Asks for the slot that `lookup` will find, once what `foresee` has asked for is there. Returns that
  /// slot, or one that is free or will be if there is none; kNoSlot: nobody can tell.
  [[gnu::always_inline]] Slot foresee_slot(LineAddress line) const {
    if (!indexed_) return kNoSlot;
    const Slot likely = index_.likely(line);
    const Slot slot = likely == kNoSlot ? order_.next(set_of(line)) : likely;
    prefetch(&tags_[slot]);
    order_.foresee(slot);
    return slot;
  }
  /// Asks for what a use of the slot writes beside it, once the slot is there.
  [[gnu::always_inline]] void foresee_neighbours(Slot slot) const { order_.foresee_neighbours(slot); }
  /// Whether a slot has this line, which is cheaper to ask than where it is.
  bool holds(Slot slot, LineAddress line) const { return tags_[slot] == tag_of(line); }
  bool contains(LineAddress line) const { return lookup(line) != kNoSlot; }
  /// The line of a slot that has one.
  LineAddress line(Slot slot) const { return LineAddress{tags_[slot] - 1}; }

  /// Calls `visit(slot)` for each line of a set, the one that came last or, if the policy goes by uses, was
  /// used last first.
  template <class Visit>
  void newest_first(std::uint32_t set, Visit&& visit) const {
    order_.newest_first(set, [&](Slot slot) {
      if (free(slot)) return false;
      visit(slot);
      return true;
    });
  }

  /// Tells the victim policy that the line was used.
  void touch(Slot slot) {
    if (!order_.settled(slot)) order_.used(set_of(line(slot)), slot);
    if (listens_) [[unlikely]]
      policy_->used(set_of(line(slot)), slot);
  }

  /// Whether the set of `line` has a free slot.
  bool has_room(LineAddress line) { return free(order_.first(set_of(line))); }
  /// The slot whose line would have to leave for `line`: kNoSlot if there is room, or if every slot of the
  /// set is pinned. A policy that draws does so with each call.
  Slot victim_for(LineAddress line) { return victim_in(set_of(line)); }
  /// Puts in a line that is absent: in the place of `victim`, or in a free slot, which there must be, if that
  /// is kNoSlot.
  Slot place(LineAddress line, Slot victim) { return place_in(set_of(line), line, victim); }
  /// Takes out the line of a slot, with its pin if there is one.
  void erase(Slot slot);

  /// From now on slots can be pinned. A line whose slot is pinned is no victim.
  void allow_pins() { pins_ = SlotPins(sets_, ways_); }
  bool pinned(Slot slot) const { return pins_.pinned(slot); }
  /// The slot has a line, and is not pinned.
  void pin(Slot slot) {
    ensure(!pins_.pinned(slot), "a slot is pinned twice");
    const std::uint32_t set = set_of(line(slot));
    pins_.pin(set, slot);
    if (listens_) [[unlikely]]
      policy_->pinned(set, slot);
  }
  /// The slot is pinned.
  void unpin(Slot slot) {
    ensure(pins_.pinned(slot), "a slot that is not pinned is unpinned");
    const std::uint32_t set = set_of(line(slot));
    pins_.unpin(set, slot);
    if (listens_) [[unlikely]]
      policy_->unpinned(set, slot);
  }

 protected:
  // Insertions are most of the cost of a miss: these are part of each of their callers.
  [[gnu::always_inline]] Slot victim_in(std::uint32_t set) {
    if (free(order_.first(set)) || pins_.in(set) == ways_) return kNoSlot;
    const Slot victim = policy_->victim(set, order_, pins_);
    if (victim - set * ways_ >= ways_ || pins_.pinned(victim)) [[unlikely]]
      refuse(set, victim);
    return victim;
  }
  [[gnu::always_inline]] Slot place_in(std::uint32_t set, LineAddress line, Slot victim) {
    const bool room = victim == kNoSlot;
    const Slot slot = room ? order_.first(set) : victim;
    if (room) ++occupied_;
    if (indexed_) {
      if (!room) leave_index(slot);
      index_.insert(line, slot);
    }
    tags_[slot] = tag_of(line);
    order_.inserted(set, slot);
    if (listens_) policy_->inserted(set, slot, line, *this);
    return slot;
  }

 private:
  static constexpr std::uint64_t kNoLine = 0;  // as a tag, which is the number of the line and one

  static std::uint64_t tag_of(LineAddress line) { return line.number() + 1; }
  bool free(Slot slot) const { return tags_[slot] == kNoLine; }
  void leave_index(Slot slot) {
    index_.erase(line(slot), slot, [this](Slot other) { return line(other); });
  }
  [[noreturn]] void refuse(std::uint32_t set, Slot victim) const;

  std::uint32_t ways_;
  std::uint32_t sets_;
  std::uint32_t occupied_ = 0;
  bool mask_sets_;  // the number of sets is a power of two
  bool indexed_;    // too many ways to compare one by one
  ZeroedArray<std::uint64_t> tags_;
  std::unique_ptr<VictimPolicy> policy_;
  bool listens_;  // the policy hears what happens
  SlotOrder order_;
  SlotPins pins_;
  SlotIndex index_;
};

}  // namespace cxloom
