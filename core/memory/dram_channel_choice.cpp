// The part of DramChannel that chooses commands and sends them.
#include <algorithm>
#include <utility>

#include "memory/dram_channel.hpp"

namespace cxloom {

// --- choice ----------------------------------------------------------------------------------------------------------

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
  const DramQueue::Slot oldest = queue_.oldest(bank, write);
  Step step = Step::kNothing;
  DramPick pick;
  if (oldest == DramQueue::kNone) {
    if (candidate.step == Step::kNothing) return;
  } else {
    const std::int64_t row = timers_.bank(bank).row;
    if (unused_[bank] ==
        opener(write)) {  // that is what it was opened for, and first of all: others wait for the bank
      step = Step::kColumn;
      pick.slot = queue_.oldest_to(bank, write, row);
    } else if (blocked_[bank] == 0) {
      pick.slot = oldest;
      if (!within_banks_ || queue_.at(oldest).next != DramQueue::kNone)
        pick = scheduler_->pick(oldest, row, floor_);
      if (pick.slot != DramQueue::kNone) {
        step = row == DramTimers::kClosed              ? Step::kActivate
               : row == queue_.at(pick.slot).burst.row ? Step::kColumn
                                                       : Step::kPrecharge;
      }
    }
  }
  const DramRank key = step == Step::kNothing ? 0 : dram_key(pick.priority, queue_.at(pick.slot).order);
  if (step == candidate.step && key == candidate.key) return;
  if (candidate.step != Step::kNothing) ready(bank, write, candidate.step).remove(candidate.key);
  if (step != Step::kNothing) ready(bank, write, step).add({key, bank, queue_.at(pick.slot).burst.rmw});
  candidate = {step, pick.slot, key};
}

// As the scheduler said after it was told of something: its choice for this bank is out of date, or for every one.
void DramChannel::ask_again(std::uint32_t bank) {
  if (bank != DramScheduler::kEveryBank) return reconsider(bank);
  for (std::uint32_t each = 0; each < blocked_.size(); ++each) reconsider(each);
}

// The first clock at which what a burst needs next may go out.
inline Clock DramChannel::ready_at(Step step, const DramBurst& burst) const {
  const DramTimers::Bank& bank = timers_.bank(burst.bank);
  const Clock free =
      std::max(step == Step::kActivate ? activate_bus_free() : bus_free(step == Step::kColumn), floor_);
  if (step == Step::kColumn) {
    return std::max({free, timers_.column_at(bank, burst.write, burst.rmw),
                     timers_.rank_column_at(bank.rank, burst.write)});
  }
  if (step == Step::kActivate)
    return std::max({free, timers_.activate_at(bank), timers_.rank_activate_at(bank.rank)});
  return std::max({free, timers_.precharge_at(bank), timers_.rank_precharge_at(bank.rank)});
}

DramChannel::Choice DramChannel::choice_of(std::uint32_t bank, bool write) const {
  const Candidate& candidate = candidates_[write][bank];
  if (candidate.step == Step::kNothing) return {};
  const Clock at = ready_at(candidate.step, queue_.at(candidate.slot).burst);
  return {at, candidate.step, write, bank, dram_rank(candidate.key, candidate.step)};
}

// The first of each rank and kind of command, in one direction.
template <class Take>
void DramChannel::for_each_first(bool write, Take take) const {
  const Clock row_bus = std::max(floor_, bus_free(false));
  const Clock column_bus = std::max(floor_, bus_free(true));
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    const Ready& ready = ready_[write][rank];
    const auto found = [&](const DramReadyList::Found& first, Step step) {
      if (first.at != kNeverClock)
        take(Choice{first.at, step, write, first.entry.bank, dram_rank(first.entry.key, step)});
    };
    if (!ready.activate.empty()) {
      found(ready.activate.first(
                std::max({floor_, activate_bus_free(), timers_.rank_activate_at(rank)}),
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
  const auto rest = [&](Step step) {
    return step == Step::kColumn ? 0 : step == Step::kActivate ? timing_.tRCD : timing_.tRP + timing_.tRCD;
  };
  if (alone_ != DramQueue::kNone) {
    const DramBurst& burst = queue_.at(alone_).burst;
    const Step step = alone_step(burst);
    return ready_at(step, burst) + rest(step);
  }
  Clock bound = kNeverClock;
  if (!within_banks_) {  // it may change its mind when it is due, and for writes that go
    bound = scheduler_->due();
    for (const std::uint32_t bank : opened_[1]) bound = std::min(bound, choice_of(bank, true).at);
  }
  for_each_first(false,
                 [&](const Choice& choice) { bound = std::min(bound, choice.at + rest(choice.step)); });
  return bound;
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
    const Choice choice{at, Step::kTimeout, false, bank, dram_rank(dram_key(0xffff, bank), Step::kTimeout)};
    if (choice.before(best)) best = choice;
  }
  return best;
}

void DramChannel::choose_again() {
  choice_ = {};
  chosen_ = true;
  if ((idle() || alone_ != DramQueue::kNone) && drains_ == 0 && !rows_.times_out()) return;
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
}

// --- effects ---------------------------------------------------------------------------------------------------------

void DramChannel::hold_bus(DramCommand command, Clock now) {
  const bool column = command >= DramCommand::kRead && command <= DramCommand::kWritePrecharge;
  const DramDevice& device = config_.device;
  const bool activate = command == DramCommand::kActivate;
  Clock& free = bus_[column && split_bus_];
  if (now > free) second_half_by_ = kNeverClock;  // it went in the pause
  if (activate && device.two_cycle_commands == TwoCycleCommands::kSplitActivate) {
    free = now + 1;
    second_half_by_ = now + kLongestActivate;
    return;
  }
  free = now + (column ? device.column_clocks() : activate ? device.activate_clocks() : 1);
  if (free >= second_half_by_) {  // it has to go now
    second_half_by_ = kNeverClock;
    ++free;
  }
}

void DramChannel::tell_log(DramCommand command, std::uint32_t rank, std::uint32_t bank, Clock now,
                           const DramBurst* burst) {
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
    case Step::kColumn: {
      const std::uint32_t again = send_column(candidates_[chosen.write][chosen.target].slot, chosen.at);
      reconsider(chosen.target);
      if (again != DramScheduler::kNoBank) ask_again(again);
      choose_direction();
      break;
    }
    case Step::kActivate:
    case Step::kPrecharge:
      send_row(candidates_[chosen.write][chosen.target].slot, chosen.at);
      reconsider(chosen.target);
      break;
    case Step::kRefresh: issue_refresh(chosen.target, chosen.at); break;
    case Step::kTimeout: close_idle(chosen.target, chosen.at); break;
    case Step::kNothing: break;
  }
}

void DramChannel::take_from_opened(std::uint32_t bank) {
  std::vector<std::uint32_t>& opened = opened_[unused_[bank] == opener(true)];
  if (opened.back() == bank) {
    opened.pop_back();
  } else {
    std::erase(opened, bank);
  }
  unused_[bank] = 0;
}

// Opens the row of a burst, or closes the one that is open instead.
void DramChannel::send_row(DramQueue::Slot slot, Clock now) {
  DramQueue::Entry& entry = queue_.at(slot);
  const std::uint32_t bank = entry.burst.bank;
  const DramTimers::Bank& state = timers_.bank(bank);
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
}

// Reads or writes a burst, which leaves the queue. Returns what the scheduler said to that.
std::uint32_t DramChannel::send_column(DramQueue::Slot slot, Clock now) {
  const DramQueue::Entry entry = queue_.at(slot);
  const DramBurst& burst = entry.burst;
  const std::uint32_t bank = burst.bank;
  const std::uint32_t rank = timers_.bank(bank).rank;
  std::uint32_t again = DramScheduler::kNoBank;
  if (!within_banks_ || slot != queue_.oldest(bank, burst.write)) {
    again = scheduler_->served(slot, now);
    heed_due();
  }
  queue_.remove(slot);
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
  return again;
}

// --- a burst alone ---------------------------------------------------------------------------------------------------
//
// In idle time a burst is the only one in the queues. What it needs follows from the timers, until another comes or a
// refresh falls due; so long it is not put among the candidates, and nothing is chosen. With a row that may time out there
// is always a choice.

// What the only burst in the queues needs next.
DramChannel::Step DramChannel::alone_step(const DramBurst& burst) const {
  const std::int64_t row = timers_.bank(burst.bank).row;
  return row == burst.row ? Step::kColumn : row == DramTimers::kClosed ? Step::kActivate : Step::kPrecharge;
}

// Sends it, one command after the other, as long as that is before `before`, when something else may come. Returns
// whether the burst is through.
bool DramChannel::serve_alone(Clock before) {
  const DramBurst& burst = queue_.at(alone_).burst;
  const DramTimers::Bank& bank = timers_.bank(burst.bank);
  const auto may = [&](Step step) {
    const Clock at = ready_at(step, burst);
    if (at >= before) return false;
    floor_ = at;
    return true;
  };
  if (bank.row != burst.row) {
    if (bank.row != DramTimers::kClosed) {
      if (!may(Step::kPrecharge)) return false;
      send_row(alone_, floor_);
    }
    if (!may(Step::kActivate)) return false;
    send_row(alone_, floor_);
  }
  if (!may(Step::kColumn)) return false;
  send_column(std::exchange(alone_, DramQueue::kNone), floor_);
  return true;
}

// It is not by itself any more: among the candidates with it.
void DramChannel::join() {
  const std::uint32_t bank = queue_.at(std::exchange(alone_, DramQueue::kNone)).burst.bank;
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

}  // namespace cxloom
