// Promote on fault: a scan makes pages of farther nodes inaccessible, some each period, and a page that is
// accessed then goes to the nearest node with a free frame. Nothing is demoted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/schema.hpp"
#include "workload/tiering/tiering_policy.hpp"

namespace cxloom {

class PromoteOnFault final : public TieringPolicy {
 public:
  struct Params {
    Time period{1'000'000'000};
    Bytes scan{256 * 1024};

    static void describe(Schema<Params>& schema) {
      schema.doc(
          "A page of a farther node that faults goes to the nearest node with a free frame; nothing is "
          "demoted.");
      schema.field("period", &Params::period).min(Time{1}).doc("Time from one scan to the next.");
      schema.field("scan", &Params::scan)
          .min(Bytes{1})
          .doc("Bytes of pages of farther nodes that a scan makes inaccessible, in the order of first touch.")
          .source("Linux, numa_balancing: 256 MiB a second at most, here in finer steps");
    }
  };
  PromoteOnFault(const Params& params, const TieringContext& context)
      : period_(params.period),
        scan_(std::max<std::uint64_t>(params.scan.count() / context.page.count(), 1)),
        nodes_(context.nodes),
        order_(nearest_first(context.nodes)) {
    refuse_equally_near(context);
    refuse_above("scan", params.scan, Params{}.scan, context.nodes, context);
  }

  TieringSources sources() const override { return {.hint_faults = true, .period = period_}; }

  void look(TieredPages& pages) override {
    const std::uint64_t all = pages.pages();
    std::uint64_t left = scan_;
    for (std::uint64_t seen = 0; seen < all && left > 0; ++seen, ++next_) {
      if (next_ >= all) next_ = 0;
      if (pages.is_table(next_) || !is_nearer(order_.front(), pages.node_of(next_))) continue;
      pages.protect(next_);
      --left;
    }
  }
  void faulted(const PageAccess& access, TieredPages& pages) override {
    for (const std::size_t node : order_) {
      if (!is_nearer(node, access.node)) return;
      if (pages.free(node) > 0) return pages.move(access.page, node);
    }
  }

 private:
  bool is_nearer(std::size_t node, std::size_t than) const {
    return nodes_[node].distance < nodes_[than].distance;
  }

  Time period_;
  std::uint64_t scan_;  // pages
  std::span<const NumaNode> nodes_;
  std::vector<std::size_t> order_;
  std::uint64_t next_ = 0;
};

}  // namespace cxloom
