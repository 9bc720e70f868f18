// The latest accesses of one of several streams that are made as one: what a dependence within it is among
// the accesses of all.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "workload/stream/access_stream.hpp"

namespace cxloom {

/// The latest `kRemembered` of them.
template <std::size_t kRemembered>
class LatestOf {
 public:
  /// The access of that number among those of all is of this stream.
  void add(std::uint64_t number) { numbers_[made_++ % kRemembered] = number; }

  /// Places back among all, where `next` is the number of the next access, of what is so many places back in
  /// this stream. A fence stays one. What is farther back than is remembered is answered once the oldest of
  /// these is, or soon after.
  std::uint32_t among_all(std::uint32_t own, std::uint64_t next) const {
    if (own == 0 || own == kAllBefore) return own;
    if (own > made_) return 0;
    const std::uint64_t back = std::min<std::uint64_t>(own, kRemembered);
    const std::uint64_t distance = next - numbers_[(made_ - back) % kRemembered];
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(distance, kAllBefore - 1));
  }

 private:
  std::array<std::uint64_t, kRemembered> numbers_{};
  std::uint64_t made_ = 0;
};

/// The latest accesses of one thread, or of one object.
using LatestAccesses = LatestOf<64>;

}  // namespace cxloom
