// Hot pages: samples find pages that are accessed often, which go to the nearest node; pages of that node
// that were not accessed for a period make room for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/schema.hpp"
#include "workload/tiering/tiering_policy.hpp"

namespace cxloom {

class HotPages final : public TieringPolicy {
 public:
  struct Params {
    std::uint64_t every = 5000;
    std::uint64_t hot = 8;
    Time period{10'000'000'000};
    Bytes keep_free{1024 * 1024};

    static void describe(Schema<Params>& schema) {
      schema.doc(
          "A page with enough samples goes to the nearest node, from which pages go that were not accessed "
          "for a period.");
      schema.field("every", &Params::every)
          .min(1)
          .doc("Accesses that memory answers, from one sample to the next.")
          .source("HeMem, SOSP 2021: 5000");
      schema.field("hot", &Params::hot)
          .min(1)
          .doc("Samples in a period that make a page hot.")
          .source("HeMem, SOSP 2021: 8 reads");
      schema.field("period", &Params::period)
          .min(Time{1})
          .doc("Time from one scan of accessed bits to the next, with which samples are counted anew.")
          .source("HeMem, SOSP 2021: pages move each 10 ms");
      schema.field("keep_free", &Params::keep_free)
          .doc("Free memory of the nearest node below which idle pages leave it, in whole pages.")
          .source("own choice");
    }
  };
  HotPages(const Params& params, const TieringContext& context)
      : params_(params),
        keep_free_(params.keep_free.count() / context.page.count()),
        nodes_(context.nodes),
        order_(nearest_first(context.nodes)) {
    refuse_equally_near(context);
    refuse_above("keep_free", params.keep_free, Params{}.keep_free,
                 std::span(context.nodes).subspan(order_.front(), 1), context);
  }

  TieringSources sources() const override {
    return {.accessed_bits = true, .sample_every = params_.every, .period = params_.period};
  }

  void sampled(const PageAccess& access, TieredPages& pages) override {
    if (access.page >= samples_.size()) samples_.resize(pages.pages());
    if (++samples_[access.page] == params_.hot && is_farther(access.node))
      pages.move(access.page, order_.front());
  }
  void look(TieredPages& pages) override {
    // Pages of scans before that still wait to leave make room, too.
    if (pages.moves_waiting() == 0) leaving_.clear();
    std::erase_if(leaving_, [&](std::uint64_t page) { return pages.node_of(page) != order_.front(); });
    std::uint64_t free = pages.free(order_.front()) + leaving_.size();
    const std::size_t next =
        *std::ranges::find_if(order_, [&](std::size_t node) { return is_farther(node); });
    for (std::uint64_t page = 0; page < pages.pages(); ++page) {
      if (pages.is_table(page) || pages.node_of(page) != order_.front()) continue;
      if (pages.accessed(page) || free >= keep_free_ || !leaving_.insert(page).second) continue;
      pages.move(page, next);
      ++free;
    }
    samples_.assign(pages.pages(), 0);
  }

 private:
  /// Than the nearest.
  bool is_farther(std::size_t node) const { return nodes_[node].distance > nodes_[order_.front()].distance; }

  Params params_;
  std::uint64_t keep_free_;  // pages
  std::span<const NumaNode> nodes_;
  std::vector<std::size_t> order_;
  std::vector<std::uint64_t> samples_;         // by page, in this period
  std::unordered_set<std::uint64_t> leaving_;  // idle pages whose moves may still wait
};

}  // namespace cxloom
