// Windows whose halves differ, and what in the spec makes them differ.
#pragma once

#include <string>

#include "kernel/batch_means.hpp"
#include "system/run/simulation.hpp"

namespace cxloom {

/// Whether the spec itself makes the window uneven: by an event, an outage or a degradation in it, or by a
/// workload of several phases.
bool is_uneven(const Simulation& simulation);

/// Says that the window was not stationary, which half has the higher mean latency, and what happened in the
/// window: events, outages and degradations of links, phases of workloads. Where there are none of these a
/// longer warm-up is advised.
std::string not_stationary(const Simulation& simulation, const BatchMeans::Halves& halves);

}  // namespace cxloom
