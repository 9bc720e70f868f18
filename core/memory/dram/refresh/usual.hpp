// The refresh policy `usual`: `same-bank` or `all-bank`, as is usual for the device.
#pragma once

#include "base/schema.hpp"
#include "memory/dram/refresh/policy.hpp"

namespace cxloom {

class DramRefreshUsual final : public DramRefreshPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc("`same-bank` for DDR5 and LPDDR5, `all-bank` otherwise.");
    }
  };
  DramRefreshUsual(const Params& /*params*/, const DramRefreshContext& context)
      : scope_(context.device.usual_refresh),
        interval_(scope_ == DramRefreshScope::kSet ? context.device.timing.tREFI_SB
                                                   : context.device.timing.tREFI) {}

  DramRefreshScope scope() const override { return scope_; }
  Clock interval() const override { return interval_; }

 private:
  DramRefreshScope scope_;
  Clock interval_;
};

}  // namespace cxloom
