// The divisor of a destination's rank at each node, before the rank chooses among ways: so the levels of a
// tree choose by different digits of the rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "interconnect/topology/topology.hpp"

namespace cxloom {

/// How many ways up lead to each node from the devices, chosen level by level; 1 on the lowest. A level is a
/// distance from the nearest device. A stride of `most` or more would leave no choice: the count begins anew.
std::vector<std::uint32_t> rank_strides(const Topology& topology, std::uint32_t most);

}  // namespace cxloom
