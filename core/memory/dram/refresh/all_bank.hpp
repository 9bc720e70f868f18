// The refresh policy `all-bank` (REF): all banks of a rank are refreshed together, every tREFI.
#pragma once

#include "base/schema.hpp"
#include "memory/dram/refresh/policy.hpp"

namespace cxloom {

class DramRefreshAllBank final : public DramRefreshPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc("All banks of a rank are closed and refreshed together, every tREFI for tRFC.");
    }
  };
  DramRefreshAllBank(const Params& /*params*/, const DramRefreshContext& context)
      : interval_(context.device.timing.tREFI) {}

  DramRefreshScope scope() const override { return DramRefreshScope::kRank; }
  Clock interval() const override { return interval_; }

 private:
  Clock interval_;
};

}  // namespace cxloom
