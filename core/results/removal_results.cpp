#include "results/removal_results.hpp"

#include <cstddef>
#include <vector>

#include "component/component.hpp"
#include "device/requester/requester.hpp"
#include "system/events/answered.hpp"
#include "system/events/player.hpp"
#include "system/events/removal.hpp"
#include "system/model/system.hpp"
#include "system/run/simulation.hpp"

namespace cxloom {

namespace {

using Reading = std::vector<AnsweredSoFar>;

struct Answered {
  std::uint64_t requests;
  Value latency;
};

Answered between(const AnsweredSoFar& from, const AnsweredSoFar& to) {
  const std::uint64_t requests = to.requests - from.requests;
  return {requests,
          mean_value((to.latency_sum_ps - from.latency_sum_ps) / 1000.0, static_cast<double>(requests))};
}

Value requesters_around(const System& system, const Removal& removal, const Reading& end) {
  const Reading& over = removal.answered_until_end().empty() ? end : removal.answered_until_end();
  Value::Map requesters;
  std::size_t i = 0;
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    const std::size_t number = i++;
    if (!requester->has_work()) continue;
    const AnsweredSoFar& began = removal.answered_before()[number];
    const Answered before = between({}, began);
    const Answered during = between(began, over[number]);
    const Answered after = between(over[number], end[number]);
    requesters.emplace_back(component->name(),
                            map_of(kAroundRemovalMeasures, {.requests_before = before.requests,
                                                            .latency_before = before.latency,
                                                            .requests_during = during.requests,
                                                            .latency_during = during.latency,
                                                            .requests_after = after.requests,
                                                            .latency_after = after.latency,
                                                            .errors = end[number].errors - began.errors}));
  }
  return requesters;
}

}  // namespace

bool is_emptied(const Simulation& simulation, NodeId memory) {
  if (!simulation.system().offline(memory)) return false;
  // A memory may be emptied, repaired and filled again: what counts is the removal that began last.
  const Removal* last = nullptr;
  for (std::size_t i = 0; i < simulation.events().entries().size(); ++i) {
    const Removal* const removal = simulation.events().removal(i);
    if (!removal || removal->memory() != memory) continue;
    if (!last || removal->began() > last->began()) last = removal;
  }
  return last && last->done();
}

std::optional<Value> removals_of(const Simulation& simulation) {
  const auto& entries = simulation.events().entries();
  const Reading end = answered_so_far(simulation.system());
  Value::Map removals;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Removal* const removal = simulation.events().removal(i);
    if (!removal) continue;
    const auto done = removal->done();
    removals.emplace_back(
        entries[i].name,
        map_of(kRemovalMeasures, {.took = done ? Value((*done - removal->began()).ns()) : Value(),
                                  .moved = removal->bytes_moved(),
                                  .left = removal->pages_left(),
                                  .flushed = removal->lines_flushed(),
                                  .requesters = requesters_around(simulation.system(), *removal, end)}));
  }
  return removals.empty() ? std::nullopt : std::optional<Value>(std::move(removals));
}

}  // namespace cxloom
