// Datelines: the turns at which messages change to the next virtual channel, so that their buffers close no
// circle.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/digraph.hpp"

namespace cxloom {

/// Turns of a dependence graph of links, divided into turns on a circle and others.
///
/// A turn between two strongly connected components leads no way back: behind it messages begin with the
/// first virtual channel again. Within a component an order of its links decides: a turn that goes back in
/// that order is a dateline. Then no virtual channel has a circle, and none leads back to one before. On a
/// ring the datelines are one turn in each direction; on a torus with dimension order, one in each direction
/// of each ring, as in Dally and Seitz (1987).
struct Datelines {
  std::vector<std::uint32_t> component;  ///< of each link
  std::vector<std::uint32_t> order;      ///< place of each link

  bool restarts(std::uint32_t link, std::uint32_t next) const { return component[link] != component[next]; }
  bool crossed(std::uint32_t link, std::uint32_t next) const {
    return component[link] == component[next] && order[next] <= order[link];
  }
};

/// By directed link: the ranks of the nodes that it leaves and reaches, in an order of the nodes from some
/// root outwards.
using LinkRanks = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Several placements of datelines, the same in each run: one for each of the `ranks`, up to its root and
/// down again, and one for each of `kDepthFirst` links, depth first from there. `dependences`: of links, by
/// all turns of all routes.
std::vector<Datelines> candidate_datelines(const Digraph& dependences, const std::vector<LinkRanks>& ranks);
inline constexpr std::uint32_t kDepthFirst = 8;

}  // namespace cxloom
