#include "interconnect/routing/route_turns.hpp"

#include <bit>
#include <utility>

namespace cxloom {

RouteTurns::RouteTurns(const Topology& topology, const DirectedLinks& links, Router& router,
                       const RouteTables& tables, unsigned virtual_channels, Plan plan)
    : RouteWalk(topology, links, router, tables),
      virtual_channels_(virtual_channels),
      plan_(std::move(plan)),
      entered_(std::size_t{links.size()} * virtual_channels) {
  std::size_t turns = 0;
  for (std::uint32_t link = 0; link < links.size(); ++link) {
    first_.push_back(turns);
    const std::uint32_t to = links.to(link);
    if (topology.node(to).forwards) turns += topology.hops(to).size();
  }
  turns_.resize(tables.size(), std::vector<ClassSet>(turns * virtual_channels));
  detoured_.resize(tables.size());
}

void RouteTurns::turn(std::uint32_t link, std::uint16_t out, std::uint32_t next) {
  ClassSet* const turned = &turns_[table()][(first_[link] + out) * virtual_channels_];
  for (unsigned channel = 0; channel < virtual_channels_; ++channel) {
    const ClassSet classes = entered(link, channel);
    if (classes == 0) continue;
    turned[channel] |= classes;
    unsigned onward = plan_ ? plan_(table(), link, out, static_cast<std::uint8_t>(channel)) : 1U;
    for (; onward != 0; onward &= onward - 1)
      entered(next, static_cast<unsigned>(std::countr_zero(onward))) |= classes;
  }
}

void RouteTurns::forget(std::uint32_t link) {
  for (unsigned channel = 0; channel < virtual_channels_; ++channel) entered(link, channel) = 0;
}

void RouteTurns::end_detour(std::uint32_t link) {
  std::vector<ClassSet>& ended = detoured_[table()];
  ended.resize(entered_.size());
  for (unsigned channel = 0; channel < virtual_channels_; ++channel)
    ended[link * virtual_channels_ + channel] |= entered(link, channel);
}

void RouteTurns::go_on(std::uint32_t link, ClassSet classes) {
  for (unsigned channel = 0; channel < virtual_channels_; ++channel)
    entered(link, channel) |= classes & detoured_[table()][link * virtual_channels_ + channel];
}

}  // namespace cxloom
