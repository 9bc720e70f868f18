// A function that is the region of interest, with all that it calls.
#pragma once

#include <cstdint>

#include "program/feed/block.hpp"

namespace cxloom {

/// Whether one thread is within the function, which ends with the return of the call that began it.
class FunctionRegion {
 public:
  /// The function's first instruction is executed: true if the region begins with it.
  bool enter() {
    if (depth_ > 0) return false;
    depth_ = 1;
    return true;
  }
  bool inside() const { return depth_ > 0; }
  /// A block ends within the function, with an instruction of that class: true if the region ends with it.
  bool leave(InstructionClass last) {
    if (last == InstructionClass::kCall) ++depth_;
    return last == InstructionClass::kReturn && --depth_ == 0;
  }

 private:
  std::uint64_t depth_ = 0;  // of calls within the function, its own included; 0: not in it
};

}  // namespace cxloom
