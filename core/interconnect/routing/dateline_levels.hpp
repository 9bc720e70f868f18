// How many virtual channels the routes in use need, for several ways to put datelines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "interconnect/routing/datelines.hpp"
#include "interconnect/routing/route_walk.hpp"

namespace cxloom {

/// A message begins at level 0, and goes up by one at each dateline. All candidates are looked at in one
/// walk.
class DatelineLevels final : public RouteWalk {
 public:
  static constexpr std::size_t kMost = 16;  ///< candidates
  /// Messages that come in by this directed link keep their buffer there.
  using Held = std::function<bool(std::uint32_t link)>;

  /// All must outlive it. At most kMost candidates, with the same components.
  DatelineLevels(const Topology& topology, const DirectedLinks& links, Router& router,
                 const RouteTable& table, std::span<const Datelines> candidates, const Held& held);

  /// With this candidate no message goes higher.
  unsigned highest(std::size_t candidate) const { return highest_[candidate]; }

 private:
  using Levels = std::array<std::uint8_t, kMost>;

  void leave(std::uint32_t /*link*/, ClassSet /*classes*/) override {}
  void turn(std::uint32_t link, std::uint16_t out, std::uint32_t next) override;
  void forget(std::uint32_t link) override { levels_[link] = {}; }
  void end_detour(std::uint32_t link) override;
  void go_on(std::uint32_t link, ClassSet classes) override;

  static void raise(Levels& levels, const Levels& to);

  std::vector<std::uint32_t> component_;                 // by link
  std::vector<std::array<std::uint32_t, kMost>> order_;  // by link and candidate
  std::vector<bool> held_;                               // by link
  std::vector<Levels> levels_;                           // by link: of the destination that is looked at
  std::vector<Levels> detoured_;                         // by link: at ends of detours
  Levels highest_{};
};

}  // namespace cxloom
