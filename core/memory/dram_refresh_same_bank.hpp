// Same-bank refresh (REFsb of DDR5: one bank of every group), or per-bank refresh (REFpb of LPDDR5 and HBM): the banks of a set
// are closed one by one and refreshed for tRFC_SB, while the others of the rank go on.
#pragma once

#include "memory/dram_refresh_policy.hpp"

namespace cxloom {

class DramRefreshSameBank final : public DramRefreshPolicy {
 public:
  explicit DramRefreshSameBank(const DramRefreshContext& context)
      : device_(context.config.device), timers_(context.timers), bus_(context.bus), unused_(context.unused) {}

  Clock interval() const override { return device_.timing.tREFI_SB; }
  Clock duration() const override { return device_.timing.tRFC_SB; }
  std::uint32_t sets() const override;
  Clock next_at(const DramRefreshSet& set, bool writing) const override;
  bool send_next(const DramRefreshSet& set, bool writing, Clock now) override;

 private:
  const DramDevice& device_;
  DramTimers& timers_;
  DramCommandBus& bus_;
  DramUnusedRows& unused_;
};

}  // namespace cxloom
