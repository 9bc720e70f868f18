// Which memory a page of a program is put into when it is first touched: the interface of a placement, as
// NUMA policies of an operating system are. A kind is a file of its own and a line in `register_placements`,
// or in the `CXLOOM_PLUGIN` of a plug-in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/kind_registry.hpp"
#include "base/units.hpp"
#include "workload/placement/numa_nodes.hpp"
#include "workload/stream/object_range.hpp"

namespace cxloom {

class PagePlacement;
struct PlacementContext;
using PlacementRegistry = KindRegistry<PagePlacement, PlacementContext>;

/// What a placement finds around itself when it is made.
struct PlacementContext {
  std::span<const NumaNode> nodes;  ///< of the device, in the order of the address map; they outlive it
  Bytes page;
  const PlacementRegistry& kinds;  ///< for those that are made of others
  /// Memory that is in none of the nodes, as another device has it.
  std::span<const MemoryOfOther> others = {};
  /// Objects of the program, where its work says them.
  std::span<const ObjectRange> objects = {};
};

class PagePlacement {
 public:
  virtual ~PagePlacement() = default;

  /// Pages that follow each other go to a node, by its place.
  struct Choice {
    std::size_t node;
    std::uint64_t pages;
  };
  /// Where `page` goes, which is touched for the first time, and how many of the `count` pages from it on go
  /// there with it: all that it would say the same of if they were touched one by one. `free` are the frames
  /// that each node has left; no more are to be taken of it. Nothing: no node that the page may use has one.
  virtual std::optional<Choice> place(std::uint64_t page, std::uint64_t count,
                                      std::span<const std::uint64_t> free) = 0;
  /// Choices that come again after so many pages.
  struct Round {
    std::uint64_t pages = 0;  ///< zero: none do
    std::uint64_t until = 0;  ///< for so many pages in all, no more than were asked for
  };
  /// Each of the `count` pages from `page` on goes where the page of the round before it went, unless one of
  /// these nodes runs full. Whole rounds need not be asked for: they leave its turn as it was, unless its
  /// nodes change later.
  virtual Round round(std::uint64_t /*page*/, std::uint64_t /*count*/) const { return {}; }
  /// From now on these nodes have memory for the program, by their places, and the others have none: it has
  /// no way there, or its extents were released. All have, unless it is said. What is merely full has memory.
  virtual void nodes_changed(const std::vector<bool>& /*has_memory*/) {}
  /// As if it had placed nothing yet: memory is divided among programs by what it says, and then the pages
  /// are placed. A kind whose answers depend on earlier ones forgets these.
  virtual void restart() {}
  /// The nodes of each name that it was given, by their places. It is told where none of a name's has memory.
  virtual std::vector<std::vector<std::size_t>> named() const { return {}; }
  /// So many pages have a place as long as every node has room, whichever they are. One that knows of nothing
  /// but the nodes' room says no number.
  virtual std::uint64_t sure_of() const { return ~std::uint64_t{0}; }
  /// The program gave the area of the page a policy of its own (set_mempolicy, mbind), which others respect.
  virtual bool is_explicit(std::uint64_t /*page*/) const { return false; }
};

/// Adds the placements that come with cxloom. `as-is` makes none: addresses are physical, and nothing is
/// placed.
void register_placements(PlacementRegistry& registry);

/// The first of these nodes that has a frame left takes as many pages as it can.
inline std::optional<PagePlacement::Choice> first_with_room(std::span<const std::size_t> order,
                                                            std::uint64_t count,
                                                            std::span<const std::uint64_t> free) {
  for (const std::size_t node : order) {
    if (free[node] > 0) return PagePlacement::Choice{node, count < free[node] ? count : free[node]};
  }
  return std::nullopt;
}

}  // namespace cxloom
