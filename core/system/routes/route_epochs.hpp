// The times at which the routes of a system change, because parts of it fail and are repaired, and what they
// are then.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "base/units.hpp"
#include "interconnect/routing/route_table.hpp"
#include "system/model/system.hpp"
#include "system/routes/link_failures.hpp"
#include "system/spec/event_params.hpp"

namespace cxloom {

class System;

/// In the order of time. `parts`: what each event makes fail or repairs, if it does either. The first epoch
/// is the beginning of the run. `boots`: by the event of a repair that of the crash which is known with it,
/// at the latest. No epoch has a plan yet: `plan_virtual_channels` makes them.
std::vector<RouteEpoch> route_epochs(const std::vector<EventParams>& events,
                                     const std::vector<FailingPart>& parts, LinkFailures failures,
                                     const std::map<std::size_t, std::size_t>& boots);

/// By link: when it goes down, in order, by itself or with one of its devices.
std::vector<std::vector<Time>> failure_times(const std::vector<EventParams>& events,
                                             const std::vector<FailingPart>& parts, LinkFailures failures);

/// The routes of an epoch.
std::unique_ptr<RouteTable> routes_in(const System& system, const RouteEpoch& epoch);

}  // namespace cxloom
