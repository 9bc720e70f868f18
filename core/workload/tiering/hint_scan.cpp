#include "workload/tiering/hint_scan.hpp"

#include <algorithm>

namespace cxloom {

namespace {

// Linux, kernel/sched/fair.c: NUMA_PERIOD_SLOTS and NUMA_PERIOD_THRESHOLD.
constexpr std::int64_t kPeriodSlots = 10;
constexpr std::int64_t kPeriodThreshold = 7;

}  // namespace

HintScan::HintScan(const HintScanParams& params, const TieringContext& context, Of of)
    : params_(params),
      page_(context.page),
      nodes_(context.nodes),
      nearest_(nearest_first(context.nodes).front()),
      of_(of) {
  refuse_equally_near(context);
  // The default is Linux's most: where all pages are fewer, a scan has all of them, as there.
  const Bytes by_default = HintScanParams{}.scan_size;
  if (params.scan_size != by_default)
    refuse_above("scan_size", params.scan_size, by_default, context.nodes, context);
}

std::int64_t HintScan::windows(const TieredPages& pages) const {
  const std::uint64_t resident = pages.pages() * page_.count();
  const std::uint64_t size = params_.scan_size.count();
  return static_cast<std::int64_t>(std::max<std::uint64_t>((resident + size - 1) / size, 1));
}

Time HintScan::shortest(const TieredPages& pages) const {
  return std::max(Time{params_.period_min.ps() / windows(pages)}, params_.period_floor);
}

Time HintScan::longest(const TieredPages& pages) const {
  return std::max(Time{params_.period_max.ps() / windows(pages)}, shortest(pages));
}

void HintScan::look(TieredPages& pages) {
  if (pages.now() < next_) return;
  const std::uint64_t all = pages.pages();
  if (at_ >= all) {
    at_ = 0;
    end_pass(pages);
  }
  stamps_.resize(all);
  std::uint64_t left = std::max<std::uint64_t>(params_.scan_size.count() / page_.count(), 1);
  for (; at_ < all && left > 0; ++at_) {
    if (pages.is_table(at_) || (!params_.scan_explicit && pages.is_explicit(at_))) continue;
    const bool farther = nodes_[pages.node_of(at_)].distance > nodes_[nearest_].distance;
    if (of_ == Of::kFartherNodes && !farther) continue;
    if (pages.protect(at_)) stamps_[at_] = pages.now();
    --left;
  }
  period_ = std::clamp(period_, shortest(pages), longest(pages));
  next_ = pages.now() + period_;
}

// As update_task_scan_period does it: longer where faults tell nothing, or most are local or of one thread;
// shorter otherwise.
void HintScan::end_pass(const TieredPages& pages) {
  if (local_ + shared_ == 0 || failed_) {
    period_ = period_ * 2;
  } else {
    const auto slots = [](std::uint64_t part, std::uint64_t rest) {
      return static_cast<std::int64_t>(part) * kPeriodSlots / static_cast<std::int64_t>(part + rest);
    };
    const std::int64_t local = slots(local_, remote_);
    const std::int64_t own = slots(own_, shared_);
    std::int64_t longer = std::max(local, own) - kPeriodThreshold;
    if (own >= kPeriodThreshold) {
      longer = std::max<std::int64_t>(own - kPeriodThreshold, 1);
    } else if (local >= kPeriodThreshold) {
      longer = std::max<std::int64_t>(local - kPeriodThreshold, 1);
    }
    period_ += Time{(period_.ps() + kPeriodSlots - 1) / kPeriodSlots} * longer;
  }
  period_ = std::clamp(period_, shortest(pages), longest(pages));
  local_ = remote_ = own_ = shared_ = 0;
  failed_ = false;
}

}  // namespace cxloom
