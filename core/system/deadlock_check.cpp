#include "system/deadlock_check.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/digraph.hpp"
#include "component/component.hpp"
#include "component/virtual_channel_turns.hpp"
#include "interconnect/link_end.hpp"
#include "interconnect/route_turns.hpp"
#include "system/link_buffers.hpp"
#include "system/message_flows.hpp"
#include "system/system.hpp"

namespace cxloom {

namespace {

// A vertex is a directed link, a virtual channel and a class.
class ChannelGraph {
 public:
  explicit ChannelGraph(const System& system)
      : system_(system), topology_(system.topology()), buffers_(system), links_(buffers_.links()) {
    for (std::uint32_t link = 0; link < links_.size(); ++link) {
      const unsigned in_use = buffers_.last_virtual_channel(link) + 1U;
      virtual_channels_ = std::max(virtual_channels_, in_use);
      channels_ += in_use * static_cast<std::size_t>(std::popcount(buffers_.limited(link)));
    }
  }

  std::size_t channels() const { return channels_; }

  Digraph made() {
    if (channels_ > 0) {
      const MessageFlows flows = message_flows(system_);
      add_routes(flows);
      for (const MessageFlows::Home& home : flows.homes) add_home(home);
    }
    return {vertex(links_.size(), 0, 0), std::move(edges_)};
  }

  std::string name_of(std::uint32_t channel) const {
    const auto which = channel % kChannelCount;
    const auto virtual_channel = static_cast<std::uint32_t>(channel / kChannelCount % virtual_channels_);
    const auto link = static_cast<std::uint32_t>(channel / kChannelCount / virtual_channels_);
    const System::LinkView& view = system_.links()[links_.hop(link).link];
    const bool forward = view.forward->owner().id().index() == links_.from(link);
    return (forward ? view.forward : view.backward)->name() + " (" + std::string(kChannelNames[which]) +
           (virtual_channels_ > 1 ? ", virtual channel " + std::to_string(virtual_channel) : "") + ")";
  }

 private:
  std::uint32_t vertex(std::uint32_t link, std::uint32_t virtual_channel, std::uint32_t which) const {
    return static_cast<std::uint32_t>((link * virtual_channels_ + virtual_channel) * kChannelCount + which);
  }

  std::uint8_t after(std::uint32_t link, std::uint16_t out, std::uint8_t from) const {
    const VirtualChannelTurns* const turns = system_.router().turns(NodeId{links_.to(link)});
    return turns ? turns->after(links_.hop(link).far_port, out, from) : std::uint8_t{0};
  }

  void add_routes(const MessageFlows& flows) {
    const auto keeps = [](const auto& component) { return component->arbitrates(); };
    if (std::ranges::none_of(system_.components(), keeps)) return;
    RouteTurns turns(
        topology_, links_, system_.router(), virtual_channels_,
        [this](std::uint32_t link, std::uint16_t out, std::uint8_t from) { return after(link, out, from); });
    flows.add_to(turns, system_);
    for (std::uint32_t link = 0; link < links_.size(); ++link) {
      if (!buffers_.held_behind(link)) continue;
      for (const Topology::Hop& out : topology_.hops(links_.to(link))) {
        for (unsigned i = 0; i < virtual_channels_; ++i) {
          const auto from = static_cast<std::uint8_t>(i);
          depend(link, from, out.port, turns.classes(link, from, out.port));
        }
      }
    }
  }

  // What has come in by a link, on what it goes out by.
  void depend(std::uint32_t link, std::uint8_t from, std::uint16_t out, ClassSet classes) {
    const std::uint32_t next = links_.leaving(links_.to(link), out);
    const std::uint8_t to = after(link, out, from);
    for (ClassSet rest = classes & buffers_.limited(link) & buffers_.limited(next); rest != 0;
         rest &= rest - 1) {
      const auto which = static_cast<std::uint32_t>(std::countr_zero(rest));
      edges_.emplace_back(vertex(link, from, which), vertex(next, to, which));
    }
  }
  // Any of these classes, at a home, on any of those. Messages leave devices, and come to them, by first virtual channels.
  void depend(std::uint32_t link, ClassSet classes, std::uint32_t on, ClassSet needed) {
    for (ClassSet held = classes & buffers_.limited(link); held != 0; held &= held - 1) {
      for (ClassSet rest = needed & buffers_.limited(on); rest != 0; rest &= rest - 1) {
        edges_.emplace_back(vertex(link, 0, static_cast<std::uint32_t>(std::countr_zero(held))),
                            vertex(on, 0, static_cast<std::uint32_t>(std::countr_zero(rest))));
      }
    }
  }

  void add_home(const MessageFlows::Home& home) {
    for (const Topology::Hop& in : topology_.hops(home.node)) {
      const std::uint32_t link = links_.entering(home.node, in.port);
      for (const Topology::Hop& out : topology_.hops(home.node))
        depend(link, home.keeps, links_.leaving(home.node, out.port), home.sends);
      for (const std::uint32_t other : home.answering) {
        for (const Topology::Hop& out : topology_.hops(other))
          depend(link, home.keeps, links_.leaving(other, out.port), home.answers);
      }
    }
  }

  const System& system_;
  const Topology& topology_;
  LinkBuffers buffers_;
  const DirectedLinks& links_;
  unsigned virtual_channels_ = 1;
  std::size_t channels_ = 0;
  std::vector<Digraph::Edge> edges_;
};

}  // namespace

DeadlockCheck check_deadlock(const System& system) {
  ChannelGraph channels(system);
  const Digraph graph = channels.made();
  DeadlockCheck check{channels.channels(), graph.edge_count(), {}};
  for (const std::uint32_t channel : graph.circle()) check.circle.push_back(channels.name_of(channel));
  return check;
}

}  // namespace cxloom
