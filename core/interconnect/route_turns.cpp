#include "interconnect/route_turns.hpp"

namespace cxloom {

RouteTurns::RouteTurns(const Topology& topology, const DirectedLinks& links, Router& router)
    : topology_(topology), links_(links), router_(router), entered_(links.size()) {
  std::size_t turns = 0;
  for (std::uint32_t link = 0; link < links.size(); ++link) {
    first_.push_back(turns);
    const std::uint32_t to = links.to(link);
    if (topology.node(to).forwards) turns += topology.hops(to).size();
  }
  turns_.resize(turns);
}

void RouteTurns::enter(std::uint32_t link, ClassSet classes) {
  const ClassSet fresh = classes & ~entered_[link];
  if (fresh == 0) return;
  if (entered_[link] == 0) touched_.push_back(link);
  entered_[link] |= fresh;
  arrivals_.push_back({link, fresh});
}

// To the destination on every way that the classes have not gone yet.
void RouteTurns::follow(Message& message) {
  while (!arrivals_.empty()) {
    const auto [link, classes] = arrivals_.back();
    arrivals_.pop_back();
    const std::uint32_t node = links_.to(link);
    if (node == message.destination.index() || !topology_.node(node).forwards) continue;
    for (const std::uint16_t out : router_.ways(node, message)) {
      turns_[first_[link] + out] |= classes;
      enter(links_.leaving(node, out), classes);
    }
  }
}

void RouteTurns::send(const Sender& sender, Message& message) {
  static constexpr std::uint16_t kOnly = 0;  // who has one port needs no route
  message.source = NodeId{sender.node};
  const bool only = topology_.hops(sender.node).size() == 1;
  for (const std::uint16_t out : only ? std::span(&kOnly, 1) : router_.ways(sender.node, message))
    enter(links_.leaving(sender.node, out), sender.classes);
}

void RouteTurns::forget() {
  for (const std::uint32_t link : touched_) entered_[link] = 0;
  touched_.clear();
}

void RouteTurns::add_detours(std::span<const std::uint32_t> switches, std::span<const Sender> senders) {
  Message message;
  for (const std::uint32_t via : switches) {
    message.destination = NodeId{via};
    for (const Sender& sender : senders) send(sender, message);
    follow(message);
    for (const std::uint32_t link : touched_) {
      if (links_.to(link) == via) detoured_.push_back({link, entered_[link]});
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
  for (const Arrival& each : detoured_) enter(each.link, each.classes & sent);
  follow(message);
  forget();
}

}  // namespace cxloom
