// What is outside of the simulation in the place of the cache of a device.
#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "coherence/common/snoop_for.hpp"

namespace cxloom {

class OutsideCache {
 public:
  /// A home snoops a line. The answer is told by the snoop's number, at once or later, and waits for no
  /// answer to an access: what is under way for the line comes after the snoop.
  virtual void snooped(std::uint64_t number, LineAddress line, SnoopFor purpose) = 0;

 protected:
  ~OutsideCache() = default;
};

}  // namespace cxloom
