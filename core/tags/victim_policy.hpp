// Which line leaves a full set: the order of its slots, kept so that every policy answers in constant time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/random.hpp"
#include "base/zeroed_array.hpp"

namespace cxloom {

/// The index of a line's place in a tag array; stable as long as the line stays.
using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};

enum class VictimPolicy : std::uint8_t {
  kLru,     ///< the least recently used
  kFifo,    ///< the first inserted
  kLifo,    ///< the last inserted
  kMru,     ///< the most recently used
  kRandom,  ///< any, with equal chance
};

/// The slots of each set as a doubly linked list: free ones first, then used ones from the oldest to the newest, where
/// "old" is since insertion or since the last use, as the policy has it. A set's list ends in a sentinel of its own. Of the
/// slots that never held a line only the next one to be taken is in it, so that a large order takes no time to lay out.
class VictimOrder {
 public:
  VictimOrder(VictimPolicy policy, std::uint32_t sets, std::uint32_t ways)
      : links_(std::size_t{sets} * ways + sets),
        slots_(sets * ways),
        ways_(ways),
        policy_(policy),
        moves_when_used_(policy == VictimPolicy::kLru || policy == VictimPolicy::kMru) {}

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

  /// A free slot, if the set has one.
  Slot first(std::uint32_t set) {
    const std::uint32_t end = sentinel(set);
    // Of one slot, or of none yet.
    if (links_[end].next == links_[end].previous) [[unlikely]] {
      links_[end] = {set * ways_, set * ways_};
      links_[set * ways_] = {end, end};
    }
    return links_[end].next;
  }
  /// The slot to empty in a set without a free one.
  Slot victim(std::uint32_t set, RandomStream& random) const {
    switch (policy_) {
      case VictimPolicy::kLru:
      case VictimPolicy::kFifo: return links_[sentinel(set)].next;
      case VictimPolicy::kLifo:
      case VictimPolicy::kMru: return links_[sentinel(set)].previous;
      case VictimPolicy::kRandom: break;
    }
    return set * ways_ + static_cast<Slot>(random.below(ways_));
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
  VictimPolicy policy_;
  bool moves_when_used_;
};

}  // namespace cxloom
