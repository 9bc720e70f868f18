// How long others have passed the oldest burst of each bank. Its wait for other reasons does not count: that
// grows with the queue in front of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/dram/scheduler/scheduler.hpp"

namespace cxloom {

class DramAgeCap {
 public:
  static constexpr Time kDefault{1'000'000};

  DramAgeCap(Time cap, const DramSchedulerContext& context)
      : queue_(context.queue), cap_(context.clock.edge_at(cap)), passed_(std::size_t{context.banks} * 2) {}

  /// Whether another burst of the bank may still go before this one, its oldest.
  bool may_pass(const DramQueue::Entry& oldest, Clock now) const {
    const Passed& passed = passed_[oldest.burst.bank * 2 + oldest.burst.write];
    return (passed.order != oldest.order ? 0 : now - passed.since) < cap_;
  }
  void served(DramQueue::Slot slot, Clock now) {
    const DramBurst& burst = queue_.at(slot).burst;
    const DramQueue::Slot oldest = queue_.oldest(burst.bank, burst.write);
    Passed& passed = passed_[burst.bank * 2 + burst.write];
    if (slot != oldest && passed.order != queue_.at(oldest).order) passed = {queue_.at(oldest).order, now};
  }

 private:
  struct Passed {
    std::uint64_t order = ~std::uint64_t{0};  ///< of arrival: which burst was passed last
    Clock since = 0;
  };

  const DramQueue& queue_;
  Clock cap_;
  std::vector<Passed> passed_;  ///< by bank and direction
};

}  // namespace cxloom
