// Datelines: the turns at which messages change to the next virtual channel, so that their buffers close no circle.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/digraph.hpp"

namespace cxloom {

/// Turns of a dependence graph of links, divided into those within a circle's reach and the others.
///
/// A turn between two strongly connected components leads no way back: behind it messages begin with the first virtual channel
/// again. Within a component an order of its links decides: a turn that goes back in that order is a dateline. Then no virtual
/// channel has a circle, and none leads back to one before. On a ring the datelines are one turn in each direction; on a torus with
/// dimension order, one in each direction of each ring, as in Dally and Seitz (1987).
struct Datelines {
  std::vector<std::uint32_t> component;  ///< of each link
  std::vector<std::uint32_t> order;      ///< place of each link

  bool restarts(std::uint32_t link, std::uint32_t next) const { return component[link] != component[next]; }
  bool crossed(std::uint32_t link, std::uint32_t next) const {
    return component[link] == component[next] && order[next] <= order[link];
  }
};

/// How many virtual channels the routes need with these datelines.
using DatelineCost = std::function<unsigned(const Datelines&)>;

/// Of several orders the first that needs no more than `enough`, or else the one that needs fewest. `dependences`: of links, by all turns of all routes. `rank`: of each link the node that it leaves and
/// the one that it reaches, in an order of nodes from some root outwards, one entry for each order to be tried.
Datelines find_datelines(const Digraph& dependences,
                         const std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>& ranks,
                         unsigned enough, const DatelineCost& cost);

}  // namespace cxloom
