// Which way is up: an order of the nodes in which every link leads up one way and down the other.
#pragma once

#include <cstdint>
#include <vector>

#include "interconnect/topology/topology.hpp"

namespace cxloom {

/// The place of each node in an order that begins with a root: by links from the root, then as written.
/// Devices, which pass nothing on, come last. A switch here is whatever passes messages on. The root is the
/// one of least eccentricity; among several, the one with most links, then the first. Where links that are
/// down cut the system into parts, each has a root.
std::vector<std::uint32_t> up_down_order(const Topology& topology);

}  // namespace cxloom
