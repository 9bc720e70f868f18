// The arbitration `round-robin`: classes take turns, and so do the queues of a class: the first to ask goes.
#pragma once

#include "base/schema.hpp"
#include "interconnect/arbitration/arbitration.hpp"

namespace cxloom {

class RoundRobinArbiter final : public Arbiter {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc("Classes take turns, and within a class the inputs.");
    }
  };
  RoundRobinArbiter(const Params& /*params*/, const ArbitrationContext& /*context*/) {}

  bool takes_turns() const override { return true; }
  std::size_t choose(const Contenders& waiting, Time /*now*/) override {
    std::size_t index = 0;
    for (const Contender each : waiting) {
      const auto which = static_cast<unsigned>(each.message().channel);
      if (which >= turn_) {
        turn_ = which + 1;
        return index;
      }
      ++index;
    }
    turn_ = static_cast<unsigned>((*waiting.begin()).message().channel) + 1;
    return 0;
  }

 private:
  unsigned turn_ = 0;  // the class after the one served last
};

}  // namespace cxloom
