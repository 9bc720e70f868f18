#include "interconnect/route_turns.hpp"

#include <algorithm>
#include <utility>

namespace cxloom {

RouteTurns::RouteTurns(const Topology& topology, const DirectedLinks& links, Router& router,
                       unsigned virtual_channels, Plan plan)
    : topology_(topology),
      links_(links),
      router_(router),
      virtual_channels_(virtual_channels),
      plan_(std::move(plan)),
      entered_(std::size_t{links.size()} * virtual_channels) {
  std::size_t turns = 0;
  for (std::uint32_t link = 0; link < links.size(); ++link) {
    first_.push_back(turns);
    const std::uint32_t to = links.to(link);
    if (topology.node(to).forwards) turns += topology.hops(to).size();
  }
  turns_.resize(turns * virtual_channels);
}

void RouteTurns::enter(std::uint32_t link, std::uint8_t virtual_channel, ClassSet classes) {
  const std::uint32_t place = link * virtual_channels_ + virtual_channel;
  const ClassSet fresh = classes & ~entered_[place];
  if (fresh == 0) return;
  if (entered_[place] == 0) touched_.push_back(place);
  entered_[place] |= fresh;
  last_ = std::max(last_, virtual_channel);
  arrivals_.push_back({link, virtual_channel, fresh});
}

// To the destination on every way that the classes have not gone yet.
void RouteTurns::follow(Message& message) {
  while (!arrivals_.empty()) {
    const auto [link, virtual_channel, classes] = arrivals_.back();
    arrivals_.pop_back();
    const std::uint32_t node = links_.to(link);
    if (node == message.destination.index() || !topology_.node(node).forwards) continue;
    for (const std::uint16_t out : router_.ways(node, message)) {
      turns_[(first_[link] + out) * virtual_channels_ + virtual_channel] |= classes;
      enter(links_.leaving(node, out), plan_ ? plan_(link, out, virtual_channel) : std::uint8_t{0}, classes);
    }
  }
}

void RouteTurns::send(const Sender& sender, Message& message) {
  static constexpr std::uint16_t kOnly = 0;  // who has one port needs no route
  message.source = NodeId{sender.node};
  const bool only = topology_.hops(sender.node).size() == 1;
  for (const std::uint16_t out : only ? std::span(&kOnly, 1) : router_.ways(sender.node, message))
    enter(links_.leaving(sender.node, out), 0, sender.classes);
}

void RouteTurns::forget() {
  for (const std::uint32_t place : touched_) entered_[place] = 0;
  touched_.clear();
}

void RouteTurns::add_detours(std::span<const std::uint32_t> switches, std::span<const Sender> senders) {
  Message message;
  for (const std::uint32_t via : switches) {
    message.destination = NodeId{via};
    for (const Sender& sender : senders) send(sender, message);
    follow(message);
    for (const std::uint32_t place : touched_) {
      const std::uint32_t link = place / virtual_channels_;
      if (links_.to(link) != via) continue;
      detoured_.push_back({link, static_cast<std::uint8_t>(place % virtual_channels_), entered_[place]});
    }
    forget();
  }
}

void RouteTurns::add(std::uint32_t destination, std::span<const Sender> senders) {
  Message message;
  message.destination = NodeId{destination};
  ClassSet sent = 0;
  for (const Sender& sender : senders) {
    if (sender.node == destination) continue;
    send(sender, message);
    sent |= sender.classes;
    if (!router_.goes_by_source()) continue;
    follow(message);
    forget();
  }
  for (const Arrival& each : detoured_) enter(each.link, each.virtual_channel, each.classes & sent);
  follow(message);
  forget();
}

}  // namespace cxloom
