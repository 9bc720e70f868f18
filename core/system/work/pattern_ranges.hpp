// Where the patterns of a workload go, and how many accesses they give for those that its user counts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "base/value.hpp"
#include "workload/placement/page_runs.hpp"
#include "workload/stream/phases.hpp"

namespace cxloom {

/// Pages that the patterns stay in, as far as that is known.
std::optional<PageRuns> footprint_of(const std::vector<PhasedStream::Phase>& phases, Bytes page);

/// The part of a range that one of several threads has for itself, in whole lines. Throws InputError if there
/// is none.
AddressRange part_of(const AddressRange& whole, std::uint32_t thread, std::uint32_t threads);

/// The keys of a pattern that goes to this range instead of its own.
Value in_range(const Value& pattern, const AddressRange& range);

/// Accesses that a pattern gives for so many that a user counts. Throws InputError if they are too many to be
/// counted.
std::uint64_t given_for(const AccessStream& pattern, std::uint64_t accesses);

/// Accesses of a round of all phases, by so many threads. Throws InputError as well.
std::uint64_t round_of(const std::vector<PhasedStream::Phase>& phases, std::uint32_t threads);

/// Accesses that the phases give, round and round, for so many that a user counts: a large one is its lines.
std::uint64_t given_for(const std::vector<PhasedStream::Phase>& phases, std::uint64_t accesses);

}  // namespace cxloom
