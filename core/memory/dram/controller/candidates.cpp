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
      changed_(std::size_t{organisation.ranks} * organisation.banks_in_rank(), kNeverClock) {
  for (auto& candidates : candidates_)
    candidates.resize(std::size_t{organisation.ranks} * organisation.banks_in_rank());
  for (auto& ready : ready_) ready.resize(organisation.ranks);
}

void DramCandidates::reconsider(std::uint32_t bank, bool write, Clock now) {
  Candidate& candidate = candidates_[write][bank];
  const DramQueue::Slot oldest = queue_.oldest(bank, write);
  DramStep step = DramStep::kNothing;
  DramPick pick;
  if (oldest == DramQueue::kNone) {
    if (candidate.step == DramStep::kNothing) return;
  } else {
    const std::int64_t row = timers_.bank(bank).row;
    if (unused_.holds(bank, write)) {  // first of all: others wait for the bank
      step = DramStep::kColumn;
      pick.slot = queue_.oldest_to(bank, write, row);
    } else if (!refresher_.blocks(bank)) {
      pick.slot = oldest;
      if (!within_banks_ || queue_.at(oldest).next != DramQueue::kNone)
        pick = scheduler_.pick(oldest, row, now);
      if (pick.slot != DramQueue::kNone) step = step_of(queue_.at(pick.slot).burst);
    }
  }
  const DramRank key = step == DramStep::kNothing ? 0 : dram_key(pick.priority, queue_.at(pick.slot).order);
  if (step == candidate.step && key == candidate.key) return;
  Ready& ready = ready_[write][timers_.bank(bank).rank];
  if (candidate.step != DramStep::kNothing) ready.of(candidate.step).remove(candidate.key);
  if (step != DramStep::kNothing) {
    const DramReadyList::ReadyBurst burst{key, bank, queue_.at(pick.slot).burst.rmw};
    // Rows that were just opened are most of what is not ready: the others are not worth the look.
    ready.of(step).add(burst, step == DramStep::kPrecharge ? timers_.precharge_at(timers_.bank(bank)) : 0);
  }
  candidate = {step, pick.slot, key};
}

void DramCandidates::serve(bool write) {
  serves_write_ = write;
  for (const std::uint32_t bank : put_off_)
    reconsider(bank, write, std::exchange(changed_[bank], kNeverClock));
  put_off_.clear();
}

void DramCandidates::ask_again(std::uint32_t bank, Clock now) {
  if (bank != DramScheduler::kEveryBank) return reconsider(bank, now);
  for (std::uint32_t each = 0; each < candidates_[0].size(); ++each) reconsider(each, now);
}

DramChoice DramCandidates::of(std::uint32_t bank, bool write, Clock now) const {
  const Candidate& candidate = candidates_[write][bank];
  if (candidate.step == DramStep::kNothing) return {};
  const Clock at = ready_at(candidate.step, queue_.at(candidate.slot).burst, now);
  return {at, candidate.step, write, bank, dram_rank(candidate.key, candidate.step)};
}

}  // namespace cxloom
