// The channel dependency graph of a system: which receive buffers messages keep while they wait for which others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/digraph.hpp"
#include "component/virtual_channel_turns.hpp"
#include "interconnect/route_turns.hpp"
#include "system/link_buffers.hpp"
#include "system/message_flows.hpp"

namespace cxloom {

class System;

/// A vertex is a directed link, a class, and a level: that messages of one level are spread over several virtual channels closes no
/// circles.
class ChannelGraph {
 public:
  /// All must outlive it. An empty plan: one virtual channel for each class.
  ChannelGraph(const System& system, const MessageFlows& flows, const VirtualChannelPlan& plan);

  /// Channels with limited buffers, each of the virtual channels in use.
  std::size_t channels() const { return channels_; }
  const Digraph& graph() const { return graph_; }
  std::string name_of(std::uint32_t channel) const;

 private:
  std::uint32_t vertex(std::uint32_t link, std::uint32_t level, std::uint32_t which) const {
    return static_cast<std::uint32_t>((link * levels_ + level) * kChannelCount + which);
  }
  std::uint8_t after(std::uint32_t link, std::uint16_t out, std::uint8_t level) const;
  void add_routes(const MessageFlows& flows);
  void depend(std::uint32_t link, std::uint8_t level, std::uint16_t out, ClassSet classes);
  void depend(std::uint32_t link, ClassSet classes, std::uint32_t on, ClassSet needed);
  void add_home(const MessageFlows::Home& home);

  const System& system_;
  const VirtualChannelPlan& plan_;
  LinkBuffers buffers_;
  const DirectedLinks& links_;
  unsigned levels_;
  std::size_t channels_ = 0;
  std::vector<Digraph::Edge> edges_;  // until the graph is made of them
  Digraph graph_{0, {}};
};

}  // namespace cxloom
