// Routing by a hash of source and destination.
#pragma once

#include "base/random.hpp"
#include "base/schema.hpp"
#include "interconnect/routing/strategy.hpp"

namespace cxloom {

class FlowHashRouting final : public RoutingStrategy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc("Among equally short ways by a hash of source and destination.");
    }
  };
  FlowHashRouting(const Params& /*params*/, const RoutingContext& context) : key_(mix_bits(context.seed)) {}

  std::size_t choose(const Message& message, const Junction& here) override {
    const std::uint64_t flow = (std::uint64_t{message.source.index()} << 32U) | message.destination.index();
    return mix_bits(mix_bits(key_ ^ flow) + here.node()) % here.ways();
  }
  DecidedBy decided_by() const override { return DecidedBy::kPair; }

 private:
  std::uint64_t key_;
};

}  // namespace cxloom
