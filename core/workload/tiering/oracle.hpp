// An oracle: it knows how often each page comes among the next accesses, which no kernel does, and keeps
// those that come most often in the nearest node. What it gains is what any policy could, but for the moves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/schema.hpp"
#include "workload/tiering/tiering_policy.hpp"

namespace cxloom {

class Oracle final : public TieringPolicy {
 public:
  struct Params {
    std::uint64_t foresees = 100'000;
    Time period{1'000'000'000};
    std::uint64_t least = 64;

    static void describe(Schema<Params>& schema) {
      schema.doc(
          "Knows how often each page comes among the next accesses, as no kernel does: the pages that come "
          "most often are in the nearest node.");
      schema.field("foresees", &Params::foresees)
          .min(1)
          .max(1U << 24U)
          .doc("Accesses that it knows before they are made.")
          .source("own choice");
      schema.field("period", &Params::period)
          .min(Time{1})
          .doc("Time from one look to the next.")
          .source("own choice");
      schema.field("least", &Params::least)
          .min(1)
          .doc(
              "Accesses to come for which a page is moved. One that takes another's frame has to have twice "
              "as many more than that one.")
          .source("own choice: a copy of 4 KiB reads and writes 64 lines");
    }
  };
  Oracle(const Params& params, const TieringContext& context)
      : params_(params), nodes_(context.nodes), order_(nearest_first(context.nodes)) {
    refuse_equally_near(context);
  }

  TieringSources sources() const override { return {.foresees = params_.foresees, .period = params_.period}; }

  void look(TieredPages& pages) override {
    if (pages.moves_waiting() > 0) return;
    std::vector<Coming> far;
    std::vector<Coming> near;
    for (std::uint64_t page = 0; page < pages.pages(); ++page) {
      if (pages.is_table(page)) continue;
      const Coming coming{pages.coming(page), page};
      if (pages.node_of(page) == order_.front()) near.push_back(coming);
      else if (is_farther(pages.node_of(page)) && coming.accesses >= params_.least) far.push_back(coming);
    }
    std::ranges::sort(far, [](const Coming& a, const Coming& b) {
      return a.accesses != b.accesses ? a.accesses > b.accesses : a.page < b.page;
    });
    std::ranges::sort(near, [](const Coming& a, const Coming& b) {
      return a.accesses != b.accesses ? a.accesses < b.accesses : a.page < b.page;
    });
    std::uint64_t free = pages.free(order_.front());
    auto victim = near.begin();
    for (const Coming& page : far) {
      if (free > 0) {
        --free;
      } else {
        if (victim == near.end() || page.accesses < victim->accesses + 2 * params_.least) return;
        if (!demote(victim->page, pages)) return;
        ++victim;
      }
      pages.move(page.page, order_.front());
    }
  }

 private:
  struct Coming {
    std::uint64_t accesses;
    std::uint64_t page;
  };

  bool is_farther(std::size_t node) const { return nodes_[node].distance > nodes_[order_.front()].distance; }
  bool demote(std::uint64_t page, TieredPages& pages) const {
    const auto to = std::ranges::find_if(
        order_, [&](std::size_t node) { return is_farther(node) && pages.free(node) > 0; });
    if (to == order_.end()) return false;
    pages.move(page, *to);
    return true;
  }

  Params params_;
  std::span<const NumaNode> nodes_;
  std::vector<std::size_t> order_;
};

}  // namespace cxloom
