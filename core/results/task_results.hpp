// What became of a graph of tasks: times, the critical path, and who used which link.
#pragma once

#include <optional>

#include "base/value.hpp"

namespace cxloom {

class Simulation;

/// Those of `kGraphMeasures`, of a simulation with tasks; nothing: it has none.
std::optional<Value> tasks_of(const Simulation& simulation);

}  // namespace cxloom
