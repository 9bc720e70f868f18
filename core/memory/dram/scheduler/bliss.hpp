// The blacklisting scheduler (BLISS, Subramanian et al., ICCD 2014): a requester of which several accesses in
// a row were served is blacklisted for a while, and the others go first. Among equals it is FR-FCFS.
#pragma once

#include <vector>

#include "base/parameters.hpp"
#include "memory/dram/scheduler/age_cap.hpp"

namespace cxloom {

struct BlissParams {
  std::uint32_t threshold = 4;
  std::uint32_t clearing_interval = 10'000;
  Time age_cap = DramAgeCap::kDefault;

  static void describe(Schema<BlissParams>& schema);
};

class Bliss final : public DramScheduler {
 public:
  using Params = BlissParams;
  Bliss(const BlissParams& params, const DramSchedulerContext& context)
      : queue_(context.queue),
        threshold_(params.threshold),
        interval_(params.clearing_interval),
        cap_(params.age_cap, context) {}

  DramPick pick(DramQueue::Slot oldest, std::int64_t row, Clock now) override;
  std::uint32_t served(DramQueue::Slot slot, Clock now) override;
  std::uint32_t wake(Clock now) override;
  bool holds_back() const override { return false; }

 private:
  bool blacklisted(NodeId requester) const {
    return requester.index() < blacklist_.size() && blacklist_[requester.index()];
  }

  const DramQueue& queue_;
  std::uint32_t threshold_;
  Clock interval_;
  DramAgeCap cap_;
  NodeId last_;                  ///< whose access was served last
  std::uint32_t streak_ = 0;     ///< how many of them in a row
  std::vector<bool> blacklist_;  ///< by requester
};

}  // namespace cxloom
