// The least recently used line leaves: exact, not an approximation by a tree or bits.
#pragma once

#include "base/schema.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

class LruVictims final : public VictimPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) { schema.doc("The least recently used line leaves."); }
  };
  LruVictims(const Params& /*params*/, const VictimContext& /*context*/) {}

  Slot victim(std::uint32_t set, const SlotOrder& order, const SlotPins& pins) override {
    return order.oldest(set, pins);
  }
  bool orders_by_use() const override { return true; }
};

}  // namespace cxloom
