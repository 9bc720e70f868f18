// The least time that is left of requests under way: for whoever asks when something can be answered at the
// earliest.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "device/requester/requester.hpp"

namespace cxloom {

class System;

/// Nothing of the system fails, and nobody but the device that a request goes to answers it.
/// It goes by the times of links and switches without traffic, and by the time of controllers and media.
class TimeLeft final : public RemainingTime {
 public:
  explicit TimeLeft(const System& system);

  /// The least that is left of a request, from the mark of its account on.
  Time of(const Request& request) override;
  /// From the time that a device makes a request on.
  Time of_any(NodeId requester);
  /// None of that is known: something of the system fails, or it has parts whose ways are their own.
  bool unknown() const { return unknown_; }

 private:
  /// What is left of the way from one device to another, by the links that a message has crossed.
  using Way = std::vector<Time>;

  const Way& way(NodeId from, NodeId to);
  /// From each node.
  std::vector<Time> times_to(NodeId to) const;
  std::vector<std::uint32_t> links_from(NodeId from) const;
  static Time after(const Way& way, std::size_t links) {
    return way[links < way.size() ? links : way.size() - 1];
  }

  const System& system_;
  bool unknown_;
  bool serves_whole_;  // each request to memory passes its controller and its media
  std::map<std::pair<NodeId, NodeId>, Way> ways_;
  std::map<NodeId, Time> least_;  // of any request of a device
};

}  // namespace cxloom
