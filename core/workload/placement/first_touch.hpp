// First touch: each page takes the next free frame, in the order of the address map.
#pragma once

#include <numeric>
#include <vector>

#include "base/schema.hpp"
#include "workload/placement/page_placement.hpp"

namespace cxloom {

class FirstTouchPlacement final : public PagePlacement {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc("The next free frame, in the order of the address map: one memory after the other.");
    }
  };
  FirstTouchPlacement(const Params& /*params*/, const PlacementContext& context)
      : order_(context.nodes.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }
  std::optional<Choice> place(std::uint64_t /*page*/, std::uint64_t count,
                              std::span<const std::uint64_t> free) override {
    return first_with_room(order_, count, free);
  }

 private:
  std::vector<std::size_t> order_;
};

}  // namespace cxloom
