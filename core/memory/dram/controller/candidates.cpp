#include "memory/dram/controller/candidates.hpp"

namespace cxloom {

DramCandidates::DramCandidates(const DramOrganisation& organisation, const DramQueue& queue,
                               const DramTimers& timers, const DramCommandBus& bus,
                               const DramUnusedRows& unused, const DramRefresher& refresher,
                               DramScheduler& scheduler)
    : queue_(queue),
      timers_(timers),
      bus_(bus),
      unused_(unused),
      refresher_(refresher),
      scheduler_(scheduler),
      within_banks_(scheduler.within_banks()),
      ranks_(organisation.ranks),
      ready_{DramReadyLists(organisation.ranks * organisation.banks_in_rank(), organisation.ranks),
             DramReadyLists(organisation.ranks * organisation.banks_in_rank(), organisation.ranks)},
      changed_(std::size_t{organisation.ranks} * organisation.banks_in_rank(), kNeverClock) {}

inline DramCandidates::BankTime DramCandidates::own_time(DramStep step, const DramBurst& burst) const {
  static constexpr Clock kAlways = 0;
  const DramTimers::Bank& bank = timers_.bank(burst.bank);
  if (step == DramStep::kColumn)
    return {bank.column[unsigned{burst.write} + unsigned{burst.rmw}],
            &timers_.group_column_at(bank, burst.write, burst.rmw)};
  if (step == DramStep::kActivate) return {bank.activate, &timers_.group_activate_at(bank)};
  return {bank.precharge, &kAlways};
}

[[gnu::always_inline]] inline void DramCandidates::work_out(std::uint32_t bank, bool write, Clock now) {
  DramReadyLists& ready = ready_[write];
  const DramQueue::Slot oldest = queue_.oldest(bank, write);
  if (oldest == DramQueue::kNone) return ready.remove(bank);
  const DramTimers::Bank& state = timers_.bank(bank);
  DramPick pick;
  if (unused_.holds(bank, write)) {  // first of all: others wait for the bank
    pick.slot = queue_.oldest_to(bank, write, state.row);
  } else if (!refresher_.blocks(bank)) {
    pick.slot = oldest;
    if (!within_banks_ || queue_.at(oldest).next != DramQueue::kNone)
      pick = scheduler_.pick(oldest, state.row, now);
  }
  if (pick.slot == DramQueue::kNone) return ready.remove(bank);
  const DramQueue::Entry& entry = queue_.at(pick.slot);
  const DramStep step = step_of(entry.burst);
  const DramRank rank = dram_rank(dram_key(pick.priority, entry.order), step);
  const BankTime time = own_time(step, entry.burst);
  if (ready.holds(bank, rank, time.own)) return;
  ready.remove(bank);
  ready.add(bank, state.rank, rank, pick.slot, time.own, *time.group);
}

[[gnu::hot]] void DramCandidates::reconsider(std::uint32_t bank, bool write, Clock now) {
  work_out(bank, write, now);
}

[[gnu::hot]] void DramCandidates::reconsider(std::uint32_t bank, Clock now) {
  work_out(bank, serves_write_, now);
  if (!within_banks_ || unused_.holds(bank, !serves_write_)) return reconsider(bank, !serves_write_, now);
  put_off(bank, now);
}

[[gnu::hot]] void DramCandidates::serve(bool write) {
  serves_write_ = write;
  for (const std::uint32_t bank : put_off_)
    reconsider(bank, write, std::exchange(changed_[bank], kNeverClock));
  put_off_.clear();
}

void DramCandidates::ask_again(std::uint32_t bank, Clock now) {
  if (bank != DramScheduler::kEveryBank) return reconsider(bank, now);
  for (std::uint32_t each = 0; each < changed_.size(); ++each) reconsider(each, now);
}

[[gnu::hot]] DramChoice DramCandidates::of(std::uint32_t bank, bool write, Clock now) const {
  const DramReadyLists& ready = ready_[write];
  const DramRank rank = ready.rank(bank);
  if (rank == DramReadyLists::kNone) return {};
  const DramStep step = dram_step(rank);
  const Clock earliest = std::max(now, rank_time(step, timers_.bank(bank).rank, write));
  return {ready.at(bank, earliest), step, write, bank, rank};
}

}  // namespace cxloom
