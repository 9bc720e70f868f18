// Routing that chooses between the shortest way and a detour by what is busy here (UGAL-L: Singh, 2005).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/schema.hpp"
#include "interconnect/routing/draw.hpp"
#include "interconnect/routing/strategy.hpp"

namespace cxloom {

class UgalRouting final : public RoutingStrategy {
 public:
  struct Params {
    std::uint32_t threshold = 0;

    static void describe(Schema<Params>& schema) {
      schema.doc(
          "At the first switch either the shortest way or one by a switch that is drawn: the detour if load "
          "times links of the shortest way is larger. On the way the least busy of equally short ways.");
      schema.field("threshold", &Params::threshold)
          .max(1'000'000)
          .doc(
              "By how many messages times links the shortest way must be the busier one before a detour is "
              "taken. Larger: fewer detours.")
          .source("UGAL has none; later variants of it do, to keep to short ways where loads are alike");
    }
  };
  UgalRouting(const Params& params, RoutingContext& context)
      : threshold_(params.threshold), draw_(context.seed), switches_(std::move(context.switches)) {}

  std::size_t choose(const Message& message, const Junction& here) override {
    return least_busy(message, here, draw_);
  }
  bool keeps_order() const override { return false; }
  bool detours() const override { return true; }
  std::uint32_t detour(const Message& message, const Junction& here) override {
    const std::uint32_t via = switches_[draw_.of(message, kNoDetour) % switches_.size()];
    if (via == here.node() || message.channel == Channel::kIo) return kNoDetour;
    const std::uint64_t shortest = cost(message, here, here.links());
    if (shortest <= threshold_) return kNoDetour;
    const Junction around = here.toward(via);
    if (around.ways() == 0) return kNoDetour;  // it has failed
    const std::uint64_t detour = cost(message, around, around.links() + here.links_between(via));
    return shortest > detour + threshold_ ? via : kNoDetour;
  }

 private:
  std::uint64_t cost(const Message& message, const Junction& here, std::uint32_t links) const {
    const std::size_t way = here.ways() == 1 ? 0 : least_busy(message, here, draw_);
    return std::uint64_t{here.load(way, message.channel)} * links;
  }

  std::uint32_t threshold_;
  RoutingDraw draw_;
  std::vector<std::uint32_t> switches_;
};

}  // namespace cxloom
