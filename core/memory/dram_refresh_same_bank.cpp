#include "memory/dram_refresh_same_bank.hpp"

#include <algorithm>

namespace cxloom {

std::uint32_t DramRefreshSameBank::sets() const {
  // Banks are numbered group by group, so that a bank of every group is each banks-th.
  const DramOrganisation& organisation = device_.organisation;
  return device_.refresh_set == RefreshSet::kBankOfEveryGroup ? organisation.banks
                                                              : organisation.banks_in_rank();
}

Clock DramRefreshSameBank::next_at(const DramRefreshSet& set, bool writing) const {
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

bool DramRefreshSameBank::send_next(const DramRefreshSet& set, bool writing, Clock now) {
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
    bus_.send(DramCommand::kRefreshSame, set.banks.front(), now);
    return true;
  }
  unused_.forget(first);
  timers_.precharge(first, now);
  bus_.send(DramCommand::kPrecharge, first, now);
  return false;
}

}  // namespace cxloom
