#include "memory/dram/controller/idle_rows.hpp"

#include <algorithm>

namespace cxloom {

DramChoice DramIdleRows::next(Clock now) const {
  constexpr std::uint16_t kLast = 0xffff;  // of all priorities
  DramChoice best;
  for (std::uint32_t bank = 0; bank < banks_; ++bank) {
    const DramTimers::Bank& state = timers_.bank(bank);
    if (state.row == DramTimers::kClosed || refresher_.blocks(bank)) continue;
    if (queue_.oldest(bank, false) != DramQueue::kNone || queue_.oldest(bank, true) != DramQueue::kNone)
      continue;
    const Clock at = std::max({policy_.close_at(bank), timers_.precharge_at(state),
                               timers_.rank_precharge_at(state.rank), now, bus_.free(false)});
    if (ranks_.asleep_by(state.rank, at)) continue;
    const DramRank rank = dram_rank(dram_key(kLast, bank), DramStep::kTimeout);
    const DramChoice choice{at, DramStep::kTimeout, false, bank, rank};
    if (choice.before(best)) best = choice;
  }
  return best;
}

void DramIdleRows::close(std::uint32_t bank, Clock now) {
  const std::uint32_t rank = timers_.bank(bank).rank;
  ranks_.account_open(rank, now);
  timers_.precharge(bank, now);
  bus_.send(DramCommand::kPrecharge, bank, now);
  ranks_.delay_idle(rank, now + precharge_);
}

}  // namespace cxloom
