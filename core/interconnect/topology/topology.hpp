// The graph of a system: nodes joined by links. It knows nothing of what the nodes do but whether they pass
// messages on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

class Topology {
 public:
  struct Node {
    std::string name;
    bool forwards = false;     ///< routes may lead through it
    bool is_switch = false;    ///< its ports to devices are PBR edge ports
    Time transit;              ///< what a message spends in it on its way through, unloaded
    bool cut_through = false;  ///< it passes a message on as soon as the head is in, not with the last byte
    Time serialization;        ///< of a line of data, on a medium of its own (a bus)
  };
  /// The cost of one direction of a link for a line of data without other traffic.
  struct Crossing {
    Time latency;        ///< ports and flight
    Time serialization;  ///< from its head to its last byte
    bool whole = false;  ///< the link takes it and gives it in whole (flits): no head goes ahead
  };
  /// One direction of a link, seen from the node that it leaves.
  struct Hop {
    std::uint32_t to = 0;
    std::uint16_t port = 0;      ///< of the node it leaves
    std::uint16_t far_port = 0;  ///< of the node it reaches
    std::uint32_t link = 0;      ///< index of the link
    bool down = false;           ///< the link has failed: no route leads over it
    bool bundled = false;        ///< all links to the same node are one logical port
    Crossing crossing;           ///< what it takes
  };

  NodeId add_node(Node node);
  /// Joins two nodes; ports are numbered in the order of the links. Returns the link's index.
  std::uint32_t connect(NodeId a, NodeId b, const Crossing& a_to_b, const Crossing& b_to_a);

  /// The link is one of a bundle, which is all that joins its two nodes.
  void set_bundled(std::uint32_t link);
  /// The link has failed, or works again.
  void set_down(std::uint32_t link, bool down);
  bool any_down() const;

  std::size_t size() const { return nodes_.size(); }
  std::uint32_t link_count() const { return links_; }
  const Node& node(std::uint32_t index) const { return nodes_[index]; }
  std::span<const Hop> hops(std::uint32_t index) const { return hops_[index]; }
  /// A device that hangs on one port of a forwarding node: it has the routes of that node.
  bool is_leaf(std::uint32_t index) const {
    return hops_[index].size() == 1 && !hops_[index][0].down && !nodes_[index].forwards &&
           nodes_[hops_[index][0].to].forwards;
  }
  /// A port of a switch that leads to something that is no switch.
  struct EdgePort {
    std::uint32_t switch_node = 0;
    std::uint16_t port = 0;
    std::uint32_t device = 0;  ///< what it leads to
  };
  /// By PBR identity: switch by switch, in the order of their ports.
  std::vector<EdgePort> edge_ports() const;

 private:
  std::vector<Node> nodes_;
  std::vector<std::vector<Hop>> hops_;
  std::uint32_t links_ = 0;
};

}  // namespace cxloom
