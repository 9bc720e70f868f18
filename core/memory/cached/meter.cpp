#include "memory/cached/meter.hpp"

#include <array>
#include <string_view>

#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

namespace {

struct CachedMediaMeasured : CachedMediaCounts {
  Value hit_rate = {};
  bool prefetching = false;
  double misses_mean = 0;
  double misses_max = 0;
  double queue_mean = 0;
  double queue_max = 0;
};

// With a prefetcher.
template <auto kMember>
constexpr auto ahead(std::string_view name, std::string_view meaning) {
  return measure<CachedMediaMeasured, kMember, &CachedMediaMeasured::prefetching>(name, "", meaning);
}

constexpr std::array kCachedMediaMeasures{
    measure<CachedMediaMeasured, &CachedMediaMeasured::hits>("page_hits", "",
                                                             "accesses to pages in the cache"),
    measure<CachedMediaMeasured, &CachedMediaMeasured::misses>(
        "page_misses", "", "accesses that brought their page into the cache"),
    measure<CachedMediaMeasured, &CachedMediaMeasured::joined>(
        "page_joins", "", "accesses to pages that were on their way into the cache"),
    measure<&CachedMediaMeasured::hit_rate>("page_hit_rate", "", "hits / accesses; null if there were none"),
    measure<CachedMediaMeasured, &CachedMediaMeasured::write_backs>("page_write_backs", "",
                                                                    "dirty pages that left the cache"),
    ahead<&CachedMediaMeasured::prefetches>(
        "page_prefetches", "pages asked for ahead of their use. This and the next four with a prefetcher"),
    ahead<&CachedMediaMeasured::useful>("page_prefetches_useful",
                                        "first uses of such pages that had come: hits"),
    ahead<&CachedMediaMeasured::late>("page_prefetches_late", "first uses of such pages on their way: joins"),
    ahead<&CachedMediaMeasured::useless>("page_prefetches_useless",
                                         "pages asked for ahead that left before anybody used them"),
    ahead<&CachedMediaMeasured::dropped>("page_prefetches_dropped",
                                         "pages not asked for because no register, miss or place was free"),
    measure<&CachedMediaMeasured::misses_mean>("misses_mean", "", "misses at work, mean over time"),
    measure<&CachedMediaMeasured::misses_max>("misses_max", "", "misses at work, largest number"),
    measure<&CachedMediaMeasured::queue_mean>("media_queue_mean", "",
                                              "accesses that wait to become misses, mean over time"),
    measure<&CachedMediaMeasured::queue_max>("media_queue_max", "",
                                             "accesses that wait to become misses, largest number"),
};

}  // namespace

CachedMediaMeter::CachedMediaMeter(Kernel& kernel) : counts_(kernel) { kernel.measure(waiting_, at_work_); }

std::vector<MeasureInfo> CachedMediaMeter::measures() { return infos_of(kCachedMediaMeasures); }

void CachedMediaMeter::report(MeasureSink& sink, bool prefetching) const {
  CachedMediaMeasured measured{counts_.window()};
  measured.hit_rate = mean_value(static_cast<double>(measured.hits),
                                 static_cast<double>(measured.hits + measured.misses + measured.joined));
  measured.prefetching = prefetching;
  measured.misses_mean = at_work_.mean();
  measured.misses_max = at_work_.maximum();
  measured.queue_mean = waiting_.mean();
  measured.queue_max = waiting_.maximum();
  report_all(kCachedMediaMeasures, measured, sink);
}

}  // namespace cxloom
