// Which line leaves a full set: the interface of a victim policy. A kind is a file of its own and a line in
// `register_victims`, or in the `CXLOOM_PLUGIN` of a plug-in.
//
// The tag array keeps the lines of each set in the order of their insertion, or of their last use, whichever
// the policy wants, and asks it for a victim only of a set without a free slot. A policy that goes by that
// order need not hear of anything else; one that keeps something of its own hears what happens.
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "base/units.hpp"
#include "tags/cache_kinds.hpp"
#include "tags/line_block.hpp"
#include "tags/slot.hpp"
#include "tags/slot_order.hpp"
#include "tags/slot_pins.hpp"

namespace cxloom {

class TagArray;

/// What a policy finds around itself when it is made.
struct VictimContext {
  std::uint32_t sets;
  std::uint32_t ways;
  RandomStream random;    ///< a stream of the array's own
  BlockRule blocks = {};  ///< which lines may leave together; one by one, unless the array's owner says so
};

class VictimPolicy {
 public:
  virtual ~VictimPolicy() = default;

  /// The slot to empty in a full set, one of the set's own, from `set * ways` to `set * ways + ways - 1`,
  /// that is not pinned; there is such a one. It may be asked again before that has happened.
  virtual Slot victim(std::uint32_t set, const SlotOrder& order, const SlotPins& pins) = 0;

  /// Whether the order is that of the last uses instead of the insertions.
  virtual bool orders_by_use() const { return false; }
  /// Whether it hears of what follows.
  virtual bool listens() const { return false; }
  /// `line` has come into a slot that was free, or that held the victim. Others are looked up in `tags`, as
  /// they are now.
  virtual void inserted(std::uint32_t /*set*/, Slot /*slot*/, LineAddress /*line*/,
                        const TagArray& /*tags*/) {}
  virtual void used(std::uint32_t /*set*/, Slot /*slot*/) {}
  /// `line` has left, and nothing took its place.
  virtual void freed(std::uint32_t /*set*/, Slot /*slot*/, LineAddress /*line*/, const TagArray& /*tags*/) {}
  /// The line in the slot must stay, until it is unpinned. One that is pinned is unpinned before it leaves.
  virtual void pinned(std::uint32_t /*set*/, Slot /*slot*/) {}
  virtual void unpinned(std::uint32_t /*set*/, Slot /*slot*/) {}
};

/// Registers the policies that come with cxloom.
void register_victims(VictimRegistry& registry);

/// What a policy keeps of a slot, at most; but for `2q`, whose lists and memory are not in the estimate.
inline constexpr std::uint64_t kMostBytesOfPolicy = 10;

}  // namespace cxloom
