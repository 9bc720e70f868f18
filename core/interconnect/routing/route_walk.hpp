// Follows the routes of messages through a topology, link by link: what proofs and plans about all routes are
// made with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "interconnect/routing/routing.hpp"
#include "interconnect/topology/directed_links.hpp"
#include "interconnect/topology/topology.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// Message classes, a bit each.
using ClassSet = std::uint32_t;

constexpr ClassSet set_of(Channel channel) { return 1U << static_cast<unsigned>(channel); }

/// Routes that follow each other while messages are under way: what has come by the ways of one goes on by
/// those of the next.
using RouteTables = std::vector<const RouteTable*>;

/// A derived class keeps a state for each link, and sees the turns of all messages to one destination, by one
/// table after the other: a turn into a link comes before every turn out of it.
class RouteWalk {
 public:
  struct Sender {
    std::uint32_t node;
    ClassSet classes;       ///< that it sends
    std::size_t since = 0;  ///< the first table during which it does
  };
  /// Messages to a destination come to a node that may answer them itself: no way leads there any more, by a
  /// table other than the first; or it is one that refuses some.
  struct DeadEnd {
    std::uint32_t destination;
    std::uint32_t node;
    std::size_t table;
  };

  /// These nodes may answer any message instead of passing it on. To be said before `add`.
  void refuse_at(std::span<const std::uint32_t> nodes);
  /// Messages go from these nodes to that one, on detours if there are some.
  void add(std::uint32_t destination, std::span<const Sender> senders);
  /// Messages go from these nodes to that one, never on detours.
  void add_straight(std::uint32_t destination, std::span<const Sender> senders);
  /// Messages may go from these nodes first to one of `switches`, and from there on, or from where no way
  /// leads there any more. To be said before `add`.
  void add_detours(std::span<const std::uint32_t> switches, std::span<const Sender> senders);
  /// The dead ends of all that has been added.
  const std::vector<DeadEnd>& dead_ends() const { return dead_ends_; }

 protected:
  /// All must outlive it.
  RouteWalk(const Topology& topology, const DirectedLinks& links, Router& router, RouteTables tables);
  ~RouteWalk() = default;

  /// The table of the turns that are shown now.
  std::size_t table() const { return table_; }

  /// Messages of these classes leave a device by this link.
  virtual void leave(std::uint32_t link, ClassSet classes) = 0;
  /// Messages by `link` may go on by the port `out` of the node that it reaches, which is the link `next`.
  virtual void turn(std::uint32_t link, std::uint16_t out, std::uint32_t next) = 0;
  /// Whatever was noted for this link is of earlier messages.
  virtual void forget(std::uint32_t link) = 0;
  /// Messages that come by this link are at the end of a detour, during this table.
  virtual void end_detour(std::uint32_t link) = 0;
  /// Messages whose detour ended so during this table go on from there, of these classes.
  virtual void go_on(std::uint32_t link, ClassSet classes) = 0;

 private:
  /// Where messages to one destination go on at a node, by one table.
  struct Onward {
    std::span<const std::uint16_t> ports;
    bool ends = false;       ///< it is where they go, or passes nothing on
    std::uint64_t walk = 0;  ///< for which this has been found
  };

  const Onward& onward(std::uint32_t node, const Message& message);
  void begin(const Sender& sender, Message& message);
  void visit(std::uint32_t link);
  void discover(const Message& message);
  void follow(const Message& message);
  void end_ways(const Message& message);
  void send(std::span<const Sender> senders, Message& message);
  void send_on(ClassSet classes, Message& message);
  void forget_all();

  const Topology& topology_;
  const DirectedLinks& links_;
  Router& router_;
  RouteTables tables_;
  std::size_t table_ = 0;
  std::vector<DeadEnd> dead_ends_;
  std::vector<std::vector<std::uint32_t>>
      detoured_;  // by table: links by which messages come to the ends of detours
  // The state of the walk, for the messages at hand.
  std::vector<std::uint32_t> found_;                  // links, each before it is looked where it leads
  std::vector<std::uint32_t> into_;                   // by link: turns into it
  std::vector<bool> seen_;                            // by link
  std::vector<std::span<const std::uint16_t>> ways_;  // by link: ports that lead on
  std::vector<Onward> onward_;                        // by node
  std::vector<bool> refuses_;                         // by node; empty: none does
  std::uint64_t walk_ = 0;                            // number of times that ways have been followed
  std::vector<std::uint32_t> nowhere_;                // links from which no way leads on
  std::vector<std::uint32_t> ready_;
};

}  // namespace cxloom
