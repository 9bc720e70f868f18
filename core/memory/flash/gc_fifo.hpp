// The block that was filled first is collected, as a log that goes round the plane would.
#pragma once

#include "base/schema.hpp"
#include "memory/flash/gc_policy.hpp"

namespace cxloom {

class FifoCollector final : public GcPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc("The block that was filled first, whatever is current in it: a circular log.");
    }
  };
  FifoCollector(const Params& /*params*/, const GcContext& /*context*/) {}

  double score(const FlashBlock& block, std::uint64_t now) override {
    return static_cast<double>(now - block.filled);
  }
};

}  // namespace cxloom
