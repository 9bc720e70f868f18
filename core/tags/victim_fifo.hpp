// The line inserted first leaves.
#pragma once

#include "base/schema.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

class FifoVictims final : public VictimPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) { schema.doc("The line inserted first leaves."); }
  };
  FifoVictims(const Params& /*params*/, const VictimContext& /*context*/) {}

  Slot victim(std::uint32_t set, const SlotOrder& order, const SlotPins& pins) override {
    return order.oldest(set, pins);
  }
};

}  // namespace cxloom
