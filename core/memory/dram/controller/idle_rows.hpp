// Rows that lie open while nobody waits for their bank: the row policy may close them after a time.
#pragma once

#include <cstdint>

#include "memory/dram/controller/candidates.hpp"
#include "memory/dram/queue/ranks.hpp"
#include "memory/dram/row_policy/row_policy.hpp"

namespace cxloom {

class DramIdleRows {
 public:
  DramIdleRows(std::uint32_t banks, Clock precharge, const DramRowPolicy& policy, const DramQueue& queue,
               const DramRefresher& refresher, DramTimers& timers, DramCommandBus& bus, DramRanks& ranks)
      : banks_(banks),
        precharge_(precharge),
        policy_(policy),
        queue_(queue),
        refresher_(refresher),
        timers_(timers),
        bus_(bus),
        ranks_(ranks) {}

  /// The first that is to be closed, from `now` on.
  DramChoice next(Clock now) const;
  void close(std::uint32_t bank, Clock now);

 private:
  const std::uint32_t banks_;
  const Clock precharge_;  ///< tRP
  const DramRowPolicy& policy_;
  const DramQueue& queue_;
  const DramRefresher& refresher_;
  DramTimers& timers_;
  DramCommandBus& bus_;
  DramRanks& ranks_;
};

}  // namespace cxloom
