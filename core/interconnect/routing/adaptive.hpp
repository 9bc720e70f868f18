// Routing by load: of equally short ways the least busy one, at every node anew.
#pragma once

#include "base/schema.hpp"
#include "interconnect/routing/draw.hpp"
#include "interconnect/routing/strategy.hpp"

namespace cxloom {

class AdaptiveRouting final : public RoutingStrategy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc(
          "At every node the least busy of the equally short ways: fewest messages waiting, on the wire and "
          "in buffers of the far end. Among equally busy ones by a draw for each message.");
    }
  };
  AdaptiveRouting(const Params& /*params*/, const RoutingContext& context) : draw_(context.seed) {}

  std::size_t choose(const Message& message, const Junction& here) override {
    return least_busy(message, here, draw_);
  }
  bool keeps_order() const override { return false; }

 private:
  RoutingDraw draw_;
};

}  // namespace cxloom
