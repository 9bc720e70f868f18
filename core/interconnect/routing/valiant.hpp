// Routing in two phases: first to a switch that is drawn, then to the destination (Valiant and Brebner,
// 1981).
#pragma once

#include <utility>
#include <vector>

#include "base/schema.hpp"
#include "interconnect/routing/draw.hpp"
#include "interconnect/routing/strategy.hpp"

namespace cxloom {

class ValiantRouting final : public RoutingStrategy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc(
          "First to a switch that is drawn for each line address, then to the destination: no pattern of "
          "traffic is worse than any other, at up to twice the length.");
    }
  };
  ValiantRouting(const Params& /*params*/, RoutingContext& context)
      : draw_(context.seed), switches_(std::move(context.switches)) {}

  std::size_t choose(const Message& message, const Junction& here) override {
    return draw_.of(message, here.node()) % here.ways();
  }
  bool detours() const override { return true; }
  std::uint32_t detour(const Message& message, const Junction& here) override {
    const std::uint32_t via = switches_[draw_.of(message, kNoDetour) % switches_.size()];
    return via == here.node() ? kNoDetour : via;
  }

 private:
  RoutingDraw draw_;
  std::vector<std::uint32_t> switches_;
};

}  // namespace cxloom
