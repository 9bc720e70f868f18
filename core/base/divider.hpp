// Division by a number that is known late and used often: a multiplication and a shift.
#pragma once

#include <bit>
#include <cstdint>

#include "base/units.hpp"

namespace cxloom {

/// Exact for dividends below 2^63 (Granlund and Montgomery, PLDI 1994).
class Divider {
 public:
  explicit Divider(std::uint64_t divisor)
      : shift_(static_cast<unsigned>(std::bit_width(divisor - 1))),
        multiplier_(static_cast<std::uint64_t>(((Wide{1} << (63U + shift_)) + divisor - 1) / divisor)) {}

  std::uint64_t operator()(std::uint64_t dividend) const {
    return static_cast<std::uint64_t>(Wide{dividend << 1U} * multiplier_ >> 64U) >> shift_;
  }

 private:
  unsigned shift_;  // bits of the divisor: the least with divisor <= 2^shift
  std::uint64_t multiplier_;
};

}  // namespace cxloom
