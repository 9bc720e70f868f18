#include "interconnect/route_walk.hpp"

#include "base/error.hpp"

namespace cxloom {

RouteWalk::RouteWalk(const Topology& topology, const DirectedLinks& links, Router& router)
    : topology_(topology),
      links_(links),
      router_(router),
      into_(links.size()),
      seen_(links.size()),
      ways_(links.size()) {}

void RouteWalk::visit(std::uint32_t link) {
  if (seen_[link]) return;
  seen_[link] = true;
  found_.push_back(link);
}

// All links on the ways from those that are known, and how many turns lead into each.
void RouteWalk::discover(const Message& message) {
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const std::uint32_t link = found_[i];
    const std::uint32_t node = links_.to(link);
    ways_[link] = {};
    if (node == message.destination.index() || !topology_.node(node).forwards) continue;
    ways_[link] = router_.ways(node, message);
    for (const std::uint16_t out : ways_[link]) {
      const std::uint32_t next = links_.leaving(node, out);
      ++into_[next];
      visit(next);
    }
  }
}

// Routes to one destination lead in no circle: each link has its turn when all turns into it are done.
void RouteWalk::follow(const Message& message) {
  discover(message);
  for (const std::uint32_t link : found_) {
    if (into_[link] == 0) ready_.push_back(link);
  }
  std::size_t done = 0;
  while (!ready_.empty()) {
    const std::uint32_t link = ready_.back();
    ready_.pop_back();
    ++done;
    for (const std::uint16_t out : ways_[link]) {
      const std::uint32_t next = links_.leaving(links_.to(link), out);
      turn(link, out, next);
      if (--into_[next] == 0) ready_.push_back(next);
    }
  }
  ensure(done == found_.size(), "routes to one destination lead in a circle");
}

void RouteWalk::begin(const Sender& sender, Message& message) {
  static constexpr std::uint16_t kOnly = 0;  // who has one port needs no route
  message.source = NodeId{sender.node};
  const bool only = topology_.hops(sender.node).size() == 1;
  for (const std::uint16_t out : only ? std::span(&kOnly, 1) : router_.ways(sender.node, message)) {
    const std::uint32_t link = links_.leaving(sender.node, out);
    visit(link);
    leave(link, sender.classes);
  }
}

void RouteWalk::forget_all() {
  for (const std::uint32_t link : found_) {
    seen_[link] = false;
    forget(link);
  }
  found_.clear();
}

void RouteWalk::add_detours(std::span<const std::uint32_t> switches, std::span<const Sender> senders) {
  Message message;
  for (const std::uint32_t via : switches) {
    message.destination = NodeId{via};
    for (const Sender& sender : senders) begin(sender, message);
    follow(message);
    for (const std::uint32_t link : found_) {
      if (links_.to(link) != via) continue;
      detoured_.push_back(link);
      end_detour(link);
    }
    forget_all();
  }
}

void RouteWalk::add(std::uint32_t destination, std::span<const Sender> senders) {
  Message message;
  message.destination = NodeId{destination};
  ClassSet sent = 0;
  for (const Sender& sender : senders) {
    if (sender.node == destination) continue;
    begin(sender, message);
    sent |= sender.classes;
    if (!router_.goes_by_source()) continue;
    follow(message);
    forget_all();
  }
  for (const std::uint32_t link : detoured_) {
    visit(link);
    go_on(link, sent);
  }
  follow(message);
  forget_all();
}

}  // namespace cxloom
