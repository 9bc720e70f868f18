#include "interconnect/route_turns.hpp"

#include <utility>

namespace cxloom {

RouteTurns::RouteTurns(const Topology& topology, const DirectedLinks& links, Router& router, unsigned levels,
                       Plan plan)
    : RouteWalk(topology, links, router),
      levels_(levels),
      plan_(std::move(plan)),
      entered_(std::size_t{links.size()} * levels) {
  std::size_t turns = 0;
  for (std::uint32_t link = 0; link < links.size(); ++link) {
    first_.push_back(turns);
    const std::uint32_t to = links.to(link);
    if (topology.node(to).forwards) turns += topology.hops(to).size();
  }
  turns_.resize(turns * levels);
}

void RouteTurns::turn(std::uint32_t link, std::uint16_t out, std::uint32_t next) {
  ClassSet* const turned = &turns_[(first_[link] + out) * levels_];
  for (unsigned level = 0; level < levels_; ++level) {
    const ClassSet classes = entered(link, level);
    if (classes == 0) continue;
    turned[level] |= classes;
    entered(next, plan_ ? plan_(link, out, static_cast<std::uint8_t>(level)) : 0U) |= classes;
  }
}

void RouteTurns::forget(std::uint32_t link) {
  for (unsigned level = 0; level < levels_; ++level) entered(link, level) = 0;
}

void RouteTurns::end_detour(std::uint32_t link) {
  detoured_.resize(entered_.size());
  for (unsigned level = 0; level < levels_; ++level)
    detoured_[link * levels_ + level] |= entered(link, level);
}

void RouteTurns::go_on(std::uint32_t link, ClassSet classes) {
  for (unsigned level = 0; level < levels_; ++level)
    entered(link, level) |= classes & detoured_[link * levels_ + level];
}

}  // namespace cxloom
