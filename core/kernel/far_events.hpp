// Pending events beyond the horizon of the fine wheel: a coarse wheel whose buckets are as long as the whole
// fine one, 2.1 us, and a heap for what lies beyond 8.6 ms. A bucket gives its events to the fine wheel
// before the first of them can be next, so that their order within it plays no part here.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace cxloom {

class FarEvents {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  /// The number of a bucket that never comes.
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  FarEvents();

  /// The first bucket that holds something, or `kNever`.
  std::int64_t first() const { return first_; }

  /// Adds an event by its node. `bucket` comes after `open`, the bucket in which the fine wheel stands. Lists
  /// are linked through `next`, by node.
  void add(std::uint32_t node, std::int64_t bucket, std::int64_t open, std::vector<std::uint32_t>& next);

  /// Takes all events out of the first bucket: a list through `next`.
  std::uint32_t take_first(std::vector<std::uint32_t>& next);

 private:
  static constexpr std::int64_t kBuckets = 4096;
  using HeapEntry = std::pair<std::int64_t, std::uint32_t>;  // bucket, node

  static std::size_t slot_of(std::int64_t bucket) {
    return static_cast<std::size_t>(bucket & (kBuckets - 1));
  }
  std::int64_t next_in_wheel(std::int64_t after) const;

  std::int64_t first_ = kNever;
  std::array<std::uint32_t, kBuckets> heads_{};        // a list each
  std::array<std::uint64_t, kBuckets / 64> filled_{};  // which buckets hold something
  std::uint64_t filled_words_ = 0;                     // which words of these are not zero
  std::vector<HeapEntry> heap_;                        // the first bucket in front
};

}  // namespace cxloom
