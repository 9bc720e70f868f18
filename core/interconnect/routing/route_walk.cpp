#include "interconnect/routing/route_walk.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

RouteWalk::RouteWalk(const Topology& topology, const DirectedLinks& links, Router& router, RouteTables tables)
    : topology_(topology),
      links_(links),
      router_(router),
      tables_(std::move(tables)),
      into_(links.size()),
      seen_(links.size()),
      ways_(links.size()),
      onward_(topology.size()) {}

void RouteWalk::visit(std::uint32_t link) {
  if (seen_[link]) return;
  seen_[link] = true;
  found_.push_back(link);
}

// Many links lead to a node, and its ways are looked up once.
const RouteWalk::Onward& RouteWalk::onward(std::uint32_t node, const Message& message) {
  Onward& here = onward_[node];
  if (here.walk == walk_) return here;
  here = {{}, node == message.destination.index() || !topology_.node(node).forwards, walk_};
  if (!here.ends) here.ports = router_.ways(*tables_[table_], node, message);
  return here;
}

// All links on the ways from the known ones, and how many turns lead into each.
void RouteWalk::discover(const Message& message) {
  ++walk_;
  nowhere_.clear();
  std::size_t looked_at = 0;
  while (looked_at < found_.size()) {
    const std::uint32_t link = found_[looked_at++];
    const std::uint32_t node = links_.to(link);
    const Onward& here = onward(node, message);
    ways_[link] = here.ports;
    if (here.ports.empty() && !here.ends) nowhere_.push_back(link);
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
  static constexpr std::uint16_t kOnly = 0;  // a device with one port needs no route
  message.source = NodeId{sender.node};
  const bool only = topology_.hops(sender.node).size() == 1;
  for (const std::uint16_t out :
       only ? std::span(&kOnly, 1) : router_.ways(*tables_[table_], sender.node, message)) {
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

// Messages that came by one table go on by the next.
void RouteWalk::add_detours(std::span<const std::uint32_t> switches, std::span<const Sender> senders) {
  detoured_.resize(tables_.size());
  Message message;
  for (const std::uint32_t via : switches) {
    message.destination = NodeId{via};
    for (table_ = 0; table_ < tables_.size(); ++table_) {
      for (const Sender& sender : senders) begin(sender, message);
      follow(message);
      for (const std::uint32_t link : found_) {
        if (links_.to(link) == via) nowhere_.push_back(link);
      }
      for (const std::uint32_t link : nowhere_) {
        detoured_[table_].push_back(link);
        end_detour(link);
      }
    }
    table_ = 0;
    forget_all();
  }
  for (std::vector<std::uint32_t>& links : detoured_) {
    std::ranges::sort(links);
    const auto same = std::ranges::unique(links);
    links.erase(same.begin(), same.end());
  }
}

void RouteWalk::refuse_at(std::span<const std::uint32_t> nodes) {
  if (nodes.empty()) return;
  refuses_.resize(topology_.size());
  for (const std::uint32_t node : nodes) refuses_[node] = true;
}

// By the first table each message comes to its destination, if it is not refused.
void RouteWalk::end_ways(const Message& message) {
  if (!refuses_.empty()) {
    for (const std::uint32_t link : found_) {
      if (refuses_[links_.to(link)])
        dead_ends_.push_back({message.destination.index(), links_.to(link), table_});
    }
  }
  if (table_ == 0) return;
  for (const std::uint32_t link : nowhere_)
    dead_ends_.push_back({message.destination.index(), links_.to(link), table_});
}

void RouteWalk::send(std::span<const Sender> senders, Message& message) {
  for (table_ = 0; table_ < tables_.size(); ++table_) {
    for (const Sender& sender : senders) {
      if (sender.since <= table_ && sender.node != message.destination.index()) begin(sender, message);
    }
    follow(message);
    end_ways(message);
  }
  table_ = 0;
  forget_all();
}

void RouteWalk::send_on(ClassSet classes, Message& message) {
  for (table_ = 0; table_ < tables_.size(); ++table_) {
    for (const std::uint32_t link : detoured_[table_]) {
      visit(link);
      go_on(link, classes);
    }
    follow(message);
    end_ways(message);
  }
  table_ = 0;
  forget_all();
}

void RouteWalk::add_straight(std::uint32_t destination, std::span<const Sender> senders) {
  Message message;
  message.destination = NodeId{destination};
  const std::size_t together = router_.goes_by_source() ? 1 : std::max<std::size_t>(1, senders.size());
  for (std::size_t i = 0; i < senders.size(); i += together) send(senders.subspan(i, together), message);
}

void RouteWalk::add(std::uint32_t destination, std::span<const Sender> senders) {
  add_straight(destination, senders);
  if (detoured_.empty()) return;
  ClassSet sent = 0;
  for (const Sender& sender : senders) {
    if (sender.node != destination) sent |= sender.classes;
  }
  Message message;
  message.destination = NodeId{destination};
  send_on(sent, message);
}

}  // namespace cxloom
