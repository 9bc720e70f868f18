#include "coherence/cache/counts.hpp"

#include <optional>
#include <utility>

#include "base/measure_table.hpp"
#include "base/value.hpp"

namespace cxloom {

namespace {

struct CacheMeasured : CacheCounts {
  double hit_rate = 0;
  std::optional<Value> levels;
  bool coherent = false;
};

constexpr std::array kCacheMeasures{
    measure<&CacheMeasured::hit_rate>("cache_hit_rate", "",
                                      "lookups that hit the cache / all lookups in the window"),
    measure<CacheMeasured, &CacheMeasured::write_backs>(
        "write_backs", "",
        "dirty lines that have left for memory: of CXL.mem counted when memory "
        "has them, of CXL.cache when the home has asked for them"),
    measure<&CacheMeasured::levels>(
        "cache_levels", "",
        "of each level, nearest first: lookups that came to it, those that hit, and their share"),
    measure<CacheMeasured, &CacheMeasured::clean_evictions, &CacheMeasured::coherent>(
        "clean_evictions", "", "notices of clean lines that left (MemClnEvct, CleanEvict)"),
    measure<CacheMeasured, &CacheMeasured::upgrades, &CacheMeasured::coherent>(
        "upgrades", "",
        "writes and atomic operations that found a shared copy and asked for "
        "ownership (MemInv, RdOwnNoData)"),
    measure<CacheMeasured, &CacheMeasured::lines_snooped, &CacheMeasured::coherent>(
        "lines_snooped", "", "lines for which a snoop, or a question of their device (HDM-D), came"),
    measure<CacheMeasured, &CacheMeasured::lines_lost, &CacheMeasured::coherent>(
        "lines_lost", "", "lines that snoops took away while the cache held them"),
    measure<CacheMeasured, &CacheMeasured::conflicts, &CacheMeasured::coherent>(
        "conflicts", "",
        "snooped lines with a request under way, so that the home was asked which came first (BIConflict)"),
    measure<CacheMeasured, &CacheMeasured::atomics, &CacheMeasured::atomics>(
        "cache_atomics", "",
        "atomic operations that were made in the cache: those that began in the "
        "window. Absent where there were none"),
    measure<CacheMeasured, &CacheMeasured::atomics_of_home, &CacheMeasured::atomics_of_home>(
        "home_atomics", "",
        "atomic operations of which the home was asked in the window (MemAtomic, "
        "Atomic). Absent where there were none"),
    measure<CacheMeasured, &CacheMeasured::dirty_lines_lost, &CacheMeasured::dirty_lines_lost>(
        "dirty_lines_lost", "",
        "modified lines whose data are lost, or not known to have arrived: their write-backs ended with "
        "errors, or the cache was cut off from their home, or presumed dead. Absent where there were none"),
};

double rate(std::uint64_t part, std::uint64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

}  // namespace

std::vector<MeasureInfo> cache_measures() { return infos_of(kCacheMeasures); }

void report_cache(const CacheCounts& counts, const ArrayInArena<Windowed<CacheLevelCounts>>& levels,
                  bool coherent, MeasureSink& sink) {
  CacheMeasured measured{counts};
  measured.coherent = coherent;
  Value::List of_levels;
  std::uint64_t came = counts.lookups;  // to this level
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::uint64_t hits = levels[i].window().hits;
    of_levels.emplace_back(Value::Map{{"lookups", static_cast<std::int64_t>(came)},
                                      {"hits", static_cast<std::int64_t>(hits)},
                                      {"hit_rate", rate(hits, came)}});
    came -= hits;
  }
  measured.hit_rate = rate(counts.lookups - came, counts.lookups);
  if (levels.size() > 1) measured.levels = std::move(of_levels);
  report_all(kCacheMeasures, measured, sink);
}

}  // namespace cxloom
