// What memory there is for a device at the moment: what it has a way to, and what extents it was given.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "workload/placement/numa_nodes.hpp"

namespace cxloom {

class System;

/// The ports of a node on shortest ways to another. Of a device with one link it is that one, unless it has
/// failed.
std::span<const std::uint16_t> ports_towards(const System& system, std::uint32_t node, std::uint32_t to);

/// Routes lead from a device to a memory, or to a logical device of it, and all virtual switches on the way
/// let its requests pass.
bool has_way(const System& system, NodeId from, const MemoryTargetInfo& memory);

/// Routes lead from a cache to the home of its lines, and all virtual switches on the way let pass what the
/// two say about lines that the cache has. So it is also while these are taken back from what has been
/// unbound.
bool may_keep_lines(const System& system, NodeId cache, NodeId home);

/// As `has_way`, if all links worked and messages took any way: what bindings alone say.
bool is_bound_to(const System& system, NodeId from, NodeId to);

/// The extents that a device has now, for `numa_nodes`.
Extents extents_now(const System& system, NodeId device);

/// Whether the device may use each part of a node now: its frames or, in extents, each run of frames.
std::vector<bool> offered_parts(const System& system, NodeId device, const NumaNode& node, Bytes page);

}  // namespace cxloom
