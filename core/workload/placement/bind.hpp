// Bind: pages go to these nodes and to no others (MPOL_BIND, `numactl --membind`).
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/schema.hpp"
#include "workload/placement/page_placement.hpp"

namespace cxloom {

class BindPlacement final : public PagePlacement {
 public:
  struct Params {
    std::vector<std::string> nodes;

    static void describe(Schema<Params>& schema) {
      schema.doc("Only these nodes, nearest first. A page that has no room there ends the program.");
      schema.field("nodes", &Params::nodes)
          .required()
          .where([](const auto& names) { return !names.empty(); }, "one memory or more")
          .doc("Memories whose nodes they are.");
    }
  };
  BindPlacement(const Params& params, const PlacementContext& context)
      : order_(nearest_first(context.nodes)) {
    const std::vector<std::size_t> bound = nodes_named(context.nodes, params.nodes, context.others);
    named_ = nodes_of_each(context.nodes, params.nodes);
    std::erase_if(order_, [&](std::size_t node) { return std::ranges::find(bound, node) == bound.end(); });
  }
  std::optional<Choice> place(std::uint64_t /*page*/, std::uint64_t count,
                              std::span<const std::uint64_t> free) override {
    return first_with_room(order_, count, free);
  }
  std::vector<std::vector<std::size_t>> named() const override { return named_; }
  bool is_explicit(std::uint64_t /*page*/) const override { return true; }

 private:
  std::vector<std::size_t> order_;
  std::vector<std::vector<std::size_t>> named_;
};

}  // namespace cxloom
