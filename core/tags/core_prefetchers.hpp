// The prefetchers of a core's own caches, one for each level that has one, and how many lines each may ask
// for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/units.hpp"
#include "tags/core_prefetch.hpp"
#include "tags/prefetcher.hpp"

namespace cxloom {

/// Asks for less while few of the lines that were asked for are used: feedback-directed prefetching (Srinath
/// et al., "Feedback Directed Prefetching", HPCA 2007), which calls an accuracy high from 0.75 on and low
/// below 0.40. An access asks for half as many lines at most, or for twice as many again.
class PrefetchThrottle {
 public:
  /// Lines that were used or left unused until the accuracy is looked at.
  static constexpr std::uint64_t kInterval = 256;

  /// `useful` and `useless` are sums that only grow. Gives how many lines an access may ask for.
  std::size_t limit(std::uint64_t useful, std::uint64_t useless);
  /// An access wanted so many.
  void wanted(std::size_t lines) { most_wanted_ = std::max(most_wanted_, lines); }

 private:
  std::uint64_t useful_ = 0;  // when it was looked at
  std::uint64_t useless_ = 0;
  std::size_t most_wanted_ = 1;
  std::size_t limit_ = ~std::size_t{0};
};

class CorePrefetchers {
 public:
  /// No line is asked for outside a frame of `page`, what is behind it in memory may be anybody's. Throws
  /// InputError, with the path "[i].prefetch", if the parameters of a level are out of bounds.
  CorePrefetchers(const CorePrefetch& prefetch, Bytes page);

  bool any() const { return !levels_.empty(); }
  /// The registers of all levels.
  std::uint32_t registers() const;
  bool has(std::size_t level) const { return level < levels_.size() && levels_[level].prefetcher != nullptr; }
  /// The lines that a level wants because of an access, which it must not have been asked about before.
  /// `useful` and `useless` lines it has asked for so far.
  const std::vector<LineAddress>& wanted(std::size_t level, const Trigger& trigger, std::uint64_t useful,
                                         std::uint64_t useless);

 private:
  struct Level {
    std::unique_ptr<Prefetcher> prefetcher;
    bool throttles = false;
    std::uint64_t lines_of_page = 0;
    PrefetchThrottle throttle;
  };

  std::vector<Level> levels_;  // empty: none has one
  std::vector<LineAddress> wanted_;
};

}  // namespace cxloom
