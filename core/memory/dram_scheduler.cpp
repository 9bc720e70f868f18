// The half of DramChannel that chooses commands and sends them.
#include <algorithm>

#include "memory/dram_channel.hpp"

namespace cxloom {

// --- choice ----------------------------------------------------------------------------------------------------------

DramChannel::Candidate DramChannel::candidate_of(std::uint32_t bank, bool write) const {
  const DramQueue::Slot oldest = queue_.oldest(bank, write);
  if (oldest == DramQueue::kNone) return {};
  const auto with = [&](Step step, DramQueue::Slot slot) {
    return Candidate{step, slot, queue_.at(slot).order};
  };
  const std::int64_t row = timers_.bank(bank).row;
  if (row == DramTimers::kClosed) return blocked_[bank] != 0 ? Candidate{} : with(Step::kActivate, oldest);
  const DramQueue::Slot hit = queue_.oldest_to(bank, write, row);
  if (unused_[bank] == opener(write)) return with(Step::kColumn, hit);  // that is what it was opened for
  if (blocked_[bank] != 0) return {};
  if (hit != DramQueue::kNone && (hit == oldest || floor_ - queue_.at(oldest).arrival <= config_.age_cap)) {
    return with(Step::kColumn, hit);
  }
  return with(Step::kPrecharge, oldest);
}

DramReadyList& DramChannel::ready(std::uint32_t bank, bool write, Step step) {
  Ready& ready = ready_[write][timers_.bank(bank).rank];
  return step == Step::kActivate ? ready.activate : step == Step::kColumn ? ready.column : ready.precharge;
}

void DramChannel::reconsider(std::uint32_t bank) {
  reconsider(bank, false);
  reconsider(bank, true);
  chosen_ = false;
}

void DramChannel::reconsider(std::uint32_t bank, bool write) {
  Candidate& candidate = candidates_[write][bank];
  if (candidate.step == Step::kNothing && queue_.oldest(bank, write) == DramQueue::kNone) return;
  const Candidate next = candidate_of(bank, write);
  if (next.step == candidate.step && next.order == candidate.order) return;
  if (candidate.step != Step::kNothing) ready(bank, write, candidate.step).remove(candidate.order);
  if (next.step != Step::kNothing)
    ready(bank, write, next.step).add({next.order, bank, queue_.at(next.slot).burst.rmw});
  candidate = next;
}

DramChannel::Choice DramChannel::choice_of(std::uint32_t bank, bool write) const {
  const Candidate& candidate = candidates_[write][bank];
  if (candidate.step == Step::kNothing) return {};
  const DramTimers::Bank& state = timers_.bank(bank);
  Clock at = std::max(bus_free(candidate.step == Step::kColumn), floor_);
  if (candidate.step == Step::kColumn) {
    const bool rmw = queue_.at(candidate.slot).burst.rmw;
    at = std::max({at, timers_.column_at(state, write, rmw), timers_.rank_column_at(state.rank, write)});
  } else if (candidate.step == Step::kActivate) {
    at = std::max({at, timers_.activate_at(state), timers_.rank_activate_at(state.rank)});
  } else {
    at = std::max({at, timers_.precharge_at(state), timers_.rank_precharge_at(state.rank)});
  }
  return {at, candidate.step, write, bank, candidate.order};
}

// The first of each rank and kind of command, in one direction.
template <class Take>
void DramChannel::for_each_first(bool write, Take take) const {
  const Clock row_bus = std::max(floor_, bus_free(false));
  const Clock column_bus = std::max(floor_, bus_free(true));
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    const Ready& ready = ready_[write][rank];
    const auto found = [&](const DramReadyList::Found& first, Step step) {
      if (first.at != kNeverClock) take(Choice{first.at, step, write, first.entry.bank, first.entry.order});
    };
    if (!ready.activate.empty()) {
      found(ready.activate.first(
                std::max(row_bus, timers_.rank_activate_at(rank)),
                [&](const auto& entry) { return timers_.activate_at(timers_.bank(entry.bank)); }),
            Step::kActivate);
    }
    if (!ready.column.empty()) {
      found(ready.column.first(std::max(column_bus, timers_.rank_column_at(rank, write)),
                               [&](const auto& entry) {
                                 return timers_.column_at(timers_.bank(entry.bank), write, entry.rmw);
                               }),
            Step::kColumn);
    }
    if (!ready.precharge.empty()) {
      found(ready.precharge.first(
                std::max(row_bus, timers_.rank_precharge_at(rank)),
                [&](const auto& entry) { return timers_.precharge_at(timers_.bank(entry.bank)); }),
            Step::kPrecharge);
    }
  }
}

// No read command goes out before this clock, unless something new arrives.
Clock DramChannel::read_command_bound() const {
  if (drains_ != 0) return floor_;
  if (writing_) {  // all writes above the low mark go first, except where a row was opened for a read
    const std::uint32_t writes = queue_.count(true);
    Clock bound = floor_ + (writes > config_.write_low ? writes - config_.write_low - 1 : 0) * timing_.tCCD_S;
    for (const std::uint32_t bank : opened_[0]) bound = std::min(bound, choice_of(bank, false).at);
    return bound;
  }
  Clock bound = kNeverClock;
  for_each_first(false, [&](const Choice& choice) {
    const Clock rest = choice.step == Step::kColumn     ? 0
                       : choice.step == Step::kActivate ? timing_.tRCD
                                                        : timing_.tRP + timing_.tRCD;
    bound = std::min(bound, choice.at + rest);
  });
  return bound;
}

DramChannel::Choice DramChannel::refresh_choice(std::uint32_t rank) const {
  const DramRefresh& refresh = refresh_[rank];
  Clock at = kNeverClock;
  bool open = false;
  for (const std::uint32_t bank : refresh.banks()) {
    const DramTimers::Bank& state = timers_.bank(bank);
    if (state.row == DramTimers::kClosed) continue;
    open = true;
    if (unused_[bank] == opener(writing_)) {  // the row is used first
      if (refresh.all_banks()) return {};
      continue;
    }
    if (!refresh.all_banks())
      at = std::min(at, std::max(timers_.precharge_at(state), timers_.rank_precharge_at(rank)));
  }
  if (open && refresh.all_banks()) at = timers_.precharge_all_at(rank);
  if (!open) at = timers_.refresh_at(rank, refresh.banks());
  if (at == kNeverClock) return {};
  return {std::max({at, floor_, bus_free(false)}), Step::kRefresh, false, rank, 0};
}

DramChannel::Choice DramChannel::timeout_choice() const {
  Choice best;
  for (std::uint32_t bank = 0; bank < blocked_.size(); ++bank) {
    const DramTimers::Bank& state = timers_.bank(bank);
    if (state.row == DramTimers::kClosed || blocked_[bank] != 0) continue;
    if (queue_.oldest(bank, false) != DramQueue::kNone || queue_.oldest(bank, true) != DramQueue::kNone)
      continue;
    const Clock at = std::max({rows_.close_at(bank), timers_.precharge_at(state),
                               timers_.rank_precharge_at(state.rank), floor_, bus_free(false)});
    const Clock idle = ranks_[state.rank].idle_from;
    if (config_.power_down && idle != kNeverClock && at >= idle + *config_.power_down)
      continue;  // asleep by then
    const Choice choice{at, Step::kTimeout, false, bank, bank};
    if (choice.before(best)) best = choice;
  }
  return best;
}

const DramChannel::Choice& DramChannel::choose() {
  if (chosen_) return choice_;
  choice_ = {};
  for_each_first(writing_, [&](const Choice& choice) {
    if (choice.before(choice_)) choice_ = choice;
  });
  for (const std::uint32_t bank : opened_[!writing_]) {
    const Choice choice = choice_of(bank, !writing_);
    if (choice.before(choice_)) choice_ = choice;
  }
  if (drains_ != 0) {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      if (!refresh_[rank].draining()) continue;
      const Choice choice = refresh_choice(rank);
      if (choice.before(choice_)) choice_ = choice;
    }
  }
  if (rows_.times_out()) {
    const Choice choice = timeout_choice();
    if (choice.before(choice_)) choice_ = choice;
  }
  chosen_ = true;
  return choice_;
}

// --- effects ---------------------------------------------------------------------------------------------------------

void DramChannel::hold_bus(DramCommand command, Clock now) {
  const bool column = command >= DramCommand::kRead && command <= DramCommand::kWritePrecharge;
  const bool two = config_.device.two_cycle_commands && (column || command == DramCommand::kActivate);
  bus_[column && split_bus_] = now + (two ? 2 : 1);
}

void DramChannel::tell(DramCommand command, std::uint32_t rank, std::uint32_t bank, Clock now,
                       const DramBurst* burst) {
  if (!log_) return;
  DramCommandRecord record{now, command, false, rank, bank, 0, 0};
  if (burst) {
    record.rmw = burst->rmw;
    record.row = burst->row;
    record.column = burst->column;
  }
  log_->command(index_, record);
}

void DramChannel::issue(const Choice& choice) {
  chosen_ = false;
  const Choice chosen = choice;  // `choice` may be choice_, which changes
  switch (chosen.step) {
    case Step::kColumn:
      issue_column(chosen.target, candidates_[chosen.write][chosen.target], chosen.at);
      break;
    case Step::kActivate:
    case Step::kPrecharge:
      issue_row(chosen.target, candidates_[chosen.write][chosen.target], chosen.at);
      break;
    case Step::kRefresh: issue_refresh(chosen.target, chosen.at); break;
    case Step::kTimeout: close_idle(chosen.target, chosen.at); break;
    case Step::kNothing: break;
  }
}

void DramChannel::forget_opener(std::uint32_t bank) {
  if (unused_[bank] == 0) return;
  std::erase(opened_[unused_[bank] == opener(true)], bank);
  unused_[bank] = 0;
}

void DramChannel::issue_row(std::uint32_t bank, const Candidate& candidate, Clock now) {
  const DramTimers::Bank& state = timers_.bank(bank);
  DramQueue::Entry& entry = queue_.at(candidate.slot);
  if (entry.first == DramQueue::kUntouched) entry.first = now;
  account_open(state.rank, now);
  if (state.row == DramTimers::kClosed) {
    if (entry.outcome == RowOutcome::kHit) entry.outcome = RowOutcome::kMiss;
    ++counters_.activates;
    timers_.activate(bank, entry.burst.row, now);
    rows_.opened(bank, entry.burst.row);
    unused_[bank] = opener(entry.burst.write);
    opened_[entry.burst.write].push_back(bank);
    hold_bus(DramCommand::kActivate, now);
    tell(DramCommand::kActivate, state.rank, bank - state.rank * banks_in_rank_, now, &entry.burst);
  } else {
    entry.outcome = RowOutcome::kConflict;
    forget_opener(bank);
    timers_.precharge(bank, now);
    hold_bus(DramCommand::kPrecharge, now);
    tell(DramCommand::kPrecharge, state.rank, bank - state.rank * banks_in_rank_, now);
  }
  reconsider(bank);
}

void DramChannel::issue_column(std::uint32_t bank, const Candidate& candidate, Clock now) {
  const DramTimers::Bank& state = timers_.bank(bank);
  const std::uint32_t rank = state.rank;
  const DramQueue::Entry entry = queue_.at(candidate.slot);
  const DramBurst& burst = entry.burst;
  queue_.remove(candidate.slot);
  const bool first_use = unused_[bank] != 0;
  forget_opener(bank);
  rows_.used(bank, !first_use, now);
  const bool close = rows_.closes(bank) && queue_.oldest_to(bank, false, burst.row) == DramQueue::kNone &&
                     queue_.oldest_to(bank, true, burst.row) == DramQueue::kNone;
  if (close) account_open(rank, now);
  timers_.column(bank, burst.write, close, now);

  const Clock end = now + (burst.write ? timing_.CWL : timing_.CL) + burst_;
  const Clock first = entry.first == DramQueue::kUntouched ? now : entry.first;
  --load_[bank];
  if (burst.write) {
    ++counters_.writes;
    --filter_[hash(burst)];
    written_.push_back(end);
    if (!config_.posted_writes) finish(end, first, burst.access);
  } else {
    ++counters_.reads;
    counters_.read_queue.change(now, -1);
    finish(end, first, burst.access);
  }
  ++(entry.outcome == RowOutcome::kHit    ? counters_.hits
     : entry.outcome == RowOutcome::kMiss ? counters_.misses
                                          : counters_.conflicts);
  const DramCommand command = burst.write ? (close ? DramCommand::kWritePrecharge : DramCommand::kWrite)
                                          : (close ? DramCommand::kReadPrecharge : DramCommand::kRead);
  hold_bus(command, now);
  tell(command, rank, bank - rank * banks_in_rank_, now, &burst);

  if (--ranks_[rank].pending == 0) {
    // Power-down waits until the data are in the device and an automatic precharge is over.
    ranks_[rank].idle_from = end + timing_.tWR + timing_.tRP;
    if (refresh_[rank].wanted(false) && !refresh_[rank].draining()) start_drain(rank, now);
  }
  reconsider(bank);
  choose_direction();
}

void DramChannel::close_idle(std::uint32_t bank, Clock now) {
  const std::uint32_t rank = timers_.bank(bank).rank;
  account_open(rank, now);
  timers_.precharge(bank, now);
  hold_bus(DramCommand::kPrecharge, now);
  tell(DramCommand::kPrecharge, rank, bank - rank * banks_in_rank_, now);
  RankState& state = ranks_[rank];
  if (state.idle_from != kNeverClock) state.idle_from = std::max(state.idle_from, now + timing_.tRP);
  reconsider(bank);
}

// --- refresh ---------------------------------------------------------------------------------------------------------

void DramChannel::refresh_falls_due(std::uint32_t rank, Clock now) {
  DramRefresh& refresh = refresh_[rank];
  refresh.fall_due();
  next_due_ = kNeverClock;
  for (const DramRefresh& other : refresh_) next_due_ = std::min(next_due_, other.due());
  if (!refresh.draining() && refresh.wanted(ranks_[rank].pending != 0)) start_drain(rank, now);
}

void DramChannel::start_drain(std::uint32_t rank, Clock now) {
  power_up(rank, now);
  ranks_[rank].idle_from = kNeverClock;
  refresh_[rank].drain();
  ++drains_;
  for (const std::uint32_t bank : refresh_[rank].banks()) {
    blocked_[bank] = 1;
    reconsider(bank);
  }
  chosen_ = false;
}

void DramChannel::issue_refresh(std::uint32_t rank, Clock now) {
  DramRefresh& refresh = refresh_[rank];
  account_open(rank, now);
  const std::uint32_t base = rank * banks_in_rank_;
  std::uint32_t first_open = DramQueue::kNone;
  for (const std::uint32_t bank : refresh.banks()) {
    const DramTimers::Bank& state = timers_.bank(bank);
    if (state.row == DramTimers::kClosed || unused_[bank] == opener(writing_)) continue;
    if (first_open == DramQueue::kNone ||
        timers_.precharge_at(state) < timers_.precharge_at(timers_.bank(first_open))) {
      first_open = bank;
    }
  }
  if (first_open != DramQueue::kNone) {
    const bool all = refresh.all_banks();
    const DramCommand command = all ? DramCommand::kPrechargeAll : DramCommand::kPrecharge;
    if (all) {
      for (const std::uint32_t bank : refresh.banks()) forget_opener(bank);
      timers_.precharge_all(rank, now);
    } else {
      forget_opener(first_open);
      timers_.precharge(first_open, now);
    }
    hold_bus(command, now);
    tell(command, rank, all ? 0 : first_open - base, now);
    for (const std::uint32_t bank : refresh.banks()) reconsider(bank);
    return;
  }
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
  for (const std::uint32_t bank : refresh.banks()) {
    blocked_[bank] = 0;
    reconsider(bank);
  }
  refresh.issued();
  --drains_;
  if (ranks_[rank].pending == 0) ranks_[rank].idle_from = now + (all ? timing_.tRFC : timing_.tRFC_SB);
  if (refresh.wanted(ranks_[rank].pending != 0)) start_drain(rank, now);
}

}  // namespace cxloom
