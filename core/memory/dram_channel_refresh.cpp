// The part of DramChannel that refreshes: closes the banks of a refresh that is due, and sends it.
#include <algorithm>

#include "memory/dram_channel.hpp"

namespace cxloom {

void DramChannel::refresh_falls_due(std::uint32_t rank, Clock now) {
  DramRefresh& refresh = refresh_[rank];
  refresh.fall_due();
  if (!refresh.draining() && refresh.wanted(ranks_[rank].pending != 0)) start_drain(rank, now);
}

void DramChannel::start_drain(std::uint32_t rank, Clock now) {
  power_up(rank, now);
  ranks_[rank].idle_from = kNeverClock;
  refresh_[rank].drain();
  ++drains_;
  for (const std::uint32_t bank : refresh_[rank].banks()) blocked_[bank] = 1;
  reconsider_set(rank);
}

// The banks of a refresh.
void DramChannel::reconsider_set(std::uint32_t rank) {
  chosen_ = false;
  if (ranks_[rank].pending == 0) return;  // nobody wants anything of them
  for (const std::uint32_t bank : refresh_[rank].banks()) {
    if (load_[bank] != 0) reconsider(bank);
  }
}

DramChannel::Choice DramChannel::refresh_choice(std::uint32_t rank) const {
  const DramRefresh& refresh = refresh_[rank];
  Clock at = kNeverClock;
  if (refresh.all_banks()) {
    for (const std::uint32_t bank : opened_[writing_]) {
      if (timers_.bank(bank).rank == rank) return {};  // the row is used first
    }
    at = timers_.open_banks(rank) != 0 ? timers_.precharge_all_at(rank) : timers_.refresh_all_at(rank);
  } else {
    bool open = false;
    for (const std::uint32_t bank : refresh.banks()) {
      const DramTimers::Bank& state = timers_.bank(bank);
      if (state.row == DramTimers::kClosed) continue;
      open = true;
      if (unused_[bank] != opener(writing_))  // otherwise the row is used first
        at = std::min(at, std::max(timers_.precharge_at(state), timers_.rank_precharge_at(rank)));
    }
    if (!open) at = timers_.refresh_at(rank, refresh.banks());
    if (at == kNeverClock) return {};
  }
  return {std::max({at, floor_, bus_free(false)}), Step::kRefresh, false, rank, dram_rank(0, Step::kRefresh)};
}

void DramChannel::issue_refresh(std::uint32_t rank, Clock now) {
  account_open(rank, now);
  if (refresh_[rank].all_banks() ? precharge_all(rank, now) : precharge_one(rank, now)) {
    reconsider_set(rank);
    return;
  }
  DramRefresh& refresh = refresh_[rank];
  const bool all = refresh.all_banks();
  if (all) {
    timers_.refresh_all(rank, now);
  } else {
    timers_.refresh_same(rank, refresh.banks(), now);
  }
  const DramCommand command = all ? DramCommand::kRefreshAll : DramCommand::kRefreshSame;
  hold_bus(command, now);
  tell(command, rank, refresh.set(), now);
  ++counters_.refreshes;
  for (const std::uint32_t bank : refresh.banks()) blocked_[bank] = 0;
  reconsider_set(rank);
  refresh.issued();
  --drains_;
  if (ranks_[rank].pending == 0) ranks_[rank].idle_from = now + (all ? timing_.tRFC : timing_.tRFC_SB);
  if (refresh.wanted(ranks_[rank].pending != 0)) start_drain(rank, now);
}

// Closes all banks of a rank for its refresh, if any is open.
bool DramChannel::precharge_all(std::uint32_t rank, Clock now) {
  if (timers_.open_banks(rank) == 0) return false;
  for (const std::uint32_t bank : refresh_[rank].banks()) forget_opener(bank);
  timers_.precharge_all(rank, now);
  hold_bus(DramCommand::kPrechargeAll, now);
  tell(DramCommand::kPrechargeAll, rank, 0, now);
  return true;
}

// Closes the first bank that may be closed of those that a same-bank refresh takes, if any is open.
bool DramChannel::precharge_one(std::uint32_t rank, Clock now) {
  std::uint32_t first = DramQueue::kNone;
  for (const std::uint32_t bank : refresh_[rank].banks()) {
    const DramTimers::Bank& state = timers_.bank(bank);
    if (state.row == DramTimers::kClosed || unused_[bank] == opener(writing_)) continue;
    if (first == DramQueue::kNone ||
        timers_.precharge_at(state) < timers_.precharge_at(timers_.bank(first))) {
      first = bank;
    }
  }
  if (first == DramQueue::kNone) return false;
  forget_opener(first);
  timers_.precharge(first, now);
  hold_bus(DramCommand::kPrecharge, now);
  tell(DramCommand::kPrecharge, rank, first - rank * banks_in_rank_, now);
  return true;
}

}  // namespace cxloom
