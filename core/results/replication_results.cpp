#include "results/replication_results.hpp"

#include <cstddef>
#include <string>

#include "component/component.hpp"
#include "system/model/system.hpp"
#include "system/run/simulation.hpp"

namespace cxloom {

namespace {

std::string name_of(ReplicaSet::State state) {
  switch (state) {
    case ReplicaSet::State::kWhole: return "whole";
    case ReplicaSet::State::kOut: return "out";
    default: return "back";
  }
}

}  // namespace

std::optional<Value> replication_of(const Simulation& simulation) {
  const ReplicaSets* const sets = simulation.system().system_context().replicas.get();
  if (!sets) return std::nullopt;
  Value::Map regions;
  for (const auto& set : sets->all()) {
    ReplicationMeasured measured{set->counts()};
    Value::Map states;
    for (std::size_t copy = 0; copy < set->size(); ++copy) {
      const std::string& memory = simulation.system().components()[set->node(copy).index()]->name();
      states.emplace_back(memory, name_of(set->state(copy)));
    }
    measured.state = std::move(states);
    measured.degraded = set->degraded(simulation.now()).ns();
    if (set->answers_early()) {
      measured.lost = measured.lost_writes;
      measured.lag_ns = mean_value(measured.lag.ns(), static_cast<double>(measured.early));
    }
    if (set->keeps_versions()) {
      measured.stale = measured.stale_reads;
      measured.reversed = measured.reversed_reads;
      measured.differing = set->differing_lines();
    }
    regions.emplace_back(set->name(), map_of(kReplicationMeasures, measured));
  }
  return regions;
}

}  // namespace cxloom
