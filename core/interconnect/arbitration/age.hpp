// The arbitration `age`: the message whose request was made first.
#pragma once

#include "base/schema.hpp"
#include "interconnect/arbitration/arbitration.hpp"

namespace cxloom {

class AgeArbiter final : public Arbiter {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc("The message whose request was made first goes first.");
    }
  };
  AgeArbiter(const Params& /*params*/, const ArbitrationContext& /*context*/) {}

  bool memoryless() const override { return true; }
  std::size_t choose(const Contenders& waiting, Time /*now*/) override {
    std::size_t oldest = 0;
    std::size_t index = 0;
    Time since = Time::max();
    for (const Contender each : waiting) {
      if (const Time age = each.age(); age < since) {
        since = age;
        oldest = index;
      }
      ++index;
    }
    return oldest;
  }
};

}  // namespace cxloom
