// The summary of a run: the keys of the public contract, each defined once.
#pragma once

#include <vector>

#include "base/measure.hpp"
#include "base/value.hpp"
#include "results/collector.hpp"
#include "system/run/simulation.hpp"

namespace cxloom {

/// The measures of a summary: keys, units, and meanings.
std::vector<MeasureInfo> summary_measures();

/// The summary of a finished or stopped simulation: a map of `summary_measures`.
Value summarize(const Simulation& simulation, const Collector& collector);
/// The summary with `per_link` empty: where there are very many links, each is summarised when it is needed.
Value summarize_without_links(const Simulation& simulation, const Collector& collector);
/// The entry of a link in `per_link`: the measures of its two directions by their names.
Value summarize_link(const Simulation& simulation, const System::LinkView& link);
/// The measures of a system played without a Simulation, by name of component or link direction.
Value measures_of(const System& system);

}  // namespace cxloom
