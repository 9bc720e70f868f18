// How memories were taken out of use, and who felt it: the section `removals` of a summary.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/measure_table.hpp"
#include "base/units.hpp"
#include "base/value.hpp"

namespace cxloom {

class Simulation;

/// A requester before a removal, while it is under way, and after it.
struct AroundRemovalMeasured {
  std::uint64_t requests_before = 0;
  Value latency_before;
  std::uint64_t requests_during = 0;
  Value latency_during;
  std::uint64_t requests_after = 0;
  Value latency_after;
  std::uint64_t errors = 0;
};

inline constexpr std::array kAroundRemovalMeasures{
    measure<&AroundRemovalMeasured::requests_before>(
        "requests_before", "",
        "its requests answered with data between the opening of the window and the event"),
    measure<&AroundRemovalMeasured::latency_before>(
        "latency_before_ns", "ns", "mean latency of requests_before; null if there are none"),
    measure<&AroundRemovalMeasured::requests_during>(
        "requests_during", "", "its requests answered with data until the memory was empty, or was given up"),
    measure<&AroundRemovalMeasured::latency_during>(
        "latency_during_ns", "ns", "mean latency of requests_during; null if there are none"),
    measure<&AroundRemovalMeasured::requests_after>(
        "requests_after", "", "its requests answered with data from then on to the end of the window"),
    measure<&AroundRemovalMeasured::latency_after>("latency_after_ns", "ns",
                                                   "mean latency of requests_after; null if there are none"),
    measure<&AroundRemovalMeasured::errors>("errors", "",
                                            "its requests that ended with an error from the event on"),
};

struct RemovalMeasured {
  Value took;
  std::uint64_t moved = 0;
  std::uint64_t left = 0;
  std::uint64_t flushed = 0;
  Value requesters;
};

inline constexpr std::array kRemovalMeasures{
    measure<&RemovalMeasured::took>("took_ns", "ns",
                                    "from the event until nobody had anything of the memory, and it could be "
                                    "pulled out; null if that did not come to pass"),
    measure<&RemovalMeasured::moved>("moved_bytes", "B", "bytes of the pages that left it"),
    measure<&RemovalMeasured::left>(
        "pages_left", "",
        "pages that stayed, so that the memory went on as before: nothing had a free frame for them, or a "
        "line could not be copied"),
    measure<&RemovalMeasured::flushed>(
        "flushed_lines", "", "modified lines of it that caches still had, and that were written back"),
    measure<&RemovalMeasured::requesters>("requesters", "",
                                          "each requester before it, while it was under way and after it",
                                          parts_of<kAroundRemovalMeasures>(true)),
};

/// It was taken out of use, everything has left it, and it has not come back.
bool is_emptied(const Simulation& simulation, NodeId memory);
/// None: there was no such event.
std::optional<Value> removals_of(const Simulation& simulation);

}  // namespace cxloom
