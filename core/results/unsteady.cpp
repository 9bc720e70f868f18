#include "results/unsteady.hpp"

#include <cmath>
#include <vector>

#include "base/measure_table.hpp"
#include "system/events/player.hpp"

namespace cxloom {

namespace {

// A ratio above 1 in words: as a percentage up to twice, as a multiple beyond.
std::string above(double ratio) {
  if (ratio < 2.0) return percent_text(ratio - 1.0) + " higher than that of the other";
  return std::to_string(std::lround(ratio)) + " times that of the other";
}

// Events whose time is in the window. One that ends before it may still be felt there, as warm-up is.
std::vector<std::string> events_within(const Simulation& simulation) {
  const auto within = [&](Time at) {
    return at >= simulation.window_start() && at < simulation.window_end();
  };
  std::vector<std::string> found;
  for (const EventPlayer::PlannedEvent& event : simulation.events().entries()) {
    if (event.happened && within(event.params->at)) found.push_back("'" + event.name + "'");
  }
  for (const System::LinkView& view : simulation.system().links()) {
    const LinkParams& link = *view.params;
    if (link.outage.at && within(*link.outage.at)) found.push_back("the outage of the link " + view.name);
    if (link.degraded.at && within(*link.degraded.at))
      found.push_back("the degradation of the link " + view.name);
  }
  return found;
}

// What the spec itself makes uneven, as sentences that follow a semicolon; empty: nothing of it does.
std::string unevenness(const Simulation& simulation) {
  std::string said;
  if (const auto events = events_within(simulation); !events.empty()) {
    said += "; in it happened " + events.front();
    if (events.size() > 1) said += " and " + counted(events.size() - 1, "other event");
  }
  std::size_t phased = 0;
  for (const Spec::Workload& workload : simulation.spec().workloads) {
    if (workload.params.phases.size() < 2) continue;
    if (++phased == 1) {
      said += "; the workload of '" + workload.device + "' has " +
              std::to_string(workload.params.phases.size()) + " phases";
    }
  }
  if (phased > 1) said += ", and so have " + std::to_string(phased - 1) + " more";
  return said;
}

}  // namespace

bool is_uneven(const Simulation& simulation) { return !unevenness(simulation).empty(); }

std::string not_stationary(const Simulation& simulation, const BatchMeans::Halves& halves) {
  const bool rising = halves.second > halves.first;
  const double higher = rising ? halves.second : halves.first;
  const double lower = rising ? halves.first : halves.second;
  const std::string beside = lower > 0.0 ? above(higher / lower) : "not 0 as that of the other";
  const std::string found = "the measured window was not stationary: the mean latency of its " +
                            std::string(rising ? "second half is " : "first half is ") + beside;
  const std::string uneven = unevenness(simulation);
  if (!uneven.empty()) return found + uneven;
  return found + "; a longer run.warmup may let it settle" +
         (rising ? ", unless the system is overloaded" : "");
}

}  // namespace cxloom
