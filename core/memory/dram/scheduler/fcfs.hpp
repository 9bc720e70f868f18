// First come, first served: commands go out for the oldest access alone, of reads and of writes ("in-order"
// of Rixner et al., ISCA 2000). No bank is prepared for the next one meanwhile.
#pragma once

#include <array>

#include "base/parameters.hpp"
#include "base/ring.hpp"
#include "memory/dram/scheduler/scheduler.hpp"

namespace cxloom {

struct FcfsParams {
  static void describe(Schema<FcfsParams>& schema);
};

class Fcfs final : public DramScheduler {
 public:
  using Params = FcfsParams;
  Fcfs(const FcfsParams& /*params*/, const DramSchedulerContext& context) : queue_(context.queue) {}

  DramPick pick(DramQueue::Slot oldest, std::int64_t row, Clock now) override;
  std::uint32_t arrived(DramQueue::Slot slot, Clock now) override;
  std::uint32_t served(DramQueue::Slot slot, Clock now) override;
  bool holds_back() const override { return false; }
  bool in_order() const override { return true; }

 private:
  const DramQueue& queue_;
  std::array<Ring<DramQueue::Slot>, 2> waiting_;  ///< by direction, oldest first
};

}  // namespace cxloom
