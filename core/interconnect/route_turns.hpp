// The turns of all routes in use: from which link into which a message may go on, by class and virtual channel.
#pragma once

#include <cstdint>
#include <functional>
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

  /// Where a message that comes in by a link and virtual channel, and goes on by the port `out`, goes on.
  using Plan =
      std::function<std::uint8_t(std::uint32_t link, std::uint16_t out, std::uint8_t virtual_channel)>;

  /// All must outlive it. Each class has so many virtual channels, at least all those of the plan.
  RouteTurns(const Topology& topology, const DirectedLinks& links, Router& router, unsigned virtual_channels,
             Plan plan);

  /// Messages may go from these nodes first to one of `switches`, and from there on. To be said before `add`.
  void add_detours(std::span<const std::uint32_t> switches, std::span<const Sender> senders);
  /// Messages go from these nodes to that one.
  void add(std::uint32_t destination, std::span<const Sender> senders);

  /// Those that may turn from a link and virtual channel into the port `out` of the node that it reaches.
  ClassSet classes(std::uint32_t link, std::uint8_t virtual_channel, std::uint16_t out) const {
    return turns_[(first_[link] + out) * virtual_channels_ + virtual_channel];
  }
  /// The last virtual channel that a message may be on.
  std::uint8_t last_virtual_channel() const { return last_; }

 private:
  struct Arrival {
    std::uint32_t link;
    std::uint8_t virtual_channel;
    ClassSet classes;
  };

  void enter(std::uint32_t link, std::uint8_t virtual_channel, ClassSet classes);
  void send(const Sender& sender, Message& message);
  void follow(Message& message);
  void forget();

  const Topology& topology_;
  const DirectedLinks& links_;
  Router& router_;
  unsigned virtual_channels_;
  Plan plan_;
  std::uint8_t last_ = 0;
  std::vector<std::size_t> first_;  // by link, of its turns
  std::vector<ClassSet> turns_;     // by virtual channel, too
  // Of the destination that is looked at.
  std::vector<ClassSet> entered_;  // by link and virtual channel
  std::vector<std::uint32_t> touched_;
  std::vector<Arrival> arrivals_;
  std::vector<Arrival> detoured_;  // where they come in at switches of detours
};

}  // namespace cxloom
