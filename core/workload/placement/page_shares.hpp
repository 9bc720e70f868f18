// Divides memory among programs whose pages are placed, so that what one of them gets does not depend on when
// the others touch theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workload/placement/numa_nodes.hpp"
#include "workload/placement/page_placement.hpp"
#include "workload/placement/page_runs.hpp"
#include "workload/stream/access_stream.hpp"

namespace cxloom {

/// The pages that the next `accesses` of a stream touch, or those to its end if they are fewer, in the order
/// of first touch; takes them.
PageRuns pages_touched(AccessStream& stream, std::uint64_t accesses, Bytes page);
/// The pages that these addresses are in, in their order.
PageRuns pages_in(std::vector<AddressRange> ranges, Bytes page);

/// A program that shares memory with others.
struct PlacedProgram {
  PagePlacement* placement = nullptr;  ///< one of its own, which has placed nothing since it was restarted
  std::optional<PageRuns> pages;       ///< that it touches at most; none: not known
  std::vector<std::size_t> nodes;      ///< its nodes, in the order that its placement knows them by
  std::vector<bool> has_memory = {};   ///< whether each has memory for it; all, if none is said to
  std::string path = {};               ///< where its mistakes are, if whoever asks does not say it
};

/// How many frames of each node each program gets: as many as it takes if all programs touch their pages in
/// turn, one page each. So whoever needs less than an equal share of what several want gets all of it, and
/// the others share the rest evenly. Programs whose pages are not known have a page each, and share what the
/// others leave. `free` are the frames of all nodes.
std::vector<std::vector<std::uint64_t>> share_out(std::vector<std::uint64_t> free,
                                                  std::span<const PlacedProgram> programs);

/// A program's share of a node: frames that follow each other in the order in which the node gives them.
struct NodeShare {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
/// Puts such shares one program's behind the other's. By program, then by its own nodes.
std::vector<std::vector<NodeShare>> lay_out(std::span<const PlacedProgram> programs,
                                            std::span<const std::vector<std::uint64_t>> shares);

}  // namespace cxloom
