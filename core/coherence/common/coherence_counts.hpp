// The counts of a home of coherent lines in the window, and its measures.
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
  Time invalidation_wait;           ///< of these, from the snoops to the last answer
  std::uint64_t conflicts = 0;
  std::uint64_t flips_to_device = 0;
  std::uint64_t flips_to_host = 0;
  std::uint64_t lines_poisoned = 0;
  std::uint64_t lines_cured = 0;
  std::uint64_t poison_delivered = 0;
  std::uint64_t lines_reclaimed = 0;
  std::uint64_t snoops_timed_out = 0;
  std::uint64_t poisoned_lines = 0;  ///< not counted: those at the end of the window
  std::uint64_t filter_entries = 0;  ///< not counted: those in use at the end of the window
};

struct CoherenceMeasured : CoherenceCounts {
  std::uint64_t filter_evictions = 0;
  std::optional<std::uint64_t> lines_invalidated_live;
  double invalidation_wait_mean = 0;
  std::optional<double> transactions_mean;
  bool fails = false;  ///< something of the system: what only such systems have is reported, too

  explicit CoherenceMeasured(const CoherenceCounts& counts)
      : CoherenceCounts(counts),
        filter_evictions(counts.evictions_capacity + counts.evictions_conflict),
        invalidation_wait_mean(counts.invalidations == 0
                                   ? 0.0
                                   : static_cast<double>(counts.invalidation_wait.ps()) /
                                         (1000.0 * static_cast<double>(counts.invalidations))) {}
};

inline constexpr std::array kCoherenceMeasures{
    measure<CoherenceMeasured, &CoherenceMeasured::filter_hits>(
        "filter_hits", "", "requests whose line had an entry in the snoop filter"),
    measure<CoherenceMeasured, &CoherenceMeasured::filter_misses>("filter_misses", "",
                                                                  "requests whose line had none"),
    measure<CoherenceMeasured, &CoherenceMeasured::filter_evictions>(
        "filter_evictions", "", "entries that left so that others could come"),
    measure<CoherenceMeasured, &CoherenceMeasured::evictions_capacity>(
        "filter_evictions_capacity", "", "entries that left because the whole filter was full"),
    measure<CoherenceMeasured, &CoherenceMeasured::evictions_conflict>(
        "filter_evictions_conflict", "", "entries that left because a set was full, and others were not"),
    measure<CoherenceMeasured, &CoherenceMeasured::filter_entries>("filter_entries", "",
                                                                   "entries in use at the end of the window"),
    measure<CoherenceMeasured, &CoherenceMeasured::snoops_sent>(
        "snoops_sent", "", "snoops sent to caches; one for a block counts once"),
    measure<CoherenceMeasured, &CoherenceMeasured::bisnp_sent>("bisnp_sent", "",
                                                               "back-invalidate snoops sent to caches"),
    measure<CoherenceMeasured, &CoherenceMeasured::lines_invalidated>(
        "lines_invalidated", "",
        "lines for which snoops were sent that take them from caches, as the filter knows their owners: a "
        "cache may have dropped its copy"),
    measure<CoherenceMeasured, &CoherenceMeasured::invalidation_wait_mean>(
        "invalidation_wait_ns", "ns",
        "from the snoops that invalidate a line, or the lines of a block, to the last answer, mean"),
    measure<CoherenceMeasured, &CoherenceMeasured::conflicts>(
        "conflicts", "", "questions of caches which came first, a snoop or their request (BIConflict)"),
    measure<CoherenceMeasured, &CoherenceMeasured::flips_to_device>(
        "bias_flips_to_device", "", "pages whose lines the host gave up, all at once, to the device (HDM-D)"),
    measure<CoherenceMeasured, &CoherenceMeasured::flips_to_host>(
        "bias_flips_to_host", "", "pages of the device that the host came to use (HDM-D)"),
    measure<CoherenceMeasured, &CoherenceMeasured::snoops_timed_out, &CoherenceMeasured::fails>(
        "snoops_timed_out", "",
        "snoops that ended without an answer, as they or their answers were lost. Absent where nothing "
        "fails"),
    measure<CoherenceMeasured, &CoherenceMeasured::lines_reclaimed, &CoherenceMeasured::fails>(
        "lines_reclaimed", "",
        "shared copies of caches that were presumed dead: nobody asks for them any more. Absent where "
        "nothing fails"),
    measure<CoherenceMeasured, &CoherenceMeasured::lines_poisoned, &CoherenceMeasured::fails>(
        "lines_poisoned", "",
        "lines that became poisoned, as their latest data were lost, or may have been. Absent where nothing "
        "fails"),
    measure<CoherenceMeasured, &CoherenceMeasured::lines_cured, &CoherenceMeasured::fails>(
        "lines_cured", "",
        "poisoned lines that were written as a whole, and are sound again. Absent where nothing fails"),
    measure<CoherenceMeasured, &CoherenceMeasured::poisoned_lines, &CoherenceMeasured::fails>(
        "poisoned_lines", "", "poisoned lines at the end of the window. Absent where nothing fails"),
    measure<CoherenceMeasured, &CoherenceMeasured::poison_delivered, &CoherenceMeasured::fails>(
        "poison_delivered", "",
        "reads and atomic operations that were answered with poison. Absent where nothing fails"),
};

/// The measures of one home.
inline constexpr auto kHomeMeasures = [] {
  std::array<Measure<CoherenceMeasured>, kCoherenceMeasures.size() + 1> all{};
  for (std::size_t i = 0; i < kCoherenceMeasures.size(); ++i) all[i] = kCoherenceMeasures[i];
  all.back() = measure<&CoherenceMeasured::transactions_mean>(
      "transactions_mean", "",
      "requests in the agent, from their lookup to their answer, mean. Absent where their number has no "
      "limit");
  return all;
}();

/// The counts of all homes together, and the caches' own.
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
