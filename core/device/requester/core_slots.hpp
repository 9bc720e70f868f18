// Slots that the accesses of a core take in turns: fill buffers, and walkers of page tables.
#pragma once

#include <cstdint>
#include <deque>

#include "device/requester/core_access.hpp"
#include "device/requester/core_params.hpp"

namespace cxloom {

/// A number of slots, taken in the order in which they are asked for.
class CoreSlots {
 public:
  explicit CoreSlots(std::uint32_t slots) : free_(slots) {}

  /// Whether the access has one. Else it waits, and `release` gives it when it has.
  bool take(CoreAccess& access) {
    if (free_ == 0) {
      waiting_.push_back(&access);
      return false;
    }
    --free_;
    return true;
  }
  /// One is free again. Gives the access that has it now; null if none waits.
  CoreAccess* release() {
    if (waiting_.empty()) {
      ++free_;
      return nullptr;
    }
    CoreAccess* const first = waiting_.front();
    waiting_.pop_front();
    return first;
  }

 private:
  std::uint32_t free_;
  std::deque<CoreAccess*> waiting_;
};

/// The page walkers of a core: each goes through the loads of one walk, which wait for one another.
class WalkerSlots {
 public:
  /// Without a TLB walks have no limit: a trace may have some all the same.
  explicit WalkerSlots(const CoreParams& params)
      : walkers_(params.tlb ? params.tlb->walkers : ~std::uint32_t{0}) {}

  /// Whether a load of a walk has a walker. Else it waits, and `release` gives it when it has one.
  bool take(CoreAccess& walk) {
    if (!walk.has_walker) walk.has_walker = walkers_.take(walk);
    return walk.has_walker;
  }
  /// A walk is through. Gives the first load of one that has its walker now; null if there is none.
  CoreAccess* release() {
    CoreAccess* const first = walkers_.release();
    if (first != nullptr) first->has_walker = true;
    return first;
  }
  /// The loads of a walk belong to one instruction, and each waits for the one before.
  static bool goes_on(const CoreAccess& walk, const CoreAccess& dependent) {
    return dependent.walk && dependent.core == walk.core && dependent.position == walk.position;
  }

 private:
  CoreSlots walkers_;
};

}  // namespace cxloom
