#include "workload/tiering/memory_tiering.hpp"

#include <algorithm>
#include <utility>

namespace cxloom {

void MemoryTiering::Params::describe(Schema<Params>& schema) {
  schema.doc(
      "NUMA balancing of Linux, mode 2 (Tiering-0.8): a page of a farther node that is accessed soon behind "
      "its scan comes to the nearest node; a full one demotes cold pages.");
  describe_in(schema);
  schema.field("threshold", &Params::threshold)
      .min(Time{1})
      .doc(
          "At first a page is hot that is accessed within so long of being made inaccessible; from "
          "`threshold_step` to `threshold_max`.")
      .source("Linux, kernel/sched/fair.c: sysctl_numa_balancing_hot_threshold, 1000 ms");
  schema.field("threshold_step", &Params::threshold_step)
      .min(Time{1})
      .doc("By so much the threshold adapts; it is never below.")
      .source("Linux, kernel/sched/fair.c: NUMA_MIGRATION_ADJUST_STEPS, twice the threshold in 16");
  schema.field("threshold_max", &Params::threshold_max)
      .min(Time{1})
      .doc("The threshold is never above.")
      .source("Linux, kernel/sched/fair.c, numa_promotion_adjust_threshold: twice the threshold");
  schema.field("adapt", &Params::adapt)
      .min(Time{1})
      .doc(
          "Time after which the threshold adapts: down if more than 1.1 times the rate limit were hot, up if "
          "less than 0.9 times.")
      .source("Linux, kernel/sched/fair.c: sysctl_numa_balancing_scan_period_max, 60000 ms");
  schema.field("rate_limit", &Params::rate_limit)
      .doc("Pages that are hot come no faster.")
      .source("Linux, kernel/sched/fair.c: sysctl_numa_balancing_promote_rate_limit, 65536 MiB a second");
  schema.field("rate_window", &Params::rate_window)
      .min(Time{1})
      .doc("Time over which the rate limit is counted.")
      .source("Linux, kernel/sched/fair.c, numa_promotion_rate_limit: a second");
  schema.field("enough_free", &Params::enough_free)
      .doc(
          "With more than so much, or `enough_share`, free above the watermark every page that faults comes, "
          "and the threshold is as at first.")
      .source("Linux, kernel/sched/fair.c, pgdat_free_space_enough: 1 GB");
  schema.field("enough_share", &Params::enough_share)
      .fraction()
      .doc(
          "Free memory above the watermark as for `enough_free`, as a share of the nearest node; the larger "
          "of both counts.")
      .source("Linux, kernel/sched/fair.c, pgdat_free_space_enough: a sixteenth of the node");
  schema.field("high_watermark", &Params::high_watermark)
      .fraction()
      .doc("Share of the nearest node's frames that stays free: no page comes with less, and others leave.")
      .source("Linux, mm/migrate.c, migrate_balanced_pgdat; watermark_scale_factor 10: twice 0.1 %");
  schema.field("promo_watermark", &Params::promo_watermark)
      .fraction()
      .doc(
          "Share of the nearest node's frames that is free when demotion ends, no less than "
          "`high_watermark`.")
      .source("Linux, mm/vmscan.c, pgdat_balanced: WMARK_PROMO; watermark_scale_factor 10: thrice 0.1 %");
  schema.field("demotion_pause", &Params::demotion_pause)
      .min(Time{1})
      .doc("Least time from one round of demotion to the next.")
      .source("Linux, mm/vmscan.c, kswapd_try_to_sleep: a tenth of a second");
  schema.rule(
      "threshold is outside of threshold_step to threshold_max",
      [](const Params& params) {
        return params.threshold_step <= params.threshold && params.threshold <= params.threshold_max;
      },
      "threshold");
  schema.rule(
      "promo_watermark is below high_watermark",
      [](const Params& params) { return params.high_watermark <= params.promo_watermark; },
      "promo_watermark");
}

MemoryTiering::MemoryTiering(const Params& params, const TieringContext& context)
    : params_(params),
      scan_(params, context, HintScan::Of::kFartherNodes),
      demotion_(context,
                frames_of(context.nodes[nearest_first(context.nodes).front()], params.promo_watermark) + 1,
                params.demotion_pause),
      limit_(params.rate_limit, params.rate_window),
      nodes_(context.nodes),
      nearest_(nearest_first(context.nodes).front()),
      page_(context.page),
      kept_(frames_of(context.nodes[nearest_], params.high_watermark)),
      enough_(frames_of(context.nodes[nearest_], params.promo_watermark) +
              std::max(params.enough_free.count() / context.page.count(),
                       frames_of(context.nodes[nearest_], params.enough_share))),
      threshold_(params.threshold) {}

void MemoryTiering::look(TieredPages& pages) {
  scan_.look(pages);
  demotion_.look(pages);
  pages.look_at(std::min(scan_.next(), demotion_.next()));
}

void MemoryTiering::faulted(const PageAccess& access, TieredPages& pages) {
  if (nodes_[access.node].distance <= nodes_[nearest_].distance) return;  // it has moved since the scan
  if (access.page >= threads_.size()) threads_.resize(pages.pages());
  const std::uint32_t before = std::exchange(threads_[access.page], access.thread + 1);
  const bool own = before == 0 || before == access.thread + 1;
  if (!is_wanted(access.page, pages)) return;
  // Linux counts faults of pages that came, and none of those that stay.
  if (pages.free(nearest_) > kept_) {
    scan_.faulted(false, own);
    pages.move(access.page, nearest_);
  } else {
    scan_.promotion_failed();
    demotion_.wake(pages);
  }
}

bool MemoryTiering::is_wanted(std::uint64_t page, TieredPages& pages) {
  if (pages.free(nearest_) > enough_) {
    threshold_ = params_.threshold;
    return true;
  }
  adapt(pages.now());
  if (pages.now() - scan_.stamp_of(page) > threshold_) return false;
  ++candidates_;
  return limit_.allows(pages.now(), page_);
}

void MemoryTiering::adapt(Time now) {
  const Time since = now - adapted_;
  if (since <= params_.adapt) return;
  adapted_ = now;
  const double found = static_cast<double>(std::exchange(candidates_, 0) * page_.count());
  const double limit =
      params_.rate_limit.rate.unlimited()
          ? 0
          : params_.rate_limit.rate.per_second() * static_cast<double>(params_.adapt.ps()) * 1e-12;
  if (limit > 0 && found > 1.1 * limit) {
    threshold_ = std::max(threshold_ - params_.threshold_step, params_.threshold_step);
  } else if (limit == 0 || found < 0.9 * limit) {
    threshold_ = std::min(threshold_ + params_.threshold_step, params_.threshold_max);
  }
}

}  // namespace cxloom
