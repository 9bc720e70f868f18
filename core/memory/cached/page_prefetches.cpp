#include "memory/cached/page_prefetches.hpp"

#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "memory/media/context.hpp"

namespace cxloom {

PagePrefetches::PagePrefetches(const KindSpec& kind, const MediaContext& context, std::uint64_t slots,
                               std::uint64_t pages_behind, CachedMediaCounts& counts)
    : ahead_(slots), pages_behind_(pages_behind), counts_(counts) {
  if (!context.prefetchers) return;
  PrefetcherContext around;
  prefetcher_ = with_path("prefetch", [&] { return context.prefetchers->make(kind, around); });
}

Trigger PagePrefetches::trigger(LineAddress page, Slot slot, std::uint32_t thread) const {
  const Found found = slot == kNoSlot ? Found::kMiss : ahead_[slot] ? Found::kFirstUse : Found::kHit;
  return {page, thread, found};
}

const std::vector<LineAddress>& PagePrefetches::wanted(const Trigger& trigger) {
  wanted_.clear();
  prefetcher_->accessed(trigger, wanted_);
  const std::uint64_t region = prefetcher_->lines_of_page();
  std::erase_if(wanted_, [&](LineAddress page) {
    return page.number() / region != trigger.line.number() / region || page.number() >= pages_behind_;
  });
  return wanted_;
}

void PagePrefetches::asked(bool asked) {
  ++(asked ? counts_.prefetches : counts_.dropped);
  on_their_way_ += asked;
}

void PagePrefetches::filled(LineAddress page, bool ahead) {
  if (prefetcher_) prefetcher_->filled(page, ahead);
  if (ahead) --on_their_way_;
}

}  // namespace cxloom
