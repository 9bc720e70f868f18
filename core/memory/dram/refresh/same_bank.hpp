// The refresh policy `same-bank` (REFsb of DDR5: one bank of every group), which is per-bank refresh (REFpb)
// of LPDDR5 and HBM: the sets of a rank are refreshed in turn, one every tREFI_SB, while its other banks go
// on.
#pragma once

#include "base/schema.hpp"
#include "memory/dram/refresh/policy.hpp"

namespace cxloom {

class DramRefreshSameBank final : public DramRefreshPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc(
          "One bank of every group (DDR5), or one bank (LPDDR5, HBM), is closed and refreshed, every "
          "tREFI_SB for tRFC_SB, while the others of the rank go on.");
    }
  };
  DramRefreshSameBank(const Params& /*params*/, const DramRefreshContext& context)
      : interval_(context.device.timing.tREFI_SB) {}

  DramRefreshScope scope() const override { return DramRefreshScope::kSet; }
  Clock interval() const override { return interval_; }

 private:
  Clock interval_;
};

}  // namespace cxloom
