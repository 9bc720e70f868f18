#include "results/event_results.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "component/component.hpp"
#include "device/requester/requester.hpp"
#include "system/events/player.hpp"
#include "system/model/system.hpp"
#include "system/run/simulation.hpp"

namespace cxloom {

namespace {

using Reading = std::vector<AnsweredSoFar>;

bool fails(const EventPlayer::PlannedEvent& event) { return event.counted; }

/// `at` is the reading of the event, between those of its neighbours.
Value requesters_around(const System& system, const Reading& before, const Reading& at,
                        const Reading& after) {
  Value::Map requesters;
  std::size_t i = 0;
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    const std::size_t number = i++;
    if (!requester->has_work()) continue;
    const AnsweredSoFar was = before.empty() ? AnsweredSoFar{} : before[number];
    const AnsweredSoFar& now = at[number];
    const AnsweredSoFar& then = after[number];
    const std::uint64_t requests_before = now.requests - was.requests;
    const std::uint64_t requests = then.requests - now.requests;
    requesters.emplace_back(
        component->name(),
        map_of(kAroundEventMeasures,
               {.requests_before = requests_before,
                .latency_before = mean_value((now.latency_sum_ps - was.latency_sum_ps) / 1000.0,
                                             static_cast<double>(requests_before)),
                .requests = requests,
                .latency = mean_value((then.latency_sum_ps - now.latency_sum_ps) / 1000.0,
                                      static_cast<double>(requests)),
                .errors = then.errors - now.errors,
                .dirty_lines_lost = then.dirty_lines_lost - now.dirty_lines_lost}));
  }
  return requesters;
}

using Happened = std::vector<const EventPlayer::PlannedEvent*>;

// What was answered when its instant began, at the event before, and at the next one. Events of one instant
// share all three.
const Reading& read_at(const Happened& happened, std::size_t event) {
  while (event > 0 && happened[event - 1]->params->at == happened[event]->params->at) --event;
  return happened[event]->answered;
}

Reading read_before(const Happened& happened, std::size_t event) {
  for (std::size_t i = event; i-- > 0;) {
    if (happened[i]->params->at < happened[event]->params->at) return happened[i]->answered;
  }
  return {};
}

Reading read_after(const Happened& happened, std::size_t event, const Reading& end) {
  for (std::size_t i = event + 1; i < happened.size(); ++i) {
    if (happened[i]->params->at > happened[event]->params->at) return happened[i]->answered;
  }
  return end;
}

bool mends(const EventParams& event, const EventParams& broken) {
  if (event.reset) return broken.viral && broken.viral->device == event.reset->device;
  return event.repair && broken.fail && event.repair->device == broken.fail->device &&
         std::ranges::is_permutation(event.repair->link, broken.fail->link);
}

// One of several links may fail by its number and be repaired with all of them.
Value away(const Happened& happened, std::size_t event) {
  const EventParams& mending = *happened[event]->params;
  std::optional<Time> since;
  for (std::size_t i = 0; i < event; ++i) {
    const EventParams& broken = *happened[i]->params;
    if (!mends(mending, broken)) continue;
    if (!since || mending.reset || mending.repair->number == broken.fail->number) since = broken.at;
  }
  return since ? Value((mending.at - *since).ns()) : Value();
}

Value never_made(const EventPlayer& player, const EventPlayer::PlannedEvent& event) {
  const auto number = static_cast<std::size_t>(&event - player.entries().data());
  const Crashes::Crash* const crash = player.crash(number);
  return crash && crash->never_made ? Value(static_cast<std::int64_t>(*crash->never_made)) : Value();
}

}  // namespace

std::optional<Value> events_of(const Simulation& simulation) {
  const auto& entries = simulation.events().entries();
  if (std::ranges::none_of(entries, fails)) return std::nullopt;
  Happened happened;
  for (const EventPlayer::PlannedEvent& event : entries) {
    if (event.happened && fails(event)) happened.push_back(&event);
  }
  const Reading end = answered_so_far(simulation.system());
  Value::Map events;
  for (std::size_t i = 0; i < happened.size(); ++i) {
    const EventPlayer::PlannedEvent& event = *happened[i];
    const Reading before = read_before(happened, i);
    const Reading after = read_after(happened, i, end);
    const Time lasted = std::max(event.cost.felt_until, event.params->at) - event.params->at;
    events.emplace_back(
        event.name, map_of(kEventMeasures, {.rerouted = event.cost.rerouted,
                                            .failed = event.cost.failed,
                                            .lost = event.cost.lost,
                                            .lasted = lasted.ns(),
                                            .away = away(happened, i),
                                            .never_made = never_made(simulation.events(), event),
                                            .requesters = requesters_around(simulation.system(), before,
                                                                            read_at(happened, i), after)}));
  }
  return events;
}

}  // namespace cxloom
