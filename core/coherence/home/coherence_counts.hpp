// What a home of coherent lines counts in the window, and its measures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/measure_table.hpp"
#include "base/units.hpp"

namespace cxloom {

struct CoherenceCounts {
  std::uint64_t filter_hits = 0;
  std::uint64_t filter_misses = 0;
  std::uint64_t evictions_capacity = 0;
  std::uint64_t evictions_conflict = 0;
  std::uint64_t snoops_sent = 0;
  std::uint64_t bisnp_sent = 0;
  std::uint64_t lines_invalidated = 0;
  std::uint64_t invalidations = 0;  ///< of a line or of the lines of a block, by one snoop or several at once
  Wide invalidation_wait_ps = 0;    ///< of these, from the snoops to the last answer
  std::uint64_t conflicts = 0;
  std::uint64_t flips_to_device = 0;
  std::uint64_t flips_to_host = 0;
  std::uint64_t filter_entries = 0;  ///< in use at the end of the window

  CoherenceCounts& operator+=(const CoherenceCounts& other) {
    filter_hits += other.filter_hits;
    filter_misses += other.filter_misses;
    evictions_capacity += other.evictions_capacity;
    evictions_conflict += other.evictions_conflict;
    snoops_sent += other.snoops_sent;
    bisnp_sent += other.bisnp_sent;
    lines_invalidated += other.lines_invalidated;
    invalidations += other.invalidations;
    invalidation_wait_ps += other.invalidation_wait_ps;
    conflicts += other.conflicts;
    flips_to_device += other.flips_to_device;
    flips_to_host += other.flips_to_host;
    filter_entries += other.filter_entries;
    return *this;
  }
};

struct CoherenceMeasured {
  std::uint64_t filter_hits = 0;
  std::uint64_t filter_misses = 0;
  std::uint64_t filter_evictions = 0;
  std::uint64_t evictions_capacity = 0;
  std::uint64_t evictions_conflict = 0;
  std::uint64_t filter_entries = 0;
  std::uint64_t snoops_sent = 0;
  std::uint64_t bisnp_sent = 0;
  std::uint64_t lines_invalidated = 0;
  std::optional<std::uint64_t> lines_invalidated_live;
  double invalidation_wait = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t flips_to_device = 0;
  std::uint64_t flips_to_host = 0;

  explicit CoherenceMeasured(const CoherenceCounts& counts)
      : filter_hits(counts.filter_hits),
        filter_misses(counts.filter_misses),
        filter_evictions(counts.evictions_capacity + counts.evictions_conflict),
        evictions_capacity(counts.evictions_capacity),
        evictions_conflict(counts.evictions_conflict),
        filter_entries(counts.filter_entries),
        snoops_sent(counts.snoops_sent),
        bisnp_sent(counts.bisnp_sent),
        lines_invalidated(counts.lines_invalidated),
        invalidation_wait(counts.invalidations == 0
                              ? 0.0
                              : static_cast<double>(counts.invalidation_wait_ps) /
                                    (1000.0 * static_cast<double>(counts.invalidations))),
        conflicts(counts.conflicts),
        flips_to_device(counts.flips_to_device),
        flips_to_host(counts.flips_to_host) {}
};

inline constexpr std::array kCoherenceMeasures{
    measure<&CoherenceMeasured::filter_hits>("filter_hits", "",
                                             "requests whose line had an entry in the snoop filter"),
    measure<&CoherenceMeasured::filter_misses>("filter_misses", "", "requests whose line had none"),
    measure<&CoherenceMeasured::filter_evictions>("filter_evictions", "",
                                                  "entries that left so that others could come"),
    measure<&CoherenceMeasured::evictions_capacity>("filter_evictions_capacity", "",
                                                    "of these, with the whole filter full"),
    measure<&CoherenceMeasured::evictions_conflict>("filter_evictions_conflict", "",
                                                    "of these, with only a set of it full"),
    measure<&CoherenceMeasured::filter_entries>("filter_entries", "",
                                                "entries in use at the end of the window"),
    measure<&CoherenceMeasured::snoops_sent>("snoops_sent", "",
                                             "snoops sent to caches; one for a block counts once"),
    measure<&CoherenceMeasured::bisnp_sent>("bisnp_sent", "", "of these, back-invalidate snoops"),
    measure<&CoherenceMeasured::lines_invalidated>("lines_invalidated", "",
                                                   "lines for which snoops were sent that take them from "
                                                   "caches, as the filter knows "
                                                   "their owners: a cache may have dropped its copy"),
    measure<&CoherenceMeasured::invalidation_wait>(
        "invalidation_wait_ns", "ns",
        "from the snoops that invalidate a line, or the lines of a block, to the last answer, mean"),
    measure<&CoherenceMeasured::conflicts>(
        "conflicts", "", "questions of caches which came first, a snoop or their request (BIConflict)"),
    measure<&CoherenceMeasured::flips_to_device>(
        "bias_flips_to_device", "", "pages whose lines the host gave up, all at once, to the device (HDM-D)"),
    measure<&CoherenceMeasured::flips_to_host>("bias_flips_to_host", "",
                                               "pages of the device that the host came to use (HDM-D)"),
};

/// The same of all homes together, and what only the caches know.
inline constexpr auto kCoherenceTotals = [] {
  std::array<Measure<CoherenceMeasured>, kCoherenceMeasures.size() + 1> all{};
  for (std::size_t i = 0; i < kCoherenceMeasures.size(); ++i) all[i] = kCoherenceMeasures[i];
  all.back() = measure<&CoherenceMeasured::lines_invalidated_live>(
      "lines_invalidated_live", "",
      "lines that a cache held as a snoop took them from it. They count then, and lines_invalidated as the "
      "snoop is sent: at the ends of the window the two may count different snoops");
  return all;
}();

}  // namespace cxloom
