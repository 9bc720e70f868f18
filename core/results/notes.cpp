#include "results/notes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/measure_table.hpp"
#include "component/io_roles.hpp"
#include "device/requester/requester.hpp"
#include "device/requester/tiering_agent.hpp"
#include "device/switch/persist_domain.hpp"
#include "memory/memory_owner.hpp"
#include "protocol/segment.hpp"
#include "results/link_notes.hpp"
#include "results/request_measures.hpp"
#include "results/unsteady.hpp"
#include "system/events/player.hpp"
#include "system/events/removal.hpp"
#include "system/kinds/registry.hpp"

namespace cxloom {

namespace {

// Links that were not what they usually are, in the part of the run that has been played.
void add_link_notes(const Simulation& simulation, Value::List& notes) {
  const Time now = simulation.now();
  for (const System::LinkView& view : simulation.system().links()) {
    const LinkParams& link = *view.params;
    const std::string name = "the link " + view.name;
    if (link.outage.at && *link.outage.at <= now) {
      notes.emplace_back(
          name + " was down for " + to_text(link.outage.length) + " from " + to_text(*link.outage.at) +
          " on: " +
          (link.outage.fail ? "requests that came meanwhile failed" : "what came meanwhile waited"));
    }
    if (link.outage.at && *link.outage.at > now) {
      notes.emplace_back(name + " was never down: the run ended before " + to_text(*link.outage.at));
    }
    if (link.degraded.at && *link.degraded.at > now) {
      notes.emplace_back(name + " was never degraded: the run ended before " + to_text(*link.degraded.at));
    }
    if (link.degraded.at && *link.degraded.at <= now) {
      notes.emplace_back(name + " was degraded to " + to_text(*link.degraded.phy) + " from " +
                         to_text(*link.degraded.at) + " on");
    }
  }
}

void add_event_notes(const Simulation& simulation, Value::List& notes) {
  for (const EventPlayer::PlannedEvent& event : simulation.events().entries()) {
    if (!event.happened)
      notes.emplace_back("the event '" + event.name + "' did not happen: the run ended before");
  }
}

void add_notes_on_lost_lines(const Simulation& simulation, Value::List& notes) {
  for (const auto& [component, buffer] : simulation.system().roles().all<PersistDomain>()) {
    if (buffer->lines_lost() == 0) continue;
    notes.emplace_back(counted(buffer->lines_lost(), "line") + " that the persist buffer of '" +
                       component->name() + "' had answered for " +
                       (buffer->lines_lost() == 1 ? "is" : "are") +
                       " lost with it, unless it is repaired: it had failed when the run ended");
  }
}

void add_removal_notes(const Simulation& simulation, Value::List& notes) {
  const auto& entries = simulation.events().entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Removal* const removal = simulation.events().removal(i);
    if (!removal || removal->done()) continue;
    const std::string memory = "'" + entries[i].params->offline->device + "'";
    if (removal->given_up()) {
      notes.emplace_back(memory + " was not taken out of use: " + counted(removal->pages_left(), "page") +
                         " of programs stayed in it, for want of free frames elsewhere, as page tables, or "
                         "with an error");
    } else {
      notes.emplace_back(memory + " was still being taken out of use when the run ended");
    }
  }
}

/// Packets of CXL.io under way, mean over the window; of an initiator that does not measure them 0.
double io_in_flight(const IoInitiator& initiator) {
  MapSink own;
  initiator.report_io(own);
  const Value measured = own.take();
  const Value* const mean = measured.find("in_flight_mean");
  const double* const value = mean ? mean->as_real() : nullptr;
  return value ? *value : 0.0;
}

// Tools and readers go by what a kind declares. Tests hold our own kinds to it.
void add_notes_on_undeclared(const Simulation& simulation, Value::List& notes) {
  for (const auto& component : simulation.system().components()) {
    const KindSpec& kinded = simulation.spec().devices[component->id().index()].kinded;
    const auto& kind = simulation.registry().devices.at(kinded.kind);
    if (kind.plugin.empty()) continue;
    MapSink own;
    component->report(own);
    const Value reported = own.take();
    for (const auto& [name, value] : *reported.as_map()) {
      const auto declares = [&](const MeasureInfo& measure) { return measure.name == name; };
      if (std::ranges::none_of(kind.measures, declares))
        notes.emplace_back("'" + component->name() + "' reports " + name +
                           ", which measures() of its kind '" + kind.kind + "' (" + kind.plugin +
                           ") does not have");
    }
  }
}

// A requester that got nothing with data has no latency: the reader of the result is told why.
void add_notes_on_nothing(const Simulation& simulation, const Collector& collector, Value::List& notes) {
  if (!simulation.window().has_opened()) return;
  for (const auto& [component, requester] : simulation.system().roles().all<Requester>()) {
    if (!requester->has_work() || requester->latency().count() > 0) continue;
    const std::uint64_t errors = requester->errors().count();
    notes.emplace_back("'" + component->name() + "' got no data in the measured window: " +
                       (errors > 0 ? counted(errors, "request") + " answered with an error"
                                   : "no request of it was answered"));
  }
  for (const auto& [component, initiator] : simulation.system().roles().all<IoInitiator>()) {
    if (initiator->latency().count() == 0 && io_in_flight(*initiator) > 0)
      notes.emplace_back("'" + component->name() +
                         "' got nothing through in the measured window: none of its CXL.io packets ended");
  }
  for (const auto& [component, owner] : simulation.system().roles().all<MemoryOwner>()) {
    const MemoryStatistics& served = collector.of_memory(component->id());
    if (served.errors.count() > 0 && served.latency.count() == 0)
      notes.emplace_back("the memory '" + component->name() +
                         "' gave no data in the measured window: it answered " +
                         counted(served.errors.count(), "request") + " with an error");
  }
}

bool is_zero(const Value& value) {
  if (const Value::Map* map = value.as_map())
    return std::ranges::all_of(*map, [](const auto& entry) { return is_zero(entry.second); });
  const std::int64_t* whole = value.as_integer();
  const double* real = value.as_real();
  return (whole && *whole == 0) || (real && *real == 0.0);
}

// Policies act by periods, and those of a kernel are longer than most runs.
void add_notes_on_idle_tiering(const Simulation& simulation, Value::List& notes) {
  for (const auto& [component, requester] : simulation.system().roles().all<Requester>()) {
    const TieringAgent* const tiering = requester->tiering();
    if (!tiering) continue;
    MapSink did;
    tiering->report(did);
    if (!is_zero(did.take())) continue;
    notes.emplace_back("tiering of '" + component->name() + "' saw and moved nothing: in all of " +
                       to_text(simulation.now()) +
                       " no page was protected, scanned or sampled. Of a policy's periods a run may hold "
                       "none, and cxloom epochs plays minutes");
  }
}

/// Requests that hold a place, mean over the window, of all requesters; none if one does not measure them.
std::optional<double> in_flight(const Simulation& simulation) {
  double sum = 0.0;
  for (const auto& [component, requester] : simulation.system().roles().all<Requester>()) {
    if (requester->latency().count() == 0) continue;
    MapSink own;
    requester->report_requests(own);
    const Value measured = own.take();
    // What a GPU has in flight waits at its completer, too, which is charged as the wait for a turn.
    if (measured.find("tags_mean")) return std::nullopt;
    const Value* const mean = measured.find("in_flight_mean");
    const double* const value = mean ? mean->as_real() : nullptr;
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum;
}

// Little's law holds but for requests that the window cuts: those that came before it and end in it, and
// those that end after it. In a closed loop they come in waves, and how many waves end in a window is a whole
// number.
std::optional<std::string> edges_that_count(const Simulation& simulation, const RequestStatistics& all,
                                            double length) {
  constexpr double kCounts = 0.03;
  if (all.errors.count() > 0) return std::nullopt;
  const std::optional<double> held = in_flight(simulation);
  if (!held || *held <= 0.0) return std::nullopt;
  const double mean = all.latency.mean_ns();
  const double waited =
      static_cast<double>(all.segment_sums_ps[static_cast<std::size_t>(Segment::kRequesterQueue)]) / 1000.0;
  const double answered = (mean * static_cast<double>(all.latency.count()) - waited) / length;
  const double more = *held / answered - 1.0;
  if (answered <= 0.0 || std::abs(more) <= kCounts) return std::nullopt;
  return "the measured window is " + rounded_text(length / mean) +
         " mean latencies long, and its edges count: by Little's law what was in flight makes a rate " +
         percent_text(std::abs(more)) + (more > 0.0 ? " higher" : " lower") +
         " than that of the requests that were answered in it; measure more requests";
}

// Three digits of a time.
Time rounded(double ps) {
  const double step = std::pow(10.0, std::max(0.0, std::floor(std::log10(ps)) - 2.0));
  return Time{std::llround(std::round(ps / step) * step)};
}

// The classic rule of thumb: the mean of fewer than thirty has no normal distribution yet.
std::optional<std::string> few_independent(const RequestStatistics& all, double length) {
  constexpr double kFew = 30.0;
  const auto precision = all.batches.precision(all.latency.count());
  if (!precision || length <= 0.0) return std::nullopt;
  const double independent = independent_requests(all.latency, *precision);
  if (independent >= kFew) return std::nullopt;
  return "the measured window is short beside the time for which latencies depend on each other: its " +
         counted(all.latency.count(), "request") + " tell the mean as well as " +
         counted(static_cast<std::uint64_t>(std::llround(independent)), "independent one") +
         " would, one in each " + to_text(rounded(length / independent * 1000.0)) +
         ", and 95 % intervals of so few hold the truth less often than they say; measure more requests";
}

// A window may open and close at one instant; requests that completed then may have taken time, or not.
std::string without_length(bool took_time) {
  const std::string said = "the measured window has no length, as ";
  const std::string unknown = ": bandwidths and rates are not known";
  if (!took_time) return said + "nothing in it takes time" + unknown;
  return said + "all its requests completed at the instant at which it opened" + unknown +
         "; measure more requests";
}

/// A series has a row for each interval that ends in the window.
std::optional<std::string> series_without_rows(const Simulation& simulation, double length) {
  const std::optional<Time>& interval = simulation.spec().outputs.series;
  if (!interval || length >= interval->ns()) return std::nullopt;
  return "the series has no rows: an interval of " + to_text(*interval) +
         " is longer than the measured window; a smaller outputs.series";
}

}  // namespace

Value notes_of(const Simulation& simulation, const Collector& collector, const RequestStatistics& all,
               const Unlimited& unlimited, double length) {
  constexpr double kShort = 3.0;  // mean latencies
  Value::List notes;
  for (const std::string& note : simulation.notes()) notes.emplace_back(note);
  add_link_notes(simulation, notes);
  for (std::string& note : notes_on_idle_links(simulation.system())) notes.emplace_back(std::move(note));
  for (std::string& note : notes_on_unmet_errors(simulation.system())) notes.emplace_back(std::move(note));
  add_event_notes(simulation, notes);
  add_notes_on_lost_lines(simulation, notes);
  add_removal_notes(simulation, notes);
  add_notes_on_nothing(simulation, collector, notes);
  add_notes_on_idle_tiering(simulation, notes);
  add_notes_on_undeclared(simulation, notes);
  const LatencyDistribution& latency = all.latency;
  if (latency.count() > 0 && length == 0.0) {
    notes.emplace_back(without_length(latency.mean_ns() > 0.0));
  } else if (!simulation.tasks() && latency.count() > 1 && length < kShort * latency.mean_ns()) {
    notes.emplace_back(
        "the measured window is shorter than three mean latencies: its bandwidth says how requests came and "
        "went, not what the system sustains; measure more requests");
  } else if (!simulation.tasks() && latency.count() > 1) {
    if (auto edges = edges_that_count(simulation, all, length)) notes.emplace_back(std::move(*edges));
  }
  // The window of a graph of tasks is all of it, with its phases: there is no other to choose.
  if (const auto halves = all.batches.halves(latency.count());
      halves && halves->differ && !simulation.tasks()) {
    notes.emplace_back(not_stationary(simulation, *halves));
  }
  if (!simulation.tasks() && !is_uneven(simulation)) {
    if (auto few = few_independent(all, length)) notes.emplace_back(std::move(*few));
  }
  if (auto empty = series_without_rows(simulation, length)) notes.emplace_back(std::move(*empty));
  if (unlimited.any()) notes.emplace_back(unlimited.note());
  return notes;
}

}  // namespace cxloom
