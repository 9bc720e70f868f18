// Shortest-path routes: from each node to each destination, all equal-cost next hops.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "interconnect/topology/topology.hpp"

namespace cxloom {

enum class RouteMetric : std::uint8_t {
  kHops,     ///< fewest links
  kLatency,  ///< least unloaded latency of a line of data: ports, flight, transit times and serialisation
  kUpDown,   ///< fewest links down; from where no way leads down all the way, fewest links up to where one
             ///< does
};

/// Given ways, which replace the ways found: from a node with several ports to a destination.
struct GivenRoute {
  std::uint32_t node = 0;
  std::uint32_t destination = 0;
  std::vector<std::uint16_t> ports;  ///< in order
};

/// For each node and destination, the ports of all shortest ways.
class RouteTable {
 public:
  /// Throws InputError if the given routes and those that are found lead in a circle where nothing is down.
  /// Where something is, given ways that do not lead on are left out, and there may be none.
  RouteTable(const Topology& topology, RouteMetric metric, std::span<const GivenRoute> given = {});
  /// The memory of a topology's table, with the tables that switches make of it.
  static std::uint64_t bytes(const Topology& topology, RouteMetric metric,
                             std::span<const GivenRoute> given = {});

  /// The ports of `node` on shortest ways to `destination`, in the order of the ports.
  std::span<const std::uint16_t> next_hops(std::uint32_t node, std::uint32_t destination) const {
    const Target& target = targets_[destination];
    if (target.attachment == node) return {&target.attachment_port, 1};
    const Entry& entry = entries_[row_[node] + target.group];
    if (entry.count <= 1) return {&entry.port, entry.count};
    return {pool_.data() + entry.first, entry.count};
  }
  std::size_t size() const { return targets_.size(); }
  /// Links on a shortest way between two nodes; kUnreachable if there is none through forwarding nodes.
  std::uint32_t distance(std::uint32_t from, std::uint32_t to) const;
  static constexpr std::uint32_t kUnreachable = 0xffffffffU;
  bool reaches(std::uint32_t from, std::uint32_t to) const { return distance(from, to) != kUnreachable; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  static constexpr std::uint16_t kFarAway = 0xffffU;

  /// How a destination is reached: by the routes of its group, and if it is a leaf by a port of the node it
  /// hangs on.
  struct Target {
    std::uint32_t group = 0;
    std::uint32_t attachment = kNone;
    std::uint16_t attachment_port = 0;
  };
  /// The next hops from one node to one group: a port, or a list in the pool.
  struct Entry {
    std::uint32_t first = 0;
    std::uint16_t count = 0;  ///< 0: unreachable
    std::uint16_t port = 0;   ///< of a single hop
  };

  /// Destinations with the same routes.
  struct Group {
    std::uint32_t node = 0;  ///< that the routes lead to
    Time tail;  ///< by latency: how far, from there on, a message's last byte falls behind its head
    std::uint32_t only = kNone;  ///< the one destination of a group with given routes
    auto operator<=>(const Group&) const = default;
  };

  struct Search;
  static std::vector<Group> group_by_routes(const Topology& topology, RouteMetric metric,
                                            std::span<const GivenRoute> given, std::vector<Target>& targets);
  void search_hops(const Topology& topology, std::uint32_t target, Search& search) const;
  void search_latency(const Topology& topology, const Group& group, Search& search) const;
  void search_up_down(const Topology& topology, std::uint32_t target, const std::vector<std::uint32_t>& order,
                      Search& search) const;
  void take_given(const Topology& topology, const Group& group, std::span<const GivenRoute> given,
                  Search& search) const;
  [[noreturn]] static void refuse_circle(const Topology& topology, const Group& group, std::uint32_t start,
                                         const Search& search);
  void add_group(std::uint32_t group, Search& search);

  std::vector<Target> targets_;  // by destination
  std::vector<Group> groups_;
  std::vector<std::size_t> row_;  // start of a node's row in entries_; leaves share an unused one
  std::vector<Entry> entries_;
  std::vector<std::uint16_t> pool_;       // lists of several ports
  std::vector<std::uint16_t> distances_;  // links from each node to each group's node, as entries_
};

}  // namespace cxloom
