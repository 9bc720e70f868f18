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

  /// Adds an account whose segments sum to `length`. Most have no rare ones, and are not asked for them.
  void add(const Account& account, Time length) {
    const bool has_rare = account.common_sum() != length;
    if (length.ps() >= kLong) [[unlikely]] {
      add(account.common(), Account::kCommon, sums_.data());
      if (has_rare) add(account.rare(), Account::kRare, sums_.data() + Account::kCommon);
      return;
    }
    add(account.common(), Account::kCommon, gathered_.data());
    if (has_rare) add(account.rare(), Account::kRare, gathered_.data() + Account::kCommon);
    if (++count_ == kMost) [[unlikely]]
      empty();
  }

  /// By the number of the segment.
  Sums in_ps() const {
    Sums sums;
    for (std::size_t i = 0; i < kSegmentCount; ++i) {
      const std::size_t place = Account::order_of(static_cast<Segment>(i));
      sums[i] = sums_[place] + gathered_[place];
    }
    return sums;
  }

 private:
  static constexpr std::int64_t kLong = std::int64_t{1} << 40;  // a second
  static constexpr std::uint32_t kMost = 1U << 22U;             // of less than 2^40 sum to less than 2^62

  template <class Sum>
  static void add(const Time* segments, std::size_t count, Sum* sums) {
    for (std::size_t i = 0; i < count; ++i) sums[i] += static_cast<std::uint64_t>(segments[i].ps());
  }
  void empty() {
    for (std::size_t i = 0; i < kSegmentCount; ++i) sums_[i] += gathered_[i];
    gathered_ = {};
    count_ = 0;
  }

  // The common segments, then the rare ones, in the order of the accounts.
  std::uint32_t count_ = 0;
  std::array<std::uint64_t, kSegmentCount> gathered_{};
  Sums sums_{};
};

}  // namespace cxloom
