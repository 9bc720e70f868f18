// The receive buffers at link ends: which are limited, and which nodes keep one until a message has gone on.
#pragma once

#include <cstdint>
#include <vector>

#include "component/component.hpp"
#include "interconnect/routing/route_walk.hpp"
#include "interconnect/topology/directed_links.hpp"
#include "system/model/system.hpp"

namespace cxloom {

class LinkBuffers {
 public:
  explicit LinkBuffers(const System& system)
      : system_(system), links_(system.topology()), limited_(links_.size()) {
    for (std::uint32_t link = 0; link < links_.size(); ++link) {
      const ClassCredits& credits = params(link).credits;
      for (std::size_t i = 0; i < kChannelCount; ++i) {
        if (credits.of(static_cast<Channel>(i))) limited_[link] |= 1U << i;
      }
    }
  }

  const DirectedLinks& links() const { return links_; }
  const LinkParams& params(std::uint32_t link) const {
    return *system_.links()[links_.hop(link).link].params;
  }
  /// The classes whose buffers at the end of a directed link are limited.
  ClassSet limited(std::uint32_t link) const { return limited_[link]; }
  /// Switches with queues at their inputs keep the buffer until the message leaves. All others make room at
  /// once, I/O engines among them, though they take turns for their port.
  bool keeps(std::uint32_t node) const {
    const Component& component = *system_.components()[node];
    return component.forwards() && component.arbitrates();
  }
  /// What comes in by a link keeps its buffer.
  bool held_behind(std::uint32_t link) const { return limited_[link] != 0 && keeps(links_.to(link)); }
  /// The virtual channels in use on a link: only a node that keeps buffers distinguishes them.
  std::uint8_t virtual_channels(std::uint32_t link) const {
    return held_behind(link) ? static_cast<std::uint8_t>(params(link).virtual_channels) : std::uint8_t{1};
  }

 private:
  const System& system_;
  DirectedLinks links_;
  std::vector<ClassSet> limited_;  // by directed link
};

}  // namespace cxloom
