// What hosts that share memory without coherence missed, and whose it was: the section `sharing` of a
// summary.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "component/shared_lines.hpp"

namespace cxloom {

class System;

/// Lines that a summary names at most.
inline constexpr std::size_t kMostSharedLines = 64;

struct SharingSummary : SharingCounts {
  std::uint64_t lines = 0;
  Value per_line;
  Value per_pair;
};

inline constexpr std::array kSharingSummaryMeasures{
    measure<SharingSummary, &SharingSummary::stale_reads>("stale_reads", "",
                                                          kSharingMeasures[0].info.meaning),
    measure<SharingSummary, &SharingSummary::lost_updates>("lost_updates", "",
                                                           kSharingMeasures[1].info.meaning),
    measure<&SharingSummary::lines>("lines", "", "lines with a stale read or a lost update"),
    measure<&SharingSummary::per_line>(
        "per_line", "", "of each of these lines, by its address: the 64 with most, in this order",
        parts_of<kSharingMeasures>(true)),
    measure<&SharingSummary::per_pair>(
        "per_pair", "",
        "of each pair: who read or wrote back, from whose store. 'b from a' is what b missed of a",
        parts_of<kSharingMeasures>(true)),
};

/// Nothing where nobody asked for it.
std::optional<Value> sharing_of(const System& system);

}  // namespace cxloom
