// The segments of an account that are not zero, side by side.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/units.hpp"
#include "protocol/account.hpp"
#include "protocol/segment.hpp"

namespace cxloom {

/// For accounts that are kept for long by the ten thousand: most segments of a request are zero, and what is
/// not written takes no place in a cache.
class ChargedSegments {
 public:
  ChargedSegments() = default;
  explicit ChargedSegments(const Account& account) { *this = account; }
  ChargedSegments(const ChargedSegments& other) { *this = other; }
  ~ChargedSegments() = default;
  ChargedSegments& operator=(const Account& account) {
    charged_ = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < kSegmentCount; ++i) {
      const Time time = account.of(static_cast<Segment>(i));
      const bool charged = time != Time{};
      times_[count] = time;
      count += charged ? 1 : 0;
      charged_ |= static_cast<std::uint32_t>(charged) << i;
    }
    return *this;
  }
  ChargedSegments& operator=(const ChargedSegments& other) {
    if (this == &other) return *this;
    charged_ = other.charged_;
    const auto count = static_cast<std::size_t>(std::popcount(charged_));
    for (std::size_t i = 0; i < count; ++i) times_[i] = other.times_[i];
    return *this;
  }

  /// What it held stays where it is, and counts no longer.
  void clear() { charged_ = 0; }
  /// Calls `visit(segment, time)` for each that is not zero, in their order.
  template <class Visit>
  void each(Visit visit) const {
    std::size_t place = 0;
    for (std::uint32_t left = charged_; left != 0; left &= left - 1)
      visit(static_cast<Segment>(std::countr_zero(left)), times_[place++]);
  }

 private:
  static_assert(kSegmentCount < 32);
  std::uint32_t charged_ = 0;  // a bit for each segment that is not zero
  // One more: the last segment of all is written, too, before it is known to be zero.
  std::array<Time, kSegmentCount + 1> times_{};
};

}  // namespace cxloom
