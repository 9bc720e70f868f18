// Preferred: pages go to these nodes until they are full, or a limit is reached, then to the nearest others
// (MPOL_PREFERRED_MANY, `numactl --preferred`; without nodes MPOL_LOCAL, what Linux does by default).
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/schema.hpp"
#include "workload/placement/page_placement.hpp"

namespace cxloom {

class PreferredPlacement final : public PagePlacement {
 public:
  struct Params {
    std::vector<std::string> nodes;
    std::optional<Bytes> limit;

    static void describe(Schema<Params>& schema) {
      schema.doc("These nodes while they have room, then the nearest others: what does not fit spills over.");
      schema.field("nodes", &Params::nodes)
          .default_text("the nearest node")
          .doc("Memories whose nodes they are, nearest first.");
      schema.field("limit", &Params::limit)
          .default_text("all that they have")
          .doc(
              "Bytes of these nodes that the pages may take, in whole pages; the others spill over before "
              "the nodes are full.");
    }
  };
  PreferredPlacement(const Params& params, const PlacementContext& context)
      : names_nodes_(!params.nodes.empty()),
        others_(nearest_first(context.nodes)),
        limit_(params.limit ? params.limit->count() / context.page.count() : ~std::uint64_t{0}),
        left_(limit_) {
    if (others_.empty()) return;
    std::vector<std::size_t> wanted{others_.front()};
    if (!params.nodes.empty()) wanted = nodes_named(context.nodes, params.nodes, context.others);
    named_ = nodes_of_each(context.nodes, params.nodes);
    const auto is_wanted = [&](std::size_t node) { return std::ranges::find(wanted, node) != wanted.end(); };
    std::ranges::copy_if(others_, std::back_inserter(preferred_), is_wanted);
    std::erase_if(others_, is_wanted);
  }
  std::optional<Choice> place(std::uint64_t /*page*/, std::uint64_t count,
                              std::span<const std::uint64_t> free) override {
    if (left_ > 0) {
      if (const auto choice = first_with_room(preferred_, std::min(count, left_), free)) {
        left_ -= choice->pages;
        return choice;
      }
    }
    return first_with_room(others_, count, free);
  }
  void restart() override { left_ = limit_; }
  std::vector<std::vector<std::size_t>> named() const override { return named_; }
  std::uint64_t sure_of() const override { return others_.empty() ? limit_ : ~std::uint64_t{0}; }
  bool is_explicit(std::uint64_t /*page*/) const override { return names_nodes_; }

 private:
  bool names_nodes_;
  std::vector<std::vector<std::size_t>> named_;
  std::vector<std::size_t> preferred_;
  std::vector<std::size_t> others_;
  std::uint64_t limit_;  // pages
  std::uint64_t left_;   // pages below the limit
};

}  // namespace cxloom
