#include "tags/core_prefetchers.hpp"

#include <string>

#include "base/error.hpp"
#include "base/kind_registry.hpp"

namespace cxloom {

std::size_t PrefetchThrottle::limit(std::uint64_t useful, std::uint64_t useless) {
  const std::uint64_t used = useful - useful_;
  const std::uint64_t ended = used + (useless - useless_);
  if (ended < kInterval) return limit_;
  useful_ = useful;
  useless_ = useless;
  if (used * 100 < ended * 40) limit_ = std::max<std::size_t>(1, std::min(limit_, most_wanted_) / 2);
  else if (used * 100 >= ended * 75 && limit_ < most_wanted_) limit_ *= 2;
  return limit_;
}

CorePrefetchers::CorePrefetchers(const CorePrefetch& prefetch, Bytes page) {
  const std::vector<LevelPrefetcher>& levels = prefetch.levels;
  bool any = false;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    Level level{.prefetcher = nullptr, .throttles = levels[i].throttle, .lines_of_page = 0, .throttle = {}};
    with_path("[" + std::to_string(i) + "].prefetch", [&] {
      PrefetcherContext context;
      level.prefetcher = prefetch.kinds->make(levels[i].kind, context);
      if (!level.prefetcher || level.prefetcher->params().page <= page) return;
      // Told so, it asks for the lines behind a frame when it gets there.
      KindSpec within = levels[i].kind;
      within.params.set("page", std::to_string(page.count()) + "B");
      level.prefetcher = prefetch.kinds->make(within, context);
    });
    if (level.prefetcher) level.lines_of_page = level.prefetcher->lines_of_page();
    any |= level.prefetcher != nullptr;
    levels_.push_back(std::move(level));
  }
  if (!any) levels_.clear();
}

std::uint32_t CorePrefetchers::registers() const {
  std::uint32_t sum = 0;
  for (const Level& level : levels_) sum += level.prefetcher ? level.prefetcher->params().registers : 0;
  return sum;
}

const std::vector<LineAddress>& CorePrefetchers::wanted(std::size_t level, const Trigger& trigger,
                                                        std::uint64_t useful, std::uint64_t useless) {
  Level& at = levels_[level];
  wanted_.clear();
  if (at.throttles) at.prefetcher->set_limit(at.throttle.limit(useful, useless));
  at.prefetcher->accessed(trigger, wanted_);
  std::erase_if(wanted_, [&](LineAddress line) {
    return line.number() / at.lines_of_page != trigger.line.number() / at.lines_of_page;
  });
  if (at.throttles) {
    at.throttle.wanted(wanted_.size());
    if (wanted_.size() > at.prefetcher->limit()) wanted_.resize(at.prefetcher->limit());
  }
  return wanted_;
}

}  // namespace cxloom
