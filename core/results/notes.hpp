// What a reader of a summary must know beside its measures.
#pragma once

#include "base/value.hpp"
#include "results/collector.hpp"
#include "results/unlimited.hpp"
#include "system/run/simulation.hpp"

namespace cxloom {

/// What makes the measures less than they seem, as sentences. `all`: requests of every kind; `length`: of the
/// window, in ns.
Value notes_of(const Simulation& simulation, const Collector& collector, const RequestStatistics& all,
               const Unlimited& unlimited, double length);

}  // namespace cxloom
