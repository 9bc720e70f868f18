// Routing by a keyed draw for each line address and class: as good as one for each message where traffic is scattered.
#pragma once

#include "base/random.hpp"
#include "base/schema.hpp"
#include "interconnect/routing_strategy.hpp"

namespace cxloom {

class RandomRouting final : public RoutingStrategy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc("Among equally short ways by a draw for each line address.");
    }
  };
  RandomRouting(const Params& /*params*/, const RoutingContext& context)
      : key_(mix_bits(context.seed ^ 0x726f757465ULL)) {}

  std::size_t choose(const Message& message, std::uint32_t node, std::size_t choices) override {
    // All messages of one class to one line take one way, which keeps their order.
    const std::uint64_t line = LineAddress::of(message.address).number();
    const std::uint64_t flow =
        (std::uint64_t{message.source.index()} << 8U) | static_cast<std::uint64_t>(message.channel);
    return mix_bits(mix_bits(key_ ^ line) ^ mix_bits(flow) ^ node) % choices;
  }

 private:
  std::uint64_t key_;
};

}  // namespace cxloom
