// Sums of the segments of many accounts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/units.hpp"
#include "protocol/account.hpp"

namespace cxloom {

/// Sums in 128 bits, at the cost of additions in 64: short accounts gather in words that are emptied before they can overflow.
class SegmentSums {
 public:
  using Sums = std::array<Wide, kSegmentCount>;

  /// Adds an account whose segments sum to `length`.
  void add(const Account& account, Time length) {
    if (length.ps() >= kLong) [[unlikely]] {
      for (std::size_t i = 0; i < kSegmentCount; ++i) sums_[i] += ps(account, i);
      return;
    }
    for (std::size_t i = 0; i < kSegmentCount; ++i) gathered_[i] += ps(account, i);
    if (++count_ == kMost) [[unlikely]] {
      sums_ = in_ps();
      gathered_ = {};
      count_ = 0;
    }
  }

  Sums in_ps() const {
    Sums sums = sums_;
    for (std::size_t i = 0; i < kSegmentCount; ++i) sums[i] += gathered_[i];
    return sums;
  }

 private:
  static constexpr std::int64_t kLong = std::int64_t{1} << 40;  // a second
  static constexpr std::uint32_t kMost = 1U << 22U;             // of less than 2^40 sum to less than 2^62

  static std::uint64_t ps(const Account& account, std::size_t segment) {
    return static_cast<std::uint64_t>(account.segments[segment].ps());
  }

  std::array<std::uint64_t, kSegmentCount> gathered_{};
  std::uint32_t count_ = 0;
  Sums sums_{};
};

}  // namespace cxloom
