// All-bank refresh (REF): all banks of a rank are closed together and refreshed for tRFC.
#pragma once

#include "memory/dram_refresh_policy.hpp"

namespace cxloom {

class DramRefreshAllBank final : public DramRefreshPolicy {
 public:
  explicit DramRefreshAllBank(const DramRefreshContext& context)
      : timing_(context.config.device.timing),
        timers_(context.timers),
        bus_(context.bus),
        unused_(context.unused) {}

  Clock interval() const override { return timing_.tREFI; }
  Clock duration() const override { return timing_.tRFC; }
  std::uint32_t sets() const override { return 1; }
  Clock next_at(const DramRefreshSet& set, bool writing) const override;
  bool send_next(const DramRefreshSet& set, bool writing, Clock now) override;

 private:
  const DramTiming& timing_;
  DramTimers& timers_;
  DramCommandBus& bus_;
  DramUnusedRows& unused_;
};

}  // namespace cxloom
