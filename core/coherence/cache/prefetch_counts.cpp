#include "coherence/cache/prefetch_counts.hpp"

#include <array>

#include "base/measure_table.hpp"

namespace cxloom {

namespace {

constexpr std::array kPrefetchMeasures{
    measure<&PrefetchCounts::issued>("prefetches", "",
                                     "lines that were asked for in the window ahead of their use. This and "
                                     "what follows is absent where nothing prefetches"),
    measure<&PrefetchCounts::useful>(
        "prefetches_useful", "",
        "lines that were used in the window for the first time since they had come so"),
    measure<&PrefetchCounts::late>("prefetches_late", "",
                                   "lines that were used in the window for the first time while they were "
                                   "still on their way so: a miss that waits for them"),
    measure<&PrefetchCounts::useless>("prefetches_useless", "",
                                      "lines that left the cache in the window, or were taken away, and had "
                                      "not been used since they had come so"),
    measure<&PrefetchCounts::failed>("prefetches_failed", "",
                                     "lines that did not come in the window because a link was down, and "
                                     "that nobody had asked for meanwhile"),
    measure<&PrefetchCounts::dropped>(
        "prefetches_dropped", "",
        "lines that were not asked for in the window because all registers for prefetches were taken"),
};

}  // namespace

std::vector<MeasureInfo> PrefetchCounts::measures() { return infos_of(kPrefetchMeasures); }

void PrefetchCounts::report(MeasureSink& sink) const { report_all(kPrefetchMeasures, *this, sink); }

}  // namespace cxloom
