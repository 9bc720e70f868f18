// The turns of all routes in use: from which link into which a message may go on, by class and virtual
// channel.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "interconnect/routing/route_walk.hpp"

namespace cxloom {

class RouteTurns final : public RouteWalk {
 public:
  /// The virtual channels, a bit each, by which a message that comes in by a link and virtual channel goes on
  /// by the port `out`, by a table.
  using Plan = std::function<unsigned(std::size_t table, std::uint32_t link, std::uint16_t out,
                                      std::uint8_t virtual_channel)>;

  /// All must outlive it. Each class has so many virtual channels, at least all those of the plan; without a
  /// plan one.
  RouteTurns(const Topology& topology, const DirectedLinks& links, Router& router, const RouteTables& tables,
             unsigned virtual_channels = 1, Plan plan = {});

  /// The classes that may turn from a link and virtual channel into the port `out` of its end, by a table.
  ClassSet classes(std::size_t table, std::uint32_t link, std::uint8_t channel, std::uint16_t out) const {
    return turns_[table][(first_[link] + out) * virtual_channels_ + channel];
  }

 private:
  void leave(std::uint32_t link, ClassSet classes) override { entered(link, 0) |= classes; }
  void turn(std::uint32_t link, std::uint16_t out, std::uint32_t next) override;
  void forget(std::uint32_t link) override;
  void end_detour(std::uint32_t link) override;
  void go_on(std::uint32_t link, ClassSet classes) override;

  ClassSet& entered(std::uint32_t link, unsigned channel) {
    return entered_[link * virtual_channels_ + channel];
  }

  unsigned virtual_channels_;
  Plan plan_;
  std::vector<std::size_t> first_;            // by link, of its turns
  std::vector<std::vector<ClassSet>> turns_;  // by table; by turn and virtual channel
  std::vector<ClassSet> entered_;  // by link and virtual channel: of the destination that is looked at
  std::vector<std::vector<ClassSet>> detoured_;  // by table: the classes, at ends of detours
};

}  // namespace cxloom
