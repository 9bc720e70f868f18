// The channel dependency graph of a system: which receive buffers messages keep while they wait for which
// others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/digraph.hpp"
#include "component/virtual_channel_turns.hpp"
#include "interconnect/routing/route_turns.hpp"
#include "system/deadlock/link_buffers.hpp"
#include "system/deadlock/message_flows.hpp"

namespace cxloom {

class System;

/// A vertex is a directed link, a virtual channel and a class.
class ChannelGraph {
 public:
  /// Routes, and the virtual channels that messages take on them. An empty plan: one for each class.
  struct Phase {
    const RouteTable* routes;
    const VirtualChannelPlan* plan;
  };
  /// All must outlive it. Phases follow each other while messages are under way: a message that has come so
  /// far by the routes of one goes on by those of the next, and what it has chosen by then it may still wait
  /// for.
  ChannelGraph(const System& system, const MessageFlows& flows, std::vector<Phase> phases);

  /// Channels with limited buffers, each of the virtual channels in use.
  std::size_t channels() const { return channels_; }
  const Digraph& graph() const { return graph_; }
  std::string name_of(std::uint32_t channel) const;

 private:
  std::uint32_t vertex(std::uint32_t link, std::uint32_t virtual_channel, std::uint32_t which) const {
    return static_cast<std::uint32_t>((link * virtual_channels_ + virtual_channel) * kChannelCount + which);
  }
  unsigned after(std::size_t phase, std::uint32_t link, std::uint16_t out, std::uint8_t from) const;
  void add_routes(const MessageFlows& flows);
  void depend(std::size_t phase, const RouteTurns& turns, std::uint32_t link, std::uint16_t out);
  void depend(std::uint32_t link, ClassSet classes, std::uint32_t on, ClassSet needed);
  void add_home(const MessageFlows::Home& home);

  const System& system_;
  std::vector<Phase> phases_;
  LinkBuffers buffers_;
  const DirectedLinks& links_;
  unsigned virtual_channels_ = 1;
  std::size_t channels_ = 0;
  std::vector<Digraph::Edge> edges_;  // until the graph is made of them
  Digraph graph_{0, {}};
};

}  // namespace cxloom
