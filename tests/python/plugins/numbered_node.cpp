// A placement of pages outside the tree: all pages go to one node, by its place in the address map, and what
// it has no room for to the others in their order.
#include <algorithm>
#include <cxloom/placement.hpp>
#include <numeric>

namespace {

using namespace cxloom;

class NumberedNode final : public PagePlacement {
 public:
  struct Params {
    std::uint32_t node = 0;

    static void describe(Schema<Params>& schema) {
      schema.doc("The node of a number first, then the others.");
      schema.field("node", &Params::node).doc("Its place in the address map, from 0.");
    }
  };
  NumberedNode(const Params& params, const PlacementContext& context) : order_(context.nodes.size()) {
    if (params.node >= order_.size())
      throw InputError(
          {"no such node", std::to_string(params.node), "below " + std::to_string(order_.size()), {}},
          "node");
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::rotate(order_.begin(), order_.begin() + params.node, order_.begin() + params.node + 1);
  }
  std::optional<Choice> place(std::uint64_t /*page*/, std::uint64_t count,
                              std::span<const std::uint64_t> free) override {
    return first_with_room(order_, count, free);
  }

 private:
  std::vector<std::size_t> order_;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.placements.add<NumberedNode>("numbered-node"); }
