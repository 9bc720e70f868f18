#include "memory/dram_refresher.hpp"

#include <algorithm>

namespace cxloom {

DramRefresher::DramRefresher(const DramRefreshContext& context, DramRanks& ranks, DramCounters& counters)
    : policy_(make_refresh_policy(context)),
      postpone_(context.config.refresh_postpone),
      wake_(context.config.device.timing.tXP),
      shortest_power_down_(context.config.device.timing.tPD),
      timers_(context.timers),
      bus_(context.bus),
      ranks_(ranks),
      counters_(counters),
      turns_(ranks.count()),
      blocked_(std::size_t{ranks.count()} * context.config.device.organisation.banks_in_rank()) {
  if (!policy_) return;
  const std::uint32_t banks = context.config.device.organisation.banks_in_rank();
  for (std::uint32_t rank = 0; rank < turns_.size(); ++rank) {
    Turn& turn = turns_[rank];
    // Ranks take turns, so that they are not all busy at once.
    turn.due = policy_->interval() + policy_->interval() * rank / static_cast<Clock>(turns_.size());
    turn.sets.resize(policy_->sets(), {rank, {}});
    for (std::uint32_t i = 0; i < banks; ++i)
      turn.sets[i % turn.sets.size()].banks.push_back(rank * banks + i);
  }
  update_due();
}

void DramRefresher::update_due() {
  due_ = kNeverClock;
  for (const Turn& turn : turns_) due_ = std::min(due_, turn.due);
}

void DramRefresher::fall_due(std::uint32_t rank) {
  ++turns_[rank].owed;
  turns_[rank].due += policy_->interval();
  update_due();
}

void DramRefresher::start(std::uint32_t rank, Clock now) {
  ranks_.wake(rank, now);
  ranks_.idle_from(rank, kNeverClock);
  turns_[rank].draining = true;
  ++draining_;
  for (const std::uint32_t bank : set(rank).banks) blocked_[bank] = 1;
}

void DramRefresher::send_next(std::uint32_t rank, bool writing, Clock now) {
  ranks_.account_open(rank, now);
  if (!policy_->send_next(set(rank), writing, now)) return;
  ++counters_.refreshes;
  for (const std::uint32_t bank : set(rank).banks) blocked_[bank] = 0;
  Turn& turn = turns_[rank];
  turn.draining = false;
  --turn.owed;
  turn.set = (turn.set + 1) % static_cast<std::uint32_t>(turn.sets.size());
  --draining_;
  if (ranks_.waiting(rank) == 0) ranks_.idle_from(rank, now + policy_->duration());
}

// Refreshes in idle time follow each other at equal intervals, once there has been one that nothing delayed.
void DramRefresher::skip_idle(Clock limit) {
  if (!policy_ || bus_.watched()) return;  // who reads along wants to see every refresh
  const Clock interval = policy_->interval();
  for (std::uint32_t rank = 0; rank < turns_.size(); ++rank) {
    if (!steady(rank)) return;
  }
  for (std::uint32_t rank = 0; rank < turns_.size(); ++rank) {
    Turn& turn = turns_[rank];
    // The last is done in full, for the state that it leaves.
    const Clock count = (limit - turn.due) / interval - 1;
    if (count <= 0) continue;
    const Clock awake = ranks_.idle_from(rank) - (turn.due - interval);
    turn.due += count * interval;
    turn.set = static_cast<std::uint32_t>((turn.set + count) % static_cast<Clock>(turn.sets.size()));
    ranks_.idle_from(rank, ranks_.idle_from(rank) + count * interval);
    counters_.refreshes += static_cast<std::uint64_t>(count);
    if (!ranks_.power_down()) continue;
    const Clock asleep = interval - awake - *ranks_.power_down();
    if (asleep > 0) counters_.asleep_closed += count * asleep;
  }
  update_due();
}

// The last refresh of an idle rank went out when it was due, all is as it was before it, and so it will be with the next.
bool DramRefresher::steady(std::uint32_t rank) const {
  const Turn& turn = turns_[rank];
  if (turn.draining || turn.owed != 0 || timers_.open_banks(rank) != 0) return false;
  if (timers_.refresh_all_at(rank) > turn.due) return false;
  const Clock interval = policy_->interval();
  const Clock refreshing = policy_->duration();
  const Clock awake = ranks_.idle_from(rank) - (turn.due - interval);
  if (!ranks_.power_down()) return awake == refreshing;
  const Clock asleep = interval - awake - *ranks_.power_down();  // before the next
  return asleep <= 0 ? awake == refreshing : awake == wake_ + refreshing && asleep >= shortest_power_down_;
}

}  // namespace cxloom
