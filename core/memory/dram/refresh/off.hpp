// The refresh policy `off`: nothing is ever refreshed, for a comparison.
#pragma once

#include "base/schema.hpp"
#include "memory/dram/refresh/policy.hpp"

namespace cxloom {

class DramRefreshOff final : public DramRefreshPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) { schema.doc("Nothing is refreshed, for a comparison."); }
  };
  DramRefreshOff(const Params& /*params*/, const DramRefreshContext& /*context*/) {}

  DramRefreshScope scope() const override { return DramRefreshScope::kRank; }
  Clock interval() const override { return kNeverClock; }
};

}  // namespace cxloom
