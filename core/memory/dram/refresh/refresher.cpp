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
      counts_(config.management.on() ? std::make_unique<DramActivateCounts>(config, scope_) : nullptr),
      management_(config.management),
      banks_in_rank_(config.device.organisation.banks_in_rank()),
      set_count_(config.device.refresh_sets(scope_)),
      blocked_(std::size_t{ranks.count()} * banks_in_rank_) {
  if (interval_ == kNeverClock && !manages()) return;
  for (std::uint32_t rank = 0; rank < of_rank_.size(); ++rank) {
    RankRefreshes& refreshes = of_rank_[rank];
    const std::uint32_t first = rank * banks_in_rank_;
    // Ranks take turns, so that they are not all busy at once.
    if (interval_ != kNeverClock)
      refreshes.due = interval_ + interval_ * rank / static_cast<Clock>(of_rank_.size());
    refreshes.sets.resize(set_count_, {rank, {}});
    for (std::uint32_t i = 0; i < banks_in_rank_; ++i)
      refreshes.sets[i % set_count_].banks.push_back(first + i);
    refreshes.round.resize(set_count_);
    std::iota(refreshes.round.begin(), refreshes.round.end(), 0U);
    if (!manages() || set_count_ == 1) continue;
    refreshes.sets.push_back({rank, std::vector<std::uint32_t>(banks_in_rank_)});
    std::iota(refreshes.sets.back().banks.begin(), refreshes.sets.back().banks.end(), first);
  }
  update_due();
}

void DramRefresher::update_due() {
  due_ = kNeverClock;
  for (const RankRefreshes& refreshes : of_rank_)
    due_ = std::min(due_, std::min(refreshes.due, refreshes.managed.due));
}

void DramRefresher::fall_due(std::uint32_t rank) {
  RankRefreshes& refreshes = of_rank_[rank];
  const Clock now = due(rank);
  if (refreshes.due == now) {
    ++refreshes.owed;
    refreshes.due += interval_;
  }
  Managed& managed = refreshes.managed;
  if (managed.due == now) {
    managed.due = kNeverClock;
    managed.left = managed.commands;
    refreshes.owed += managed.commands;
  }
  update_due();
}

void DramRefresher::start(std::uint32_t rank, Clock now) {
  ranks_.wake(rank, now);
  ranks_.idle_from(rank, kNeverClock);
  RankRefreshes& refreshes = of_rank_[rank];
  refreshes.managed.under_way = refreshes.managed.left != 0;
  refreshes.set = refreshes.managed.under_way ? refreshes.managed.set : next_set(rank);
  refreshes.draining = true;
  ++draining_;
  for (const std::uint32_t bank : set(rank).banks) blocked_[bank] = kClosing;
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
  if (counts_) [[unlikely]] {
    const std::size_t more = sets % refreshes.round.size();
    for (std::size_t i = 0; i < refreshes.round.size(); ++i) {
      const std::size_t place = (refreshes.had + i) % refreshes.round.size();
      counts_->refreshed(refreshes.sets[refreshes.round[place]].banks,
                         sets / refreshes.round.size() + (i < more));
    }
  }
  refreshes.had += sets;
  if (refreshes.had < refreshes.round.size()) return;
  refreshes.had %= refreshes.round.size();
  std::iota(refreshes.round.begin(), refreshes.round.end(), 0U);
}

void DramRefresher::send_next(std::uint32_t rank, bool writing, Clock now) {
  ranks_.account_open(rank, now);
  RankRefreshes& refreshes = of_rank_[rank];
  const bool managed = refreshes.managed.under_way;
  const DramRefreshForm form = managed ? refreshes.managed.form : DramRefreshForm{scope_, duration_, false};
  if (!steps_.send_next(form, set(rank), writing, now)) return;
  refreshes.draining = false;
  --refreshes.owed;
  --draining_;
  if (managed) [[unlikely]] {
    sent_management(rank);
  } else {
    ++counters_.refreshes;
    advance(refreshes, 1);
  }
  for (const std::uint32_t bank : set(rank).banks) blocked_[bank] = 0;
  if (counts_) [[unlikely]] {
    for (const std::uint32_t bank : set(rank).banks) {
      if (counts_->over(bank)) blocked_[bank] = kOver;
    }
  }
  if (ranks_.waiting(rank) == 0) ranks_.idle_from(rank, now + form.duration);
}

// --- management ------------------------------------------------------------------------------------------

void DramRefresher::opened(std::uint32_t bank, std::uint32_t row, Clock now) {
  const DramActivateCounts::Need need = counts_->opened(bank, row);
  if (need.management) blocked_[bank] |= kOver;
  RankRefreshes& refreshes = of_rank_[bank / banks_in_rank_];
  Managed& managed = refreshes.managed;
  if (managed.due != kNeverClock || managed.left != 0) return;
  if (need.alert) {
    ++counters_.alerts;
    managed.commands = management_.alert_commands;
    managed.set = static_cast<std::uint32_t>(refreshes.sets.size()) - 1;
    managed.form = {DramRefreshScope::kRank, management_.alert_clocks, true};
    managed.due = now + management_.alert_window;
  } else if (need.management) {
    manage_bank(bank, now);
  } else {
    return;
  }
  update_due();
}

// As a refresh would: a rank, or the set of the bank.
void DramRefresher::manage_bank(std::uint32_t bank, Clock at) {
  Managed& managed = of_rank_[bank / banks_in_rank_].managed;
  managed.commands = 1;
  managed.set = bank % banks_in_rank_ % set_count_;
  managed.form = {scope_, duration_, true};
  managed.due = at;
}

// Banks that others kept waiting have theirs at once.
void DramRefresher::sent_management(std::uint32_t rank) {
  RankRefreshes& refreshes = of_rank_[rank];
  Managed& managed = refreshes.managed;
  ++counters_.managements;
  if (managed.form.scope == DramRefreshScope::kSet) {
    ++counters_.managed_sets;
  } else {
    counters_.managed_ranks += managed.form.duration;
  }
  counts_->managed(set(rank).banks);
  managed.under_way = false;
  if (--managed.left != 0) return;
  for (std::uint32_t i = 0; i < banks_in_rank_; ++i) {
    const std::uint32_t bank = rank * banks_in_rank_ + i;
    if (!counts_->over(bank)) continue;
    manage_bank(bank, kNeverClock);
    managed.left = managed.commands;
    refreshes.owed += managed.commands;
    return;
  }
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
  if (refreshes.managed.due != kNeverClock) return false;
  if (timers_.refresh_all_at(rank) > refreshes.due) return false;
  const Clock awake = ranks_.idle_from(rank) - (refreshes.due - interval_);
  if (!ranks_.power_down()) return awake == duration_;
  const Clock asleep = interval_ - awake - *ranks_.power_down();  // before the next
  return asleep <= 0 ? awake == duration_ : awake == wake_ + duration_ && asleep >= shortest_power_down_;
}

}  // namespace cxloom
