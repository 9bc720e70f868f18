// TPP, transparent page placement: pages of farther nodes are scanned; the first fault on one makes it
// active, the next brings it to the nearest node, which demotes early so that it always has room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/schema.hpp"
#include "workload/tiering/demotion.hpp"
#include "workload/tiering/hint_scan.hpp"
#include "workload/tiering/tiering_policy.hpp"

namespace cxloom {

class Tpp final : public TieringPolicy {
 public:
  struct Params : HintScanParams {
    double demote_below = 0.02;
    Time demotion_pause{100'000'000'000};

    static void describe(Schema<Params>& schema) {
      schema.doc(
          "Transparent page placement: an active page of a farther node that faults comes to the nearest "
          "node, which demotes before it is full.");
      describe_in(schema);
      schema.field("demote_below", &Params::demote_below)
          .fraction()
          .doc(
              "Share of the nearest node's frames below which cold pages leave it. It is apart from the "
              "watermark of allocation: pages come to the last frame.")
          .source("Maruf et al., TPP, ASPLOS 2023, 5.2: demote_scale_factor, 2 %");
      schema.field("demotion_pause", &Params::demotion_pause)
          .min(Time{1})
          .doc("Least time from one round of demotion to the next.")
          .source("Linux, mm/vmscan.c, kswapd_try_to_sleep: a tenth of a second");
    }
  };
  Tpp(const Params& params, const TieringContext& context)
      : params_(params),
        scan_(params, context, HintScan::Of::kFartherNodes),
        nodes_(context.nodes),
        nearest_(nearest_first(context.nodes).front()),
        kept_(frames_of(context.nodes[nearest_], params.demote_below)),
        demotion_(context, kept_, params.demotion_pause) {}

  TieringSources sources() const override {
    return {.hint_faults = true, .accessed_bits = true, .period = params_.period_min};
  }

  void look(TieredPages& pages) override {
    scan_.look(pages);
    demotion_.look(pages);
    if (demotion_.free(pages) < kept_) demotion_.wake(pages);
    pages.look_at(std::min(scan_.next(), demotion_.next()));
  }
  void faulted(const PageAccess& access, TieredPages& pages) override {
    if (nodes_[access.node].distance <= nodes_[nearest_].distance) return;  // it has moved since the scan
    if (access.page >= pages_.size()) pages_.resize(pages.pages());
    State& state = pages_[access.page];
    scan_.faulted(false, !state.active || state.thread == access.thread);
    state.thread = access.thread;
    if (!state.active) {
      state.active = true;
      return;
    }
    if (pages.free(nearest_) > 0) {
      state.active = false;  // what is demoted later begins inactive
      pages.move(access.page, nearest_);
    } else {
      scan_.promotion_failed();
    }
    if (demotion_.free(pages) < kept_) demotion_.wake(pages);
  }

 private:
  struct State {
    std::uint32_t thread = 0;  // of the last fault
    bool active = false;
  };

  Params params_;
  HintScan scan_;
  std::span<const NumaNode> nodes_;
  std::size_t nearest_;
  std::uint64_t kept_;  // frames
  Demotion demotion_;
  std::vector<State> pages_;
};

}  // namespace cxloom
