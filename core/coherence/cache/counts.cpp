#include "coherence/cache/counts.hpp"

#include <numeric>
#include <optional>
#include <utility>

#include "base/measure_table.hpp"
#include "base/value.hpp"

namespace cxloom {

namespace {

struct CacheMeasured {
  double hit_rate = 0;
  std::uint64_t write_backs = 0;
  std::optional<Value> levels;
  std::optional<std::uint64_t> clean_evictions;
  std::optional<std::uint64_t> upgrades;
  std::optional<std::uint64_t> lines_snooped;
  std::optional<std::uint64_t> lines_lost;
  std::optional<std::uint64_t> conflicts;
  std::optional<std::uint64_t> atomics;
  std::optional<std::uint64_t> atomics_of_home;
};

constexpr std::array kCacheMeasures{
    measure<&CacheMeasured::hit_rate>("cache_hit_rate", "",
                                      "lookups that hit the cache / all lookups in the window"),
    measure<&CacheMeasured::write_backs>(
        "write_backs", "",
        "dirty lines that have left for memory: of CXL.mem counted when memory "
        "has them, of CXL.cache when the home has asked for them"),
    measure<&CacheMeasured::levels>(
        "cache_levels", "",
        "of each level, nearest first: lookups that came to it, those that hit, and their share"),
    measure<&CacheMeasured::clean_evictions>("clean_evictions", "",
                                             "notices of clean lines that left (MemClnEvct, CleanEvict)"),
    measure<&CacheMeasured::upgrades>("upgrades", "",
                                      "writes and atomic operations that found a shared copy and asked for "
                                      "ownership (MemInv, RdOwnNoData)"),
    measure<&CacheMeasured::lines_snooped>(
        "lines_snooped", "", "lines for which a snoop, or a question of their device (HDM-D), came"),
    measure<&CacheMeasured::lines_lost>("lines_lost", "",
                                        "lines that snoops took away while the cache held them"),
    measure<&CacheMeasured::conflicts>(
        "conflicts", "",
        "snooped lines with a request under way, so that the home was asked which came "
        "first (BIConflict)"),
    measure<&CacheMeasured::atomics>("cache_atomics", "",
                                     "atomic operations that were made in the cache: those that began in the "
                                     "window. Absent where there were none"),
    measure<&CacheMeasured::atomics_of_home>(
        "home_atomics", "",
        "atomic operations of which the home was asked in the window (MemAtomic, "
        "Atomic). Absent where there were none"),
};

double rate(std::uint64_t part, std::uint64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

}  // namespace

std::vector<MeasureInfo> CacheCounts::measures() { return infos_of(kCacheMeasures); }

void CacheCounts::report(bool coherent, MeasureSink& sink) const {
  const std::uint64_t all_hits = std::accumulate(hits.begin(), hits.end(), std::uint64_t{0});
  CacheMeasured measured{.hit_rate = rate(all_hits, lookups), .write_backs = write_backs};
  if (hits.size() > 1) {
    Value::List levels;
    std::uint64_t came = lookups;  // to this level
    for (const std::uint64_t each : hits) {
      levels.emplace_back(Value::Map{{"lookups", static_cast<std::int64_t>(came)},
                                     {"hits", static_cast<std::int64_t>(each)},
                                     {"hit_rate", rate(each, came)}});
      came -= each;
    }
    measured.levels = std::move(levels);
  }
  if (coherent) {
    measured.clean_evictions = clean_evictions;
    measured.upgrades = upgrades;
    measured.lines_snooped = lines_snooped;
    measured.lines_lost = lines_lost;
    measured.conflicts = conflicts;
  }
  if (atomics > 0) measured.atomics = atomics;
  if (atomics_of_home > 0) measured.atomics_of_home = atomics_of_home;
  report_all(kCacheMeasures, measured, sink);
}

}  // namespace cxloom
