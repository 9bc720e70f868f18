// The directions of a topology's links, numbered: each by the node, and the port of it, that it leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "interconnect/topology/topology.hpp"

namespace cxloom {

class DirectedLinks {
 public:
  /// `topology` must outlive it.
  explicit DirectedLinks(const Topology& topology) : topology_(topology) {
    for (std::uint32_t node = 0; node < topology.size(); ++node) {
      first_.push_back(static_cast<std::uint32_t>(from_.size()));
      from_.insert(from_.end(), topology.hops(node).size(), node);
      for (const Topology::Hop& hop : topology.hops(node)) to_.push_back(hop.to);
    }
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(from_.size()); }
  /// The link that leaves `node` by `port`, and the link that comes in there.
  std::uint32_t leaving(std::uint32_t node, std::uint16_t port) const { return first_[node] + port; }
  std::uint32_t entering(std::uint32_t node, std::uint16_t port) const {
    const Topology::Hop& out = topology_.hops(node)[port];
    return leaving(out.to, out.far_port);
  }
  std::uint32_t from(std::uint32_t link) const { return from_[link]; }
  std::uint16_t port(std::uint32_t link) const {
    return static_cast<std::uint16_t>(link - first_[from_[link]]);
  }
  const Topology::Hop& hop(std::uint32_t link) const { return topology_.hops(from(link))[port(link)]; }
  std::uint32_t to(std::uint32_t link) const { return to_[link]; }

 private:
  const Topology& topology_;
  std::vector<std::uint32_t> first_;  // by node
  std::vector<std::uint32_t> from_;   // by directed link
  std::vector<std::uint32_t> to_;     // the node that it enters, by link
};

}  // namespace cxloom
