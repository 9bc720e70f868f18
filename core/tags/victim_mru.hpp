// The most recently used line leaves.
#pragma once

#include "base/schema.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

class MruVictims final : public VictimPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) { schema.doc("The most recently used line leaves."); }
  };
  MruVictims(const Params& /*params*/, const VictimContext& /*context*/) {}

  Slot victim(std::uint32_t set, const SlotOrder& order, const SlotPins& pins) override {
    return order.newest(set, pins);
  }
  bool orders_by_use() const override { return true; }
};

}  // namespace cxloom
