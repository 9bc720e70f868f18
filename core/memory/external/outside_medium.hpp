// What is outside of the simulation in the place of a medium.
#pragma once

#include <cstdint>

#include "base/units.hpp"

namespace cxloom {

struct Message;

class OutsideMedium {
 public:
  /// An access, of `message`, to `address` of the medium begins now. Its end is told by its number, at once
  /// or later.
  virtual void begin(std::uint64_t number, const Message& message, Address address) = 0;

 protected:
  ~OutsideMedium() = default;
};

}  // namespace cxloom
