// The turns of all routes in use: from which link into which a message may go on, by class and level of its virtual channel.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "interconnect/route_walk.hpp"

namespace cxloom {

class RouteTurns final : public RouteWalk {
 public:
  /// The level at which a message that comes in by a link, at a level, and goes on by the port `out`, goes on.
  using Plan = std::function<std::uint8_t(std::uint32_t link, std::uint16_t out, std::uint8_t level)>;

  /// All must outlive it. There are so many levels, at least all those of the plan; without a plan one.
  RouteTurns(const Topology& topology, const DirectedLinks& links, Router& router, unsigned levels = 1,
             Plan plan = {});

  /// Those that may turn from a link, at a level, into the port `out` of the node that it reaches.
  ClassSet classes(std::uint32_t link, std::uint8_t level, std::uint16_t out) const {
    return turns_[(first_[link] + out) * levels_ + level];
  }

 private:
  void leave(std::uint32_t link, ClassSet classes) override { entered(link, 0) |= classes; }
  void turn(std::uint32_t link, std::uint16_t out, std::uint32_t next) override;
  void forget(std::uint32_t link) override;
  void end_detour(std::uint32_t link) override;
  void go_on(std::uint32_t link, ClassSet classes) override;

  ClassSet& entered(std::uint32_t link, unsigned level) { return entered_[link * levels_ + level]; }

  unsigned levels_;
  Plan plan_;
  std::vector<std::size_t> first_;  // by link, of its turns
  std::vector<ClassSet> turns_;     // by level, too
  std::vector<ClassSet> entered_;   // by link and level: of the destination that is looked at
  std::vector<ClassSet> detoured_;  // the same, at ends of detours
};

}  // namespace cxloom
