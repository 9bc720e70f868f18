// A number of slots for accesses of cores, taken in the order in which they are asked for.
#pragma once

#include <cstdint>
#include <deque>

#include "device/requester/core_access.hpp"

namespace cxloom {

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

}  // namespace cxloom
