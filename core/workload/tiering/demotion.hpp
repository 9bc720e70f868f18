// Demotion as kswapd does it: pages of the nearest node that were not accessed lately go to the next node
// until enough is free there. Kinds that make room share it.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/units.hpp"
#include "workload/tiering/tiering_policy.hpp"

namespace cxloom {

/// Frames that are a share of a node's, at least one unless the share is nothing.
std::uint64_t frames_of(const NumaNode& node, double share);

class Demotion {
 public:
  /// Until so many frames are free; `pause` lies between two rounds through the pages, at least.
  Demotion(const TieringContext& context, std::uint64_t until, Time pause);

  /// There is too little free: a round begins as soon as one may.
  void wake(TieredPages& pages);
  /// A round, if it is time for one: each page of the nearest node is passed once, at most. One that was
  /// accessed since it was passed before stays.
  void look(TieredPages& pages);
  /// When it is; the end of time while it sleeps.
  Time next() const { return next_; }
  /// Free frames of the nearest node, and those of pages that have not left yet.
  std::uint64_t free(const TieredPages& pages);

 private:
  std::span<const NumaNode> nodes_;
  std::vector<std::size_t> order_;
  std::uint64_t until_;
  Time pause_;
  Time next_ = Time::max();
  Time earliest_;                              // of the next round
  std::uint64_t hand_ = 0;                     // page
  std::unordered_set<std::uint64_t> leaving_;  // pages whose moves may still wait
};

}  // namespace cxloom
