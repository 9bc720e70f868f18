// Functions of a program in C in the place of caches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "coherence/external/outside_cache.hpp"
#include "cxloom/cxloom.h"
#include "tags/cache_array.hpp"

namespace cxloom {

/// A state, as programs number them.
inline int number_of(LineState state) {
  switch (state) {
    case LineState::kShared: return CXLOOM_SHARED;
    case LineState::kClean: return CXLOOM_EXCLUSIVE;
    case LineState::kDirty: return CXLOOM_MODIFIED;
    default: return CXLOOM_INVALID;
  }
}
inline LineState state_of(int number) {
  switch (number) {
    case CXLOOM_INVALID: return LineState::kInvalid;
    case CXLOOM_SHARED: return LineState::kShared;
    case CXLOOM_EXCLUSIVE: return LineState::kClean;
    case CXLOOM_MODIFIED: return LineState::kDirty;
    default:
      throw InputError(
          {"an unknown state of a line", std::to_string(number), "CXLOOM_INVALID to CXLOOM_MODIFIED", {}});
  }
}

/// That of one device.
class CCache final : public OutsideCache {
 public:
  CCache(cxloom_snoop snoop, void* user) : snoop_(snoop), user_(user) {}

  void snooped(std::uint64_t number, LineAddress line, SnoopFor purpose) override {
    const int wanted = purpose == SnoopFor::kInvalidate ? CXLOOM_TO_INVALIDATE
                       : purpose == SnoopFor::kShare    ? CXLOOM_TO_SHARE
                                                        : CXLOOM_FOR_CURRENT;
    snoop_(user_, number, line.address().value(), wanted);
  }

 private:
  cxloom_snoop snoop_;
  void* user_;
};

using CCaches = std::vector<std::unique_ptr<CCache>>;

}  // namespace cxloom
