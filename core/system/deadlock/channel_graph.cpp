#include "system/deadlock/channel_graph.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "component/component.hpp"
#include "interconnect/link/end.hpp"
#include "protocol/class_vc.hpp"
#include "system/model/system.hpp"

namespace cxloom {

ChannelGraph::ChannelGraph(const System& system, const MessageFlows& flows, std::vector<Phase> phases)
    : system_(system), phases_(std::move(phases)), buffers_(system), links_(buffers_.links()) {
  if (std::ranges::any_of(phases_, [](const Phase& phase) { return !phase.plan->turns.empty(); }))
    virtual_channels_ = kMostVirtualChannels;
  for (std::uint32_t link = 0; link < links_.size(); ++link) {
    channels_ +=
        buffers_.virtual_channels(link) * static_cast<std::size_t>(std::popcount(buffers_.limited(link)));
  }
  if (channels_ > 0) {
    add_routes(flows);
    for (const MessageFlows::Home& home : flows.homes) add_home(home);
  }
  graph_ = Digraph(vertex(links_.size(), 0, 0), std::move(edges_));
}

std::string ChannelGraph::name_of(std::uint32_t channel) const {
  const auto which = channel % kChannelCount;
  const auto number = static_cast<std::uint32_t>(channel / kChannelCount % virtual_channels_);
  const auto link = static_cast<std::uint32_t>(channel / kChannelCount / virtual_channels_);
  const System::LinkView& view = system_.links()[links_.hop(link).link];
  const bool forward = view.forward->owner().id().index() == links_.from(link);
  return (forward ? view.forward : view.backward)->name() + " (" + std::string(kChannelNames[which]) +
         (virtual_channels_ > 1 ? ", virtual channel " + std::to_string(number) : "") + ")";
}

unsigned ChannelGraph::after(std::size_t phase, std::uint32_t link, std::uint16_t out,
                             std::uint8_t from) const {
  const VirtualChannelTurns* const turns = phases_[phase].plan->of(NodeId{links_.to(link)});
  return turns ? turns->all_after(links_.hop(link).far_port, out, from) : 1U;
}

void ChannelGraph::add_routes(const MessageFlows& flows) {
  const auto keeps = [](const auto& component) { return component->arbitrates(); };
  if (std::ranges::none_of(system_.components(), keeps)) return;
  RouteTables tables;
  for (const Phase& phase : phases_) tables.push_back(phase.routes);
  RouteTurns turns(system_.topology(), links_, system_.router(), tables, virtual_channels_,
                   [this](std::size_t phase, std::uint32_t link, std::uint16_t out, std::uint8_t from) {
                     return after(phase, link, out, from);
                   });
  flows.add_to(turns, system_);
  for (std::uint32_t link = 0; link < links_.size(); ++link) {
    if (!buffers_.held_behind(link)) continue;
    for (const Topology::Hop& out : system_.topology().hops(links_.to(link))) {
      for (std::size_t phase = 0; phase < phases_.size(); ++phase) depend(phase, turns, link, out.port);
    }
  }
}

// What has come in by a link, on what it goes out by.
void ChannelGraph::depend(std::size_t phase, const RouteTurns& turns, std::uint32_t link, std::uint16_t out) {
  const std::uint32_t next = links_.leaving(links_.to(link), out);
  for (unsigned i = 0; i < virtual_channels_; ++i) {
    const auto from = static_cast<std::uint8_t>(i);
    const ClassSet classes =
        turns.classes(phase, link, from, out) & buffers_.limited(link) & buffers_.limited(next);
    if (classes == 0) continue;
    for (unsigned onward = after(phase, link, out, from); onward != 0; onward &= onward - 1) {
      const auto to = static_cast<std::uint32_t>(std::countr_zero(onward));
      for (ClassSet rest = classes; rest != 0; rest &= rest - 1) {
        const auto which = static_cast<std::uint32_t>(std::countr_zero(rest));
        edges_.emplace_back(vertex(link, from, which), vertex(next, to, which));
      }
    }
  }
}

// Any of these classes, at a home, on any of those. Messages leave devices, and come to them, by first
// virtual channels.
void ChannelGraph::depend(std::uint32_t link, ClassSet classes, std::uint32_t on, ClassSet needed) {
  for (ClassSet held = classes & buffers_.limited(link); held != 0; held &= held - 1) {
    for (ClassSet rest = needed & buffers_.limited(on); rest != 0; rest &= rest - 1) {
      edges_.emplace_back(vertex(link, 0, static_cast<std::uint32_t>(std::countr_zero(held))),
                          vertex(on, 0, static_cast<std::uint32_t>(std::countr_zero(rest))));
    }
  }
}

void ChannelGraph::add_home(const MessageFlows::Home& home) {
  const Topology& topology = system_.topology();
  for (const Topology::Hop& in : topology.hops(home.node)) {
    const std::uint32_t link = links_.entering(home.node, in.port);
    for (const Topology::Hop& out : topology.hops(home.node))
      depend(link, home.keeps, links_.leaving(home.node, out.port), home.sends);
    for (const std::uint32_t other : home.answering) {
      for (const Topology::Hop& out : topology.hops(other))
        depend(link, home.keeps, links_.leaving(other, out.port), home.answers);
    }
  }
}

}  // namespace cxloom
