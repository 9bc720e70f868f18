// A device that serves memory: the address map may lead to it.
#pragma once

#include "base/units.hpp"

namespace cxloom {

class MemoryOwner {
 public:
  virtual Bytes memory_capacity() const = 0;

 protected:
  ~MemoryOwner() = default;
};

}  // namespace cxloom
