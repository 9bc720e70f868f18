#include "system/routes/route_epochs.hpp"

#include <set>
#include <tuple>
#include <utility>

#include "system/model/system.hpp"

namespace cxloom {

namespace {

// In the order in which the events of a run happen: at one instant all failures and repairs, then what is
// discovered.
struct Step {
  Time at;
  bool discovery;
  std::size_t event;
  auto operator<=>(const Step&) const = default;
};

}  // namespace

std::vector<RouteEpoch> route_epochs(const std::vector<EventParams>& events,
                                     const std::vector<FailingPart>& parts, LinkFailures failures,
                                     const std::map<std::size_t, std::size_t>& boots) {
  std::vector<RouteEpoch> epochs;
  epochs.push_back({{}, {}, failures.avoided(), {}});
  std::set<Step> steps;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].fail || events[i].repair) steps.insert({events[i].at, false, i});
  }
  while (!steps.empty()) {
    const Step step = *steps.begin();
    steps.erase(steps.begin());
    const EventParams& event = events[step.event];
    const FailingPart& part = parts[step.event];
    if (step.discovery) {
      if (failures.discover(part, step.event).empty()) continue;
    } else if (event.fail) {
      failures.fail(part, step.event);
      steps.insert({step.at + event.fail->reroute_time, true, step.event});
      continue;
    } else {
      const auto crash = boots.find(step.event);
      if (crash != boots.end() && !failures.discover(part, crash->second).empty())
        epochs.push_back({step.at, events[crash->second].described(), failures.avoided(), {}});
      failures.repair(part);
    }
    epochs.push_back({step.at, event.described(), failures.avoided(), {}});
  }
  return epochs;
}

std::vector<std::vector<Time>> failure_times(const std::vector<EventParams>& events,
                                             const std::vector<FailingPart>& parts, LinkFailures failures) {
  std::vector<std::vector<Time>> times(failures.avoided().size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].fail) {
      for (const std::size_t link : failures.fail(parts[i], i)) times[link].push_back(events[i].at);
    } else if (events[i].repair) {
      failures.repair(parts[i]);
    }
  }
  return times;
}

std::unique_ptr<RouteTable> routes_in(const System& system, const RouteEpoch& epoch) {
  Topology around = system.topology();
  for (std::uint32_t link = 0; link < epoch.avoided.size(); ++link)
    around.set_down(link, epoch.avoided[link]);
  return std::make_unique<RouteTable>(around, system.route_metric(), system.given_routes());
}

}  // namespace cxloom
