// Routing by the destination's rank among its kind, so that ties are spread evenly over destinations
// (d-mod-k: Zahavi et al., "Optimized InfiniBand fat-tree routing for shift all-to-all communication
// patterns", Concurrency and Computation 2010). Each level of a tree goes by another digit of the rank: by
// one stride, all destinations that come to a switch of the second level would leave it by one way.
#pragma once

#include <utility>

#include "base/schema.hpp"
#include "interconnect/routing/strategy.hpp"

namespace cxloom {

class DeterministicRouting final : public RoutingStrategy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc(
          "Among equally short ways by the destination's rank, each level by another digit of it: d-mod-k. "
          "Among parallel links to the same neighbour by a hash of the line address, there and back.");
    }
  };
  DeterministicRouting(const Params& /*params*/, RoutingContext& context)
      : ranks_(std::move(context.ranks)), strides_(std::move(context.strides)) {}

  std::size_t choose(const Message& message, const Junction& here) override {
    return ranks_[message.destination.index()] / strides_[here.node()] % here.ways();
  }
  DecidedBy decided_by() const override { return DecidedBy::kDestination; }
  bool spreads_over_parallel_links() const override { return true; }

 private:
  std::vector<std::uint32_t> ranks_;
  std::vector<std::uint32_t> strides_;
};

}  // namespace cxloom
