#include "memory/dram/scheduler/bliss.hpp"

#include <algorithm>
#include <utility>

#include "base/schema.hpp"

namespace cxloom {

void BlissParams::describe(Schema<BlissParams>& schema) {
  schema.doc(
      "The blacklisting scheduler: accesses of a requester that was served several times in a row go behind "
      "those of others for a while. Among equals FR-FCFS.");
  schema.field("threshold", &BlissParams::threshold)
      .min(1)
      .doc("A requester is blacklisted when so many accesses of its were served in a row.")
      .source("Subramanian et al., ICCD 2014: 4");
  schema.field("clearing_interval", &BlissParams::clearing_interval)
      .min(1)
      .doc("The blacklist is cleared each so many cycles of the command clock.")
      .source("Subramanian et al., ICCD 2014: 10,000 cycles");
  schema.field("age_cap", &BlissParams::age_cap)
      .doc(
          "For so long others go before the oldest access of a bank, be it for their row or its requester, "
          "counted from the first that did. 0: never.");
}

DramPick Bliss::pick(DramQueue::Slot oldest, std::int64_t row, Clock now) {
  constexpr std::uint16_t kBehind = 1;
  if (!cap_.may_pass(queue_.at(oldest), now)) return {oldest};
  DramPick best;
  bool best_hits = false;
  for (DramQueue::Slot slot = oldest; slot != DramQueue::kNone; slot = queue_.at(slot).next) {
    const DramBurst& burst = queue_.at(slot).burst;
    const bool hits = burst.row == row;
    const std::uint16_t priority = blacklisted(burst.requester) ? kBehind : std::uint16_t{0};
    if (priority == 0 && hits) return {slot};
    const bool better = priority != best.priority ? priority < best.priority : hits && !best_hits;
    if (best.slot != DramQueue::kNone && !better) continue;
    best = {slot, priority};
    best_hits = hits;
  }
  return best;
}

std::uint32_t Bliss::served(DramQueue::Slot slot, Clock now) {
  cap_.served(slot, now);
  const DramBurst& burst = queue_.at(slot).burst;
  if (!burst.first || burst.requester == NodeId()) return kNoBank;
  if (burst.requester != std::exchange(last_, burst.requester)) streak_ = 0;
  if (++streak_ < threshold_) return kNoBank;
  streak_ = 0;
  if (blacklisted(last_)) return kNoBank;
  if (last_.index() >= blacklist_.size()) blacklist_.resize(last_.index() + std::size_t{1});
  blacklist_[last_.index()] = true;
  if (due() == kNeverClock) set_due((now / interval_ + 1) * interval_);
  return kEveryBank;
}

std::uint32_t Bliss::wake(Clock /*now*/) {
  std::fill(blacklist_.begin(), blacklist_.end(), false);
  set_due(kNeverClock);
  return kEveryBank;
}

}  // namespace cxloom
