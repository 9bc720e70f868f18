// The caches that have asked a home for copies, by the numbers that its snoop filter knows them by.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

class DirectoryPeers {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t count() const { return static_cast<std::uint32_t>(nodes_.size()); }
  NodeId node(std::uint32_t peer) const { return nodes_[peer]; }
  /// By node its number, or kNone. A node beyond the end has none.
  const std::vector<std::uint32_t>& by_node() const { return numbers_; }
  /// kNone: the node has never asked for a copy.
  std::uint32_t known(NodeId node) const {
    return node.index() < numbers_.size() ? numbers_[node.index()] : kNone;
  }
  /// The node asks for a copy.
  std::uint32_t number(NodeId node) {
    if (numbers_.size() <= node.index()) numbers_.resize(node.index() + 1, kNone);
    std::uint32_t& peer = numbers_[node.index()];
    if (peer == kNone) {
      peer = count();
      nodes_.push_back(node);
    }
    return peer;
  }

 private:
  std::vector<std::uint32_t> numbers_;  // by node
  std::vector<NodeId> nodes_;
};

}  // namespace cxloom
