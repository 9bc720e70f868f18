// Routing by a keyed draw for each line address and class: as good as one for each message where traffic is
// scattered.
#pragma once

#include "base/schema.hpp"
#include "interconnect/routing/draw.hpp"
#include "interconnect/routing/strategy.hpp"

namespace cxloom {

class RandomRouting final : public RoutingStrategy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc("Among equally short ways by a draw for each line address.");
    }
  };
  RandomRouting(const Params& /*params*/, const RoutingContext& context) : draw_(context.seed) {}

  std::size_t choose(const Message& message, const Junction& here) override {
    return draw_.of(message, here.node()) % here.ways();
  }

 private:
  RoutingDraw draw_;
};

}  // namespace cxloom
