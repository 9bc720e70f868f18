#include "memory/dram/refresh/steps.hpp"

#include <algorithm>

namespace cxloom {

Clock DramRefreshSteps::rank_at(const DramRefreshSet& set, bool writing) const {
  for (const std::uint32_t bank : unused_.banks(writing)) {
    if (timers_.bank(bank).rank == set.rank) return kNeverClock;
  }
  return timers_.open_banks(set.rank) != 0 ? timers_.precharge_all_at(set.rank)
                                           : timers_.refresh_all_at(set.rank);
}

bool DramRefreshSteps::send_to_rank(const DramRefreshForm& form, const DramRefreshSet& set, Clock now) {
  if (timers_.open_banks(set.rank) == 0) {
    timers_.refresh_all(set.rank, now, form.duration);
    bus_.send(form.managed ? DramCommand::kManageAll : DramCommand::kRefreshAll, set.banks.front(), now);
    return true;
  }
  if (unused_.any()) {
    for (const std::uint32_t bank : set.banks) unused_.forget(bank);
  }
  timers_.precharge_all(set.rank, now);
  bus_.send(DramCommand::kPrechargeAll, set.banks.front(), now);
  return false;
}

Clock DramRefreshSteps::set_at(const DramRefreshSet& set, bool writing) const {
  Clock at = kNeverClock;
  bool open = false;
  for (const std::uint32_t bank : set.banks) {
    const DramTimers::Bank& state = timers_.bank(bank);
    if (state.row == DramTimers::kClosed) continue;
    open = true;
    if (!unused_.holds(bank, writing))
      at = std::min(at, std::max(timers_.precharge_at(state), timers_.rank_precharge_at(set.rank)));
  }
  return open ? at : timers_.refresh_at(set.rank, set.banks);
}

bool DramRefreshSteps::send_to_set(const DramRefreshForm& form, const DramRefreshSet& set, bool writing,
                                   Clock now) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t first = kNone;  // that may be closed
  for (const std::uint32_t bank : set.banks) {
    const DramTimers::Bank& state = timers_.bank(bank);
    if (state.row == DramTimers::kClosed || unused_.holds(bank, writing)) continue;
    if (first == kNone || timers_.precharge_at(state) < timers_.precharge_at(timers_.bank(first)))
      first = bank;
  }
  if (first == kNone) {
    timers_.refresh_same(set.rank, set.banks, now);
    bus_.send(form.managed ? DramCommand::kManageSame : DramCommand::kRefreshSame, set.banks.front(), now);
    return true;
  }
  unused_.forget(first);
  timers_.precharge(first, now);
  bus_.send(DramCommand::kPrecharge, first, now);
  return false;
}

}  // namespace cxloom
