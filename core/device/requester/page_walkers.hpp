// The page walkers of a core: each goes through the loads of one walk, which wait for one another.
#pragma once

#include <cstdint>

#include "device/requester/core_params.hpp"
#include "device/requester/core_slots.hpp"

namespace cxloom {

class PageWalkers {
 public:
  /// Without a TLB walks have no limit: a trace may have some all the same.
  explicit PageWalkers(const CoreParams& params)
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
