#include "memory/dram/refresh/refresher.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "memory/media/registry.hpp"

namespace cxloom {

DramRefresher::DramRefresher(const DramConfig& config, std::unique_ptr<DramRefreshPolicy> policy,
                             DramRefreshSteps steps, const DramTimers& timers, const DramCommandBus& bus,
                             DramRanks& ranks, DramCounters& counters)
    : policy_(std::move(policy)),
      scope_(policy_->scope()),
      interval_(policy_->interval()),
      duration_(config.device.refresh_clocks(scope_)),
      postpone_(config.refresh_postpone),
      wake_(config.device.timing.tXP),
      shortest_power_down_(config.device.timing.tPD),
      steps_(steps),
      timers_(timers),
      bus_(bus),
      ranks_(ranks),
      counters_(counters),
      of_rank_(ranks.count()),
      blocked_(std::size_t{ranks.count()} * config.device.organisation.banks_in_rank()) {
  if (interval_ == kNeverClock) return;
  const std::uint32_t banks = config.device.organisation.banks_in_rank();
  const std::uint32_t sets = config.device.refresh_sets(scope_);
  for (std::uint32_t rank = 0; rank < of_rank_.size(); ++rank) {
    RankRefreshes& refreshes = of_rank_[rank];
    // Ranks take turns, so that they are not all busy at once.
    refreshes.due = interval_ + interval_ * rank / static_cast<Clock>(of_rank_.size());
    refreshes.sets.resize(sets, {rank, {}});
    for (std::uint32_t i = 0; i < banks; ++i) refreshes.sets[i % sets].banks.push_back(rank * banks + i);
    refreshes.round.resize(sets);
    std::iota(refreshes.round.begin(), refreshes.round.end(), 0U);
  }
  update_due();
}

void DramRefresher::update_due() {
  due_ = kNeverClock;
  for (const RankRefreshes& refreshes : of_rank_) due_ = std::min(due_, refreshes.due);
}

void DramRefresher::fall_due(std::uint32_t rank) {
  ++of_rank_[rank].owed;
  of_rank_[rank].due += interval_;
  update_due();
}

void DramRefresher::start(std::uint32_t rank, Clock now) {
  ranks_.wake(rank, now);
  ranks_.idle_from(rank, kNeverClock);
  of_rank_[rank].set = next_set(rank);
  of_rank_[rank].draining = true;
  ++draining_;
  for (const std::uint32_t bank : set(rank).banks) blocked_[bank] = 1;
}

// The set that the policy takes. It goes behind the sets that the round has had.
std::uint32_t DramRefresher::next_set(std::uint32_t rank) {
  RankRefreshes& refreshes = of_rank_[rank];
  if (refreshes.round.size() == 1) return 0;
  const std::span<const std::uint32_t> left = std::span(refreshes.round).subspan(refreshes.had);
  const std::uint32_t set = policy_->next_set(rank, left);
  const auto chosen = std::ranges::lower_bound(left, set);
  if (chosen == left.end() || *chosen != set) {
    throw InternalError("the refresh policy chose set " + std::to_string(set) + " of rank " +
                        std::to_string(rank) + ", which is none of the " + std::to_string(left.size()) +
                        " that are left in this round");
  }
  const auto first = refreshes.round.begin() + static_cast<std::ptrdiff_t>(refreshes.had);
  const auto at = first + (chosen - left.begin());
  std::rotate(first, at, at + 1);
  return set;
}

// So many more sets are refreshed; in the next round all are left again.
void DramRefresher::advance(RankRefreshes& refreshes, std::size_t sets) {
  refreshes.had += sets;
  if (refreshes.had < refreshes.round.size()) return;
  refreshes.had %= refreshes.round.size();
  std::iota(refreshes.round.begin(), refreshes.round.end(), 0U);
}

void DramRefresher::send_next(std::uint32_t rank, bool writing, Clock now) {
  ranks_.account_open(rank, now);
  if (!steps_.send_next(scope_, set(rank), writing, now)) return;
  ++counters_.refreshes;
  for (const std::uint32_t bank : set(rank).banks) blocked_[bank] = 0;
  RankRefreshes& refreshes = of_rank_[rank];
  refreshes.draining = false;
  --refreshes.owed;
  advance(refreshes, 1);
  --draining_;
  if (ranks_.waiting(rank) == 0) ranks_.idle_from(rank, now + duration_);
}

// Refreshes in idle time follow each other at equal intervals, once there has been one that nothing delayed.
void DramRefresher::skip_idle(Clock limit) {
  if (interval_ == kNeverClock || bus_.watched()) return;  // a watcher wants to see every refresh
  for (std::uint32_t rank = 0; rank < of_rank_.size(); ++rank) {
    if (!steady(rank)) return;
  }
  for (std::uint32_t rank = 0; rank < of_rank_.size(); ++rank) {
    RankRefreshes& refreshes = of_rank_[rank];
    // The last is done in full, for the state that it leaves.
    const Clock count = (limit - refreshes.due) / interval_ - 1;
    if (count <= 0) continue;
    const Clock awake = ranks_.idle_from(rank) - (refreshes.due - interval_);
    refreshes.due += count * interval_;
    advance(refreshes, static_cast<std::size_t>(count));
    ranks_.idle_from(rank, ranks_.idle_from(rank) + count * interval_);
    counters_.refreshes += static_cast<std::uint64_t>(count);
    if (!ranks_.power_down()) continue;
    const Clock asleep = interval_ - awake - *ranks_.power_down();
    if (asleep > 0) counters_.asleep_closed += count * asleep;
  }
  update_due();
}

// The last refresh of an idle rank went out when it was due, all is as it was before it, and so it will be
// with the next.
bool DramRefresher::steady(std::uint32_t rank) const {
  const RankRefreshes& refreshes = of_rank_[rank];
  if (refreshes.draining || refreshes.owed != 0 || timers_.open_banks(rank) != 0) return false;
  if (timers_.refresh_all_at(rank) > refreshes.due) return false;
  const Clock awake = ranks_.idle_from(rank) - (refreshes.due - interval_);
  if (!ranks_.power_down()) return awake == duration_;
  const Clock asleep = interval_ - awake - *ranks_.power_down();  // before the next
  return asleep <= 0 ? awake == duration_ : awake == wake_ + duration_ && asleep >= shortest_power_down_;
}

}  // namespace cxloom
