// First ready, first come first served: accesses to the open row of a bank go first, then the oldest, with a
// cap on the time for which they pass an older one (Rixner et al., ISCA 2000; the cap: Mutlu and Moscibroda,
// MICRO-40).
#pragma once

#include "base/parameters.hpp"
#include "memory/dram/scheduler/age_cap.hpp"

namespace cxloom {

struct FrFcfsParams {
  Time age_cap = DramAgeCap::kDefault;

  static void describe(Schema<FrFcfsParams>& schema);
};

class FrFcfs final : public DramScheduler {
 public:
  using Params = FrFcfsParams;
  FrFcfs(const FrFcfsParams& params, const DramSchedulerContext& context)
      : queue_(context.queue), cap_(params.age_cap, context) {}

  DramPick pick(DramQueue::Slot oldest, std::int64_t row, Clock now) override;
  std::uint32_t served(DramQueue::Slot slot, Clock now) override;
  bool within_banks() const override { return true; }

 private:
  const DramQueue& queue_;
  DramAgeCap cap_;
};

}  // namespace cxloom
