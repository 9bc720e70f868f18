// The senders and receivers of messages in a system, and the classes of these messages.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "interconnect/routing/route_walk.hpp"

namespace cxloom {

class System;

struct MessageFlows {
  /// The senders, by destination.
  std::map<std::uint32_t, std::vector<RouteWalk::Sender>> to;

  /// A device that may keep what has come in, and its buffer, until messages of other classes have been sent
  /// and answered.
  struct Home {
    std::uint32_t node;
    ClassSet keeps;                        ///< classes of what it keeps
    ClassSet sends;                        ///< classes of what must leave it before,
    ClassSet answers;                      ///< ... and of what must come in,
    std::vector<std::uint32_t> answering;  ///< from these
  };
  std::vector<Home> homes;

  /// Has all ways that they take looked at.
  void add_to(RouteWalk& walk, const System& system) const;

 private:
  std::map<std::uint32_t, std::vector<RouteWalk::Sender>> error_answers(
      const std::vector<RouteWalk::DeadEnd>& dead_ends) const;
};

/// The flows that devices and address map allow: from requesters with work, or from all.
MessageFlows message_flows(const System& system, bool all_requesters = false);

}  // namespace cxloom
