// A limit of the bytes that are promoted in a window of time, as numa_promotion_rate_limit of Linux has it.
// Kinds that limit share it.
#pragma once

#include <cstdint>

#include "base/units.hpp"

namespace cxloom {

class RateLimit {
 public:
  RateLimit(Bandwidth rate, Time window)
      : unlimited_(rate.rate.unlimited()),
        limit_(unlimited_ ? 0 : rate.rate.per_second() * static_cast<double>(window.ps()) * 1e-12),
        window_(window) {}

  /// So much more is to be promoted; whether it may be.
  bool allows(Time now, Bytes bytes) {
    if (now - start_ > window_) {
      start_ = now;
      used_ = 0;
    }
    if (unlimited_) return true;
    if (static_cast<double>(used_) >= limit_) return false;  // the last page may pass it
    used_ += bytes.count();
    return true;
  }

 private:
  bool unlimited_;
  double limit_;
  Time window_;
  Time start_;
  std::uint64_t used_ = 0;
};

}  // namespace cxloom
