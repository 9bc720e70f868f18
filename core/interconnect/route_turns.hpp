// The turns of all routes in use: from which link into which a message may go on, by class.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "interconnect/directed_links.hpp"
#include "interconnect/routing.hpp"
#include "interconnect/topology.hpp"

namespace cxloom {

/// Message classes, a bit each.
using ClassSet = std::uint32_t;

constexpr ClassSet set_of(Channel channel) { return 1U << static_cast<unsigned>(channel); }

class RouteTurns {
 public:
  struct Sender {
    std::uint32_t node;
    ClassSet classes;  ///< that it sends
  };

  /// All must outlive it.
  RouteTurns(const Topology& topology, const DirectedLinks& links, Router& router);

  /// Messages may go from these nodes first to one of `switches`, and from there on. To be said before `add`.
  void add_detours(std::span<const std::uint32_t> switches, std::span<const Sender> senders);
  /// Messages go from these nodes to that one.
  void add(std::uint32_t destination, std::span<const Sender> senders);

  /// Those that may turn from a link into the port `out` of the node that it reaches.
  ClassSet classes(std::uint32_t link, std::uint16_t out) const { return turns_[first_[link] + out]; }

 private:
  struct Arrival {
    std::uint32_t link;
    ClassSet classes;
  };

  void enter(std::uint32_t link, ClassSet classes);
  void send(const Sender& sender, Message& message);
  void follow(Message& message);
  void forget();

  const Topology& topology_;
  const DirectedLinks& links_;
  Router& router_;
  std::vector<std::size_t> first_;  // by link, of its turns
  std::vector<ClassSet> turns_;
  // Of the destination that is looked at.
  std::vector<ClassSet> entered_;  // by link
  std::vector<std::uint32_t> touched_;
  std::vector<Arrival> arrivals_;
  std::vector<Arrival> detoured_;  // where they come in at switches of detours
};

}  // namespace cxloom
