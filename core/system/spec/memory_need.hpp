// What a system will take of the machine's memory, known before it is built.
#pragma once

#include <span>

#include "base/memory_estimate.hpp"
#include "interconnect/routing/route_table.hpp"
#include "interconnect/topology/topology.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

/// The memory of a system's devices and links, at most; not of what a run collects.
MemoryEstimate estimate_memory(const Registry& registry, const Spec& spec);
/// The memory of the routes between them.
MemoryEstimate estimate_routes(const Topology& topology, RouteMetric metric,
                               std::span<const GivenRoute> given);
/// Throws InputError, with the parameter that takes most, unless the machine has so much left. The machine is
/// not asked for less than a mebibyte.
void check_memory(const MemoryEstimate& estimate);

}  // namespace cxloom
