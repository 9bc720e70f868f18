// Routing by the destination's rank among its kind, so that ties are spread evenly over destinations (d-mod-k).
#pragma once

#include <utility>

#include "base/schema.hpp"
#include "interconnect/routing_strategy.hpp"

namespace cxloom {

class DeterministicRouting final : public RoutingStrategy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc("Among equally short ways by the destination's rank: d-mod-k.");
    }
  };
  DeterministicRouting(const Params& /*params*/, RoutingContext& context)
      : ranks_(std::move(context.ranks)) {}

  std::size_t choose(const Message& message, const Junction& here) override {
    return ranks_[message.destination.index()] % here.ways();
  }
  DecidedBy decided_by() const override { return DecidedBy::kDestination; }

 private:
  std::vector<std::uint32_t> ranks_;
};

}  // namespace cxloom
