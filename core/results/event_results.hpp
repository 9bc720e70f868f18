// What each failure and each repair cost, and whom: the section `events` of a summary.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/measure_table.hpp"
#include "base/value.hpp"

namespace cxloom {

class Simulation;

/// A requester before an event and after it, each up to the next event or the window's end.
struct AroundEventMeasured {
  std::uint64_t requests_before = 0;
  Value latency_before;
  std::uint64_t requests = 0;
  Value latency;
  std::uint64_t errors = 0;
  std::uint64_t dirty_lines_lost = 0;
};

inline constexpr std::array kAroundEventMeasures{
    measure<&AroundEventMeasured::requests_before>(
        "requests_before", "",
        "its requests answered with data between the event before, or the opening of the window, and this "
        "one"),
    measure<&AroundEventMeasured::latency_before>("latency_before_ns", "ns",
                                                  "mean latency of requests_before; null if there are none"),
    measure<&AroundEventMeasured::requests>(
        "requests", "",
        "its requests answered with data between the event and the next one, or the end of the window"),
    measure<&AroundEventMeasured::latency>("latency_ns", "ns",
                                           "mean latency of requests; null if there are none"),
    measure<&AroundEventMeasured::errors>("errors", "", "its requests that ended with an error in that time"),
    measure<&AroundEventMeasured::dirty_lines_lost>(
        "dirty_lines_lost", "",
        "modified lines of its cache whose data were lost in that time, that of the event itself included"),
};

struct EventMeasured {
  std::uint64_t rerouted = 0;
  std::uint64_t failed = 0;
  std::uint64_t lost = 0;
  double lasted = 0;
  Value away;
  Value never_made;
  Value requesters;
};

inline constexpr std::array kEventMeasures{
    measure<&EventMeasured::rerouted>("rerouted", "",
                                      "messages that waited for what had failed, and left by another way"),
    measure<&EventMeasured::failed>("failed", "",
                                    "requests answered with an error by a device from which no way led on"),
    measure<&EventMeasured::lost>(
        "lost", "",
        "messages that were lost, snoops and their answers among them; what waited for one ended with its "
        "timeout"),
    measure<&EventMeasured::lasted>("lasted_ns", "ns",
                                    "from the event until the last of these, timeouts included"),
    measure<&EventMeasured::away>(
        "away_ns", "ns",
        "of a repair or a reset: how long what it mends had been out of use; null for all other events"),
    measure<&EventMeasured::never_made>(
        "never_made", "",
        "requests that the work of a host or an accelerator had still to make when it crashed; 0 if it went "
        "on later; null for all other events, and where nobody knows how many"),
    measure<&EventMeasured::requesters>("requesters", "",
                                        "each requester before the event and after it, in the window",
                                        parts_of<kAroundEventMeasures>(true)),
};

/// None: the spec has no such events.
std::optional<Value> events_of(const Simulation& simulation);

}  // namespace cxloom
