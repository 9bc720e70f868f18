// The half of DramChannel that chooses commands and sends them.
#include <algorithm>

#include "memory/dram_channel.hpp"

namespace cxloom {

// --- choice ----------------------------------------------------------------------------------------------------------

DramChannel::Candidate DramChannel::candidate_of(std::uint32_t bank, bool write) const {
  const DramQueue::Slot oldest = queue_.oldest(bank, write);
  if (oldest == DramQueue::kNone) return {};
  const auto with = [&](Step step, DramQueue::Slot slot) {
    const DramQueue::Entry& entry = queue_.at(slot);
    return Candidate{step, entry.burst.rmw, slot, entry.order};
  };
  const std::int64_t row = timers_.bank(bank).row;
  if (row == DramTimers::kClosed) return blocked_[bank] != 0 ? Candidate{} : with(Step::kActivate, oldest);
  const DramQueue::Slot hit = queue_.oldest_to(bank, write, row);
  if (unused_[bank] != 0) {  // whoever it was opened for uses it first, whatever else is wanted by now
    return unused_[bank] == opener(write) ? with(Step::kColumn, hit) : Candidate{};
  }
  if (blocked_[bank] != 0) return {};
  if (hit != DramQueue::kNone && (hit == oldest || floor_ - queue_.at(oldest).arrival <= config_.age_cap)) {
    return with(Step::kColumn, hit);
  }
  return with(Step::kPrecharge, oldest);
}

void DramChannel::reconsider(std::uint32_t bank) {
  candidates_[0][bank] = candidate_of(bank, false);
  candidates_[1][bank] = candidate_of(bank, true);
  chosen_ = false;
}

DramChannel::Choice DramChannel::choice_of(std::uint32_t bank, bool write) const {
  const Candidate& candidate = candidates_[write][bank];
  if (candidate.step == Step::kNothing) return {};
  const DramTimers::Bank& state = timers_.bank(bank);
  Clock at = bus_free(candidate.step == Step::kColumn);
  if (candidate.step == Step::kColumn) {
    at = std::max(at, timers_.column_at(state, write, candidate.rmw));
  } else if (candidate.step == Step::kActivate) {
    at = std::max(at, timers_.activate_at(state));
  } else {
    at = std::max(at, timers_.precharge_at(state));
  }
  return {std::max(at, floor_), candidate.step, write, bank, candidate.order};
}

DramChannel::Choice DramChannel::refresh_choice(std::uint32_t rank) const {
  const DramRefresh& refresh = refresh_[rank];
  Clock at = kNeverClock;
  bool open = false;
  for (const std::uint32_t bank : refresh.banks()) {
    const DramTimers::Bank& state = timers_.bank(bank);
    if (state.row == DramTimers::kClosed) continue;
    open = true;
    if (unused_[bank] != 0) {
      if (refresh.all_banks()) return {};  // the row is used first
      continue;
    }
    if (!refresh.all_banks()) at = std::min(at, timers_.precharge_at(state));
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
    const Clock at = std::max({rows_.close_at(bank), timers_.precharge_at(state), floor_, bus_free(false)});
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
  for (const std::uint32_t bank : queue_.busy_banks(writing_)) {
    const Choice choice = choice_of(bank, writing_);
    if (choice.before(choice_)) choice_ = choice;
  }
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
  if (first_use) {
    unused_[bank] = 0;
    std::erase(opened_[burst.write], bank);
  }
  rows_.used(bank, !first_use, now);
  const bool close = rows_.closes(bank) && queue_.oldest_to(bank, false, burst.row) == DramQueue::kNone &&
                     queue_.oldest_to(bank, true, burst.row) == DramQueue::kNone;
  if (close) account_open(rank, now);
  timers_.column(bank, burst.write, close, now);

  const Clock end = now + (burst.write ? timing_.CWL : timing_.CL) + burst_;
  const Clock first = entry.first == DramQueue::kUntouched ? now : entry.first;
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
    if (state.row == DramTimers::kClosed || unused_[bank] != 0) continue;
    if (first_open == DramQueue::kNone ||
        timers_.precharge_at(state) < timers_.precharge_at(timers_.bank(first_open))) {
      first_open = bank;
    }
  }
  if (first_open != DramQueue::kNone) {
    const bool all = refresh.all_banks();
    const DramCommand command = all ? DramCommand::kPrechargeAll : DramCommand::kPrecharge;
    if (all) {
      timers_.precharge_all(rank, now);
    } else {
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
