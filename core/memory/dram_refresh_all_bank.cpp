#include "memory/dram_refresh_all_bank.hpp"

namespace cxloom {

Clock DramRefreshAllBank::next_at(const DramRefreshSet& set, bool writing) const {
  for (const std::uint32_t bank : unused_.banks(writing)) {
    if (timers_.bank(bank).rank == set.rank) return kNeverClock;
  }
  return timers_.open_banks(set.rank) != 0 ? timers_.precharge_all_at(set.rank)
                                           : timers_.refresh_all_at(set.rank);
}

bool DramRefreshAllBank::send_next(const DramRefreshSet& set, bool /*writing*/, Clock now) {
  if (timers_.open_banks(set.rank) == 0) {
    timers_.refresh_all(set.rank, now);
    bus_.send(DramCommand::kRefreshAll, set.banks.front(), now);
    return true;
  }
  for (const std::uint32_t bank : set.banks) unused_.forget(bank);
  timers_.precharge_all(set.rank, now);
  bus_.send(DramCommand::kPrechargeAll, set.banks.front(), now);
  return false;
}

}  // namespace cxloom
