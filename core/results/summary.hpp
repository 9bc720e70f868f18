// The summary of a run: the keys of the public contract, each defined once.
#pragma once

#include <string_view>
#include <vector>

#include "base/value.hpp"
#include "results/collector.hpp"
#include "system/simulation.hpp"

namespace cxloom {

struct MeasureDefinition {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
};

/// The measures of the summary: name (the JSON key), unit, and when its clock starts and stops.
const std::vector<MeasureDefinition>& measure_definitions();

/// The summary of a finished or stopped simulation, as a map with the keys of `measure_definitions`.
Value summarize(const Simulation& simulation, const Collector& collector);
/// The same with `per_link` empty: where there are very many links, each is summarised when it is needed.
Value summarize_without_links(const Simulation& simulation, const Collector& collector);
/// The entry of a link in `per_link`: the measures of its two directions by their names.
Value summarize_link(const Simulation& simulation, const System::LinkView& link);
/// What each component and direction of a link measured, by name: of a system that was played without a Simulation.
Value measures_of(const System& system);

}  // namespace cxloom
