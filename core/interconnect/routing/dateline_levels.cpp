#include "interconnect/routing/dateline_levels.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace cxloom {

DatelineLevels::DatelineLevels(const Topology& topology, const DirectedLinks& links, Router& router,
                               const RouteTable& table, std::span<const Datelines> candidates,
                               const Held& held)
    : RouteWalk(topology, links, router, {&table}),
      component_(candidates.front().component),
      order_(links.size()),
      levels_(links.size()) {
  ensure(candidates.size() <= kMost, "too many candidates for datelines");
  for (std::uint32_t link = 0; link < links.size(); ++link) {
    held_.push_back(held(link));
    for (std::size_t i = 0; i < candidates.size(); ++i) order_[link][i] = candidates[i].order[link];
  }
}

void DatelineLevels::raise(Levels& levels, const Levels& to) {
  for (std::size_t i = 0; i < kMost; ++i) levels[i] = std::max(levels[i], to[i]);
}

// As in Datelines: a turn without a way back begins anew, and a turn back in the order is a dateline.
void DatelineLevels::turn(std::uint32_t link, std::uint16_t /*out*/, std::uint32_t next) {
  if (!held_[link] || !held_[next] || component_[link] != component_[next]) return;
  Levels behind = levels_[link];
  for (std::size_t i = 0; i < kMost; ++i) {
    const bool crossed = order_[next][i] <= order_[link][i];
    behind[i] = static_cast<std::uint8_t>(behind[i] + (crossed && behind[i] < 0xff ? 1 : 0));
  }
  raise(levels_[next], behind);
  raise(highest_, behind);
}

void DatelineLevels::end_detour(std::uint32_t link) {
  detoured_.resize(levels_.size());
  raise(detoured_[link], levels_[link]);
}

void DatelineLevels::go_on(std::uint32_t link, ClassSet /*classes*/) {
  raise(levels_[link], detoured_[link]);
}

}  // namespace cxloom
