// Sums of the segments of many accounts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/units.hpp"
#include "protocol/account.hpp"

namespace cxloom {

/// Sums in 128 bits, at the cost of additions in 64: short accounts gather in words that are emptied before
/// they can overflow.
class SegmentSums {
 public:
  using Sums = std::array<Wide, kSegmentCount>;

  /// Adds an account whose segments sum to `length`. Of the rare ones most have none, and others only the
  /// last.
  void add(const Account& account, Time length) {
    if (length.ps() >= kLong) [[unlikely]] {
      add(account.common(), Account::kCommon, sums_.data());
      add(account.rare(), Account::kRare, sums_.data() + Account::kCommon);
      return;
    }
    Account::Pair common{};
#pragma GCC unroll 6  // done for every request
    for (std::size_t i = 0; i < Account::kCommon; i += 2)
      common += add_pair(account.common() + i, &gathered_[i]);
    Time left = length - Time{common[0] + common[1]};
    for (std::size_t i = Account::kRare; left != Time{} && i > 0; i -= 2) {
      const Account::Pair rare = add_pair(account.rare() + i - 2, &gathered_[Account::kCommon + i - 2]);
      left -= Time{rare[0] + rare[1]};
    }
    if (++count_ == kMost) [[unlikely]]
      empty();
  }

  /// Adds what others have.
  void merge(const SegmentSums& other) {
    for (std::size_t i = 0; i < kPlaces; ++i)
      sums_[i] += other.sums_[i] + static_cast<std::uint64_t>(other.gathered_[i]);
  }

  /// By the number of the segment.
  Sums in_ps() const {
    Sums sums;
    for (std::size_t i = 0; i < kSegmentCount; ++i) {
      const std::size_t place = Account::order_of(static_cast<Segment>(i));
      sums[i] = sums_[place] + static_cast<std::uint64_t>(gathered_[place]);
    }
    return sums;
  }

 private:
  static constexpr std::int64_t kLong = std::int64_t{1} << 40;  // a second
  static constexpr std::uint32_t kMost = 1U << 22U;             // of less than 2^40 sum to less than 2^62

  static void add(const Time* segments, std::size_t count, Wide* sums) {
    for (std::size_t i = 0; i < count; ++i) sums[i] += static_cast<std::uint64_t>(segments[i].ps());
  }
  /// Adds two segments to their sums, and returns them.
  static Account::Pair add_pair(const Time* segments, std::int64_t* sums) {
    const Account::Pair added = Account::pair_at(segments);
    const Account::Pair sum = Account::Pair{sums[0], sums[1]} + added;
    sums[0] = sum[0];
    sums[1] = sum[1];
    return added;
  }
  void empty() {
    for (std::size_t i = 0; i < gathered_.size(); ++i) sums_[i] += static_cast<std::uint64_t>(gathered_[i]);
    gathered_ = {};
    count_ = 0;
  }

  static constexpr std::size_t kPlaces = Account::kCommon + Account::kRare;

  // The common segments, then the rare ones, in the order of the accounts.
  std::uint32_t count_ = 0;
  std::array<std::int64_t, kPlaces> gathered_{};
  std::array<Wide, kPlaces> sums_{};
};

}  // namespace cxloom
