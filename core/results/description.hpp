// What a spec describes, without its work being run: devices, links, routes, how long a read takes when
// nothing else is about.
#pragma once

#include "base/value.hpp"
#include "system/run/simulation.hpp"

namespace cxloom {

/// Devices, links with bounds, the way from requesters to memories, memory without addresses, PBR identities.
/// Reads the traces of the workloads. Throws InputError for what a run would refuse.
Value describe_system(const Registry& registry, const Spec& spec, const TraceOpener& open_trace);

}  // namespace cxloom
