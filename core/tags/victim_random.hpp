// Any line leaves, each with equal chance.
#pragma once

#include "tags/victim_policy.hpp"

namespace cxloom {

class RandomVictims final : public VictimPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc("Any line of the set leaves, with equal chance.");
    }
  };
  RandomVictims(const Params& /*params*/, const VictimContext& context)
      : ways_(context.ways), random_(context.random) {}

  Slot victim(std::uint32_t set, const SlotOrder& /*order*/) override {
    return set * ways_ + static_cast<Slot>(random_.below(ways_));
  }

 private:
  std::uint32_t ways_;
  RandomStream random_;
};

}  // namespace cxloom
