// AutoNUMA: NUMA balancing of Linux in mode 1. Pages of all nodes are scanned; one that is accessed from here
// several times in a row comes to the nearest node while that has room. Nothing is demoted.
#pragma once

#include <cstdint>
#include <vector>

#include "base/schema.hpp"
#include "workload/tiering/demotion.hpp"
#include "workload/tiering/hint_scan.hpp"
#include "workload/tiering/tiering_policy.hpp"

namespace cxloom {

class AutoNuma final : public TieringPolicy {
 public:
  /// What faults in a row have in common.
  enum class Same : std::uint8_t { kNode, kThread };

  struct Params : HintScanParams {
    std::uint32_t consecutive = 2;
    Same same = Same::kNode;
    double high_watermark = 0.002;

    static void describe(Schema<Params>& schema) {
      schema.doc(
          "NUMA balancing of Linux, mode 1: a page of any node that faults several times in a row from here "
          "comes to the nearest node; nothing is demoted.");
      describe_in(schema);
      schema.field("consecutive", &Params::consecutive)
          .min(1)
          .doc("Faults in a row on a page, that one included, after which it moves.")
          .source("Linux, kernel/sched/fair.c, should_numa_migrate_memory: a filter of two stages");
      schema.choice("same", &Params::same, {{"node", Same::kNode}, {"thread", Same::kThread}})
          .doc(
              "What these faults have in common: the node of their threads, which all threads of a host are "
              "of, or the thread.")
          .source("Linux, kernel/sched/fair.c, should_numa_migrate_memory: cpupid_to_nid");
      schema.field("high_watermark", &Params::high_watermark)
          .fraction()
          .doc("Share of the nearest node's frames that stays free: no page comes with less.")
          .source("Linux, mm/migrate.c, migrate_balanced_pgdat; watermark_scale_factor 10: twice 0.1 %");
    }
  };
  AutoNuma(const Params& params, const TieringContext& context)
      : params_(params),
        scan_(params, context, HintScan::Of::kAllNodes),
        nodes_(context.nodes),
        nearest_(nearest_first(context.nodes).front()),
        kept_(frames_of(context.nodes[nearest_], params.high_watermark)) {}

  TieringSources sources() const override { return {.hint_faults = true, .period = params_.period_min}; }

  void look(TieredPages& pages) override {
    scan_.look(pages);
    pages.look_at(scan_.next());
  }
  void faulted(const PageAccess& access, TieredPages& pages) override {
    if (access.page >= last_.size()) last_.resize(pages.pages());
    Faults& last = last_[access.page];
    const bool own = last.in_a_row == 0 || last.thread == access.thread;
    const bool local = nodes_[access.node].distance == nodes_[nearest_].distance;
    scan_.faulted(local, own);
    if (!own && params_.same == Same::kThread) last.in_a_row = 0;
    last.thread = access.thread;
    if (last.in_a_row < params_.consecutive) ++last.in_a_row;
    if (local || last.in_a_row < params_.consecutive) return;
    if (pages.free(nearest_) > kept_) {
      pages.move(access.page, nearest_);
    } else {
      scan_.promotion_failed();
    }
  }

 private:
  struct Faults {
    std::uint32_t thread = 0;
    std::uint32_t in_a_row = 0;
  };

  Params params_;
  HintScan scan_;
  std::span<const NumaNode> nodes_;
  std::size_t nearest_;
  std::uint64_t kept_;        // frames
  std::vector<Faults> last_;  // by page
};

}  // namespace cxloom
