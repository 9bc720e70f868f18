#include "system/deadlock_check.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>

#include "base/digraph.hpp"
#include "component/component.hpp"
#include "interconnect/link_end.hpp"
#include "interconnect/route_turns.hpp"
#include "system/message_flows.hpp"
#include "system/system.hpp"

namespace cxloom {

namespace {

class ChannelGraph {
 public:
  explicit ChannelGraph(const System& system)
      : system_(system), topology_(system.topology()), links_(topology_), limited_(links_.size()) {
    for (std::uint32_t link = 0; link < links_.size(); ++link) {
      const ClassCredits& credits = system.links()[links_.hop(link).link].params->credits;
      for (std::size_t i = 0; i < kChannelCount; ++i) {
        if (credits.of(static_cast<Channel>(i))) limited_[link] |= 1U << i;
      }
      channels_ += static_cast<std::size_t>(std::popcount(limited_[link]));
    }
  }

  std::size_t channels() const { return channels_; }

  Digraph made() {
    if (channels_ > 0) {
      const MessageFlows flows = message_flows(system_);
      add_routes(flows);
      for (const MessageFlows::Home& home : flows.homes) add_home(home);
    }
    return {static_cast<std::uint32_t>(links_.size() * kChannelCount), std::move(edges_)};
  }

  std::string name_of(std::uint32_t channel) const {
    const auto link = static_cast<std::uint32_t>(channel / kChannelCount);
    const System::LinkView& view = system_.links()[links_.hop(link).link];
    const bool forward = view.forward->owner().id().index() == links_.from(link);
    return (forward ? view.forward : view.backward)->name() + " (" +
           std::string(kChannelNames[channel % kChannelCount]) + ")";
  }

 private:
  // Switches with queues at their inputs keep the buffer until the message leaves. All others make room at once.
  bool keeps_buffers(std::uint32_t node) const { return system_.components()[node]->arbitrates(); }

  void add_routes(const MessageFlows& flows) {
    const auto anywhere =
        std::ranges::any_of(system_.components(), [](const auto& c) { return c->arbitrates(); });
    if (!anywhere) return;
    RouteTurns turns(topology_, links_, system_.router());
    if (system_.router().detours()) add_detours(flows, turns);
    for (const auto& [destination, senders] : flows.to) turns.add(destination, senders);
    for (std::uint32_t link = 0; link < links_.size(); ++link) {
      const std::uint32_t node = links_.to(link);
      if (limited_[link] == 0 || !topology_.node(node).forwards || !keeps_buffers(node)) continue;
      for (const Topology::Hop& out : topology_.hops(node)) {
        const std::uint32_t next = links_.leaving(node, out.port);
        depend(link, next, turns.classes(link, out.port) & limited_[link] & limited_[next]);
      }
    }
  }

  // Anybody's messages may go by any switch.
  void add_detours(const MessageFlows& flows, RouteTurns& turns) const {
    std::map<std::uint32_t, ClassSet> classes;
    for (const auto& [destination, senders] : flows.to) {
      for (const RouteTurns::Sender& sender : senders) classes[sender.node] |= sender.classes;
    }
    std::vector<RouteTurns::Sender> senders;
    for (const auto& [node, sent] : classes) senders.push_back({node, sent});
    std::vector<std::uint32_t> switches;
    for (std::uint32_t node = 0; node < topology_.size(); ++node) {
      if (topology_.node(node).is_switch) switches.push_back(node);
    }
    turns.add_detours(switches, senders);
  }

  // A link on another of the same classes.
  void depend(std::uint32_t link, std::uint32_t on, ClassSet classes) {
    for (; classes != 0; classes &= classes - 1) {
      const auto which = static_cast<std::uint32_t>(std::countr_zero(classes));
      edges_.emplace_back(link * kChannelCount + which, on * kChannelCount + which);
    }
  }
  // The same of any of these classes on any of those.
  void depend(std::uint32_t link, ClassSet classes, std::uint32_t on, ClassSet needed) {
    for (ClassSet held = classes & limited_[link]; held != 0; held &= held - 1) {
      for (ClassSet rest = needed & limited_[on]; rest != 0; rest &= rest - 1) {
        edges_.emplace_back(link * kChannelCount + static_cast<std::uint32_t>(std::countr_zero(held)),
                            on * kChannelCount + static_cast<std::uint32_t>(std::countr_zero(rest)));
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
  DirectedLinks links_;
  std::vector<ClassSet> limited_;  // by directed link
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
