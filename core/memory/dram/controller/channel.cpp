#include "memory/dram/controller/channel.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "memory/media/registry.hpp"

namespace cxloom {

namespace {

std::uint32_t banks_of(const DramConfig& config) {
  return config.device.organisation.banks_in_rank() * config.device.organisation.ranks;
}

std::unique_ptr<DramScheduler> scheduler_of(const DramConfig& config, const DramSchedulerRegistry& kinds,
                                            const DramQueue& queue, const DramTimers& timers) {
  DramSchedulerContext context{queue, timers, DramClock(config.device.clock), banks_of(config)};
  return with_path("scheduler", [&] { return kinds.make(config.scheduler, context); });
}

std::unique_ptr<DramRowPolicy> row_policy_of(const DramConfig& config, const DramRowPolicyRegistry& kinds) {
  DramRowContext context{DramClock(config.device.clock), banks_of(config)};
  return with_path("row_policy", [&] { return kinds.make(config.row_policy, context); });
}

}  // namespace

DramChannel::DramChannel(const DramConfig& config, const MediaRegistry& kinds, std::uint32_t index)
    : config_(config),
      timing_(config_.device.timing),
      burst_(config.device.organisation.data_clocks()),
      bus_(config.device, index),
      timers_(config.device.organisation, config.device.timing),
      queue_(banks_of(config), config.read_queue + config.write_queue),
      unused_(banks_of(config)),
      ranks_(config_, timers_, bus_, counters_),
      refresher_(
          config_,
          make_refresh_policy(kinds.refresh_policies, config_.refresh, {config_.device, queue_, timers_}),
          {timers_, bus_, unused_}, timers_, bus_, ranks_, counters_),
      rows_(counted_rows(row_policy_of(config_, kinds.row_policies), refresher_, floor_, next_due_)),
      scheduler_(scheduler_of(config_, kinds.schedulers, queue_, timers_)),
      within_banks_(scheduler_->within_banks()),
      arbiter_(
          {config_, queue_, requesters_, unused_, refresher_, *rows_, *scheduler_, timers_, bus_, ranks_}),
      at_rest_({timing_, timers_, bus_, unused_, ranks_, *rows_, counters_}),
      may_be_alone_(within_banks_ && !rows_may_close_ && config.read_queue > 1 && config.write_queue > 1 &&
                    DramAtRest::suits(config.device)),
      next_due_(std::min(refresher_.due(), scheduler_->due())),
      arrivals_(config_, scheduler_->in_order()),
      write_places_(config.write_queue),
      load_(banks_of(config)),
      forecast_({config_, queue_, arrivals_, write_places_, arbiter_.candidates(), unused_, refresher_,
                 arbiter_.direction(), *scheduler_}) {}

// A read takes at least so long; exactly so long in a sub-channel with nothing else to do.
inline Clock DramChannel::shortest(const DramBurst& burst, Clock ready) const {
  if (writes_.may_hold(burst)) return DramArrivals::kForwarding;
  const Clock hit = timing_.CL + burst_;
  const DramTimers::Bank& bank = timers_.bank(burst.bank);
  if (load_[burst.bank] != 0 || bank.row == burst.row) return hit;
  // A refresh or a timeout may close the row of a bank that nobody else wants, but none is opened there.
  // Whether one lies open nobody can foresee: that takes no branch.
  const bool may_close =
      refresher_.draining() != 0 || next_due_ <= ready || refresher_.owed(bank.rank) || rows_may_close_;
  const bool stays_open = !may_close && bank.row != DramTimers::kClosed;
  return hit + timing_.tRCD + (timing_.tRP & -Clock{stays_open});
}

[[gnu::hot]] Clock DramChannel::arrive(Clock ready, Clock now) {
  const DramBurst& burst = alone_.entry.burst;
  const Clock rest = burst.write ? 0 : shortest(burst, ready);
  const bool first = arrivals_.empty(burst.write);
  if (may_be_alone_ && first && arrivals_.empty(!burst.write) && idle() && refresher_.draining() == 0 &&
      write_places_.room()) {
    alone_.entry.first = DramQueue::kUntouched;
    alone_.entry.outcome = RowOutcome::kHit;
    alone_.ready = ready;
    alone_.rest = rest;
    alone_.waits = true;
    alone_.admitted = false;
  } else {
    arrivals_.push(burst, ready, rest);
    if (expect(burst)) return now;
    if (arbiter_.holds_back()) return ready;  // the scheduler may pick others from then on
  }
  if (burst.write) {
    if (!config_.posted_writes) return ready + timing_.CWL + burst_;
    // Behind others that wait it needs nothing of its own: when they are through, its turn is looked at.
    return first ? ready : kNeverClock;
  }
  return ready + rest;
}

// --- time ------------------------------------------------------------------------------------------------

// Reads and writes come as they like: to look which is next takes no branch.
inline DramChannel::Admission DramChannel::next_admission() const {
  const Clock read = queue_.count(false) < config_.read_queue ? arrivals_.ready(false) : kNeverClock;
  Clock write = arrivals_.ready(true);
  if (!write_places_.room() && write != kNeverClock) [[unlikely]]
    write = std::max(write, write_places_.next_free());
  if (write == read && write != kNeverClock) [[unlikely]]
    return {write, arrivals_.write_first()};
  return {std::min(read, write), write < read};
}

[[gnu::hot]] void DramChannel::advance(Clock limit) {
  if (alone_.waits && advance_alone(limit) && next_due_ >= limit && refresher_.draining() == 0) {
    floor_ = std::max(floor_, limit);
    release_places();
    return;
  }
  advance_queues(limit);
}

[[gnu::hot]] void DramChannel::advance_queues(Clock limit) {
  at_rest_.write_down();
  for (;;) {
    release_places();
    const Admission admission = next_admission();
    if (admission.at <= floor_) {
      admit(admission.write);
      continue;
    }
    if (floor_ >= limit) return;
    if (next_due_ < limit && idle()) {
      refresher_.skip_idle(std::min(limit, admission.at));
      next_due_ = std::min(refresher_.due(), scheduler_->due());
    }
    const Clock command = arbiter_.choose(floor_).at;
    const Clock next = std::min({admission.at, next_due_, command, limit});
    floor_ = std::max(floor_, next);
    if (next == admission.at) {
      release_places();
      admit(admission.write);
    } else if (next == limit) {
      release_places();
      return;
    } else if (next == next_due_) {
      fall_due(next);
    } else {
      issue(arbiter_.take());
    }
  }
}

// Refreshes are owed from now on, or the scheduler wanted to be woken.
void DramChannel::fall_due(Clock now) {
  for (std::uint32_t rank = 0; rank < ranks_.count(); ++rank) {
    if (refresher_.due(rank) != now) continue;
    refresher_.fall_due(rank);
    if (refresher_.wanted(rank)) start_refresh(rank, now);
  }
  if (scheduler_->due() == now) {
    arbiter_.ask_again(scheduler_->wake(now), floor_);
    ensure(scheduler_->due() > now, "a DRAM scheduler is due again at once");
  }
  next_due_ = std::min(refresher_.due(), scheduler_->due());
}

bool DramChannel::drain(Clock patience) {
  std::uint64_t served = 0;
  Clock since = floor_;
  while (!idle() || alone_.waits || !arrivals_.empty(false) || !arrivals_.empty(true)) {
    if (std::exchange(served, counters_.reads + counters_.writes) != counters_.reads + counters_.writes)
      since = floor_;
    if (floor_ - since > patience) return false;
    advance(floor_ + burst_);
  }
  return true;
}

// --- admission -------------------------------------------------------------------------------------------

[[gnu::hot]] void DramChannel::admit(bool write) {
  const DramArrival arrival = arrivals_.pop(write, floor_, requesters_.several());
  const DramBurst& burst = arrival.burst;
  const DramQueue::Slot earlier = writes_.may_hold_another(burst) ? queue_.write_to(burst) : DramQueue::kNone;
  // A read that waited outside may find a write that came after it: that one is not its business.
  const bool queued = earlier != DramQueue::kNone && queue_.at(earlier).order < arrival.order;
  if (queued && (!write || config_.posted_writes)) {
    ++(write ? counters_.merged : counters_.forwarded);
    forget(burst);
    arrivals_.needs_no_place(burst);
    const Clock at = write ? floor_ : floor_ + DramArrivals::kForwarding;
    return finish(at, at, burst.access);
  }
  if (write && config_.posted_writes) finish(floor_, floor_, burst.access);
  enter(burst);
  const DramQueue::Slot slot = queue_.add({burst}, arrival.order);
  arrivals_.queued(burst);
  std::uint32_t again = DramScheduler::kNoBank;
  if (!within_banks_) {
    again = scheduler_->arrived(slot, floor_);
    heed_due();
  }
  arbiter_.queued(burst, again, floor_);
}

// --- effects ---------------------------------------------------------------------------------------------

// Commands go out from one place alone, and are in line there.
[[gnu::always_inline]] inline void DramChannel::issue(const DramChoice& choice) {
  switch (choice.step) {
    case Step::kColumn: {
      const std::uint32_t again =
          send_column(arbiter_.candidates().slot(choice.target, choice.write), choice.at);
      arbiter_.reconsider(choice.target, floor_);
      arbiter_.ask_again(again, floor_);
      arbiter_.choose_direction();
      break;
    }
    case Step::kActivate:
      open_row(queue_.at(arbiter_.candidates().slot(choice.target, choice.write)), choice.at);
      unused_.opened(choice.target, choice.write);
      arbiter_.reconsider(choice.target, floor_);
      break;
    case Step::kPrecharge:
      close_row(queue_.at(arbiter_.candidates().slot(choice.target, choice.write)), choice.at);
      arbiter_.reconsider(choice.target, floor_);
      break;
    case Step::kRefresh: send_refresh(choice.target, choice.at); break;
    case Step::kTimeout:
      arbiter_.close_idle(choice.target, choice.at);
      arbiter_.reconsider(choice.target, floor_);
      break;
    case Step::kNothing: break;
  }
}

// Opens the row of a burst.
[[gnu::hot]] inline void DramChannel::open_row(DramQueue::Entry& entry, Clock now) {
  const std::uint32_t bank = entry.burst.bank;
  if (entry.first == DramQueue::kUntouched) entry.first = now;
  if (entry.outcome == RowOutcome::kHit) entry.outcome = RowOutcome::kMiss;
  ranks_.account_open(timers_.bank(bank).rank, now);
  ++counters_.activates;
  timers_.activate(bank, entry.burst.row, now);
  rows_->opened(bank, entry.burst.row);
  bus_.send(DramCommand::kActivate, bank, now, &entry.burst);
}

// Closes the row that is open instead.
[[gnu::hot]] inline void DramChannel::close_row(DramQueue::Entry& entry, Clock now) {
  const std::uint32_t bank = entry.burst.bank;
  if (entry.first == DramQueue::kUntouched) entry.first = now;
  entry.outcome = RowOutcome::kConflict;
  ranks_.account_open(timers_.bank(bank).rank, now);
  unused_.forget(bank);
  timers_.precharge(bank, now);
  bus_.send(DramCommand::kPrecharge, bank, now);
}

// Reads or writes a burst, which leaves the queue. Returns what the scheduler said to that.
[[gnu::hot]] std::uint32_t DramChannel::send_column(DramQueue::Slot slot, Clock now) {
  const DramQueue::Entry entry = queue_.at(slot);
  std::uint32_t again = DramScheduler::kNoBank;
  if (!within_banks_ || slot != queue_.oldest(entry.burst.bank, entry.burst.write)) {
    again = scheduler_->served(slot, now);
    heed_due();
  }
  queue_.remove(slot);
  arrivals_.left(entry.burst);
  forget(entry.burst);
  const bool first_use = unused_.holds(entry.burst.bank);
  unused_.forget(entry.burst.bank);
  send_column(entry, first_use, now);
  return again;
}

// `first_use`: of its row since that was opened.
[[gnu::hot]] void DramChannel::send_column(const DramQueue::Entry& entry, bool first_use, Clock now) {
  const DramBurst& burst = entry.burst;
  const std::uint32_t bank = burst.bank;
  const bool close = rows_->used(bank, !first_use, now) &&
                     queue_.oldest_to(bank, false, burst.row) == DramQueue::kNone &&
                     queue_.oldest_to(bank, true, burst.row) == DramQueue::kNone;
  if (close) ranks_.account_open(timers_.bank(bank).rank, now);
  timers_.column(bank, burst.write, close, now);
  ++(entry.outcome == RowOutcome::kHit    ? counters_.hits
     : entry.outcome == RowOutcome::kMiss ? counters_.misses
                                          : counters_.conflicts);
  const DramCommand command = burst.write ? (close ? DramCommand::kWritePrecharge : DramCommand::kWrite)
                                          : (close ? DramCommand::kReadPrecharge : DramCommand::kRead);
  bus_.send(command, bank, now, &burst);
  served(burst, entry.first == DramQueue::kUntouched ? now : entry.first, now);
}

// Its read or write command went out, the first of its commands at `first`.
[[gnu::always_inline]] inline void DramChannel::served(const DramBurst& burst, Clock first, Clock now) {
  arbiter_.served(burst.write);
  const Clock end = now + (burst.write ? timing_.CWL : timing_.CL) + burst_;
  if (burst.write) {
    ++counters_.writes;
    write_places_.leave(end);
    if (!config_.posted_writes) finish(end, first, burst.access);
  } else {
    ++counters_.reads;
    read_level_.change(now, -1);
    finish(end, first, burst.access);
  }
  const std::uint32_t rank = timers_.bank(burst.bank).rank;
  ranks_.served(rank);
  if (ranks_.waiting(rank) == 0) {
    // Power-down waits until the data are in the device and an automatic precharge is over.
    ranks_.idle_from(rank, end + timing_.tWR + timing_.tRP);
    if (refresher_.wanted(rank)) start_refresh(rank, now);
  }
}

void DramChannel::start_refresh(std::uint32_t rank, Clock now) {
  refresher_.start(rank, now);
  reconsider(refresher_.set(rank));
}

void DramChannel::send_refresh(std::uint32_t rank, Clock now) {
  const DramRefreshSet& set = refresher_.set(rank);
  refresher_.send_next(rank, arbiter_.writing(), now);
  reconsider(set);
  if (refresher_.wanted(rank)) start_refresh(rank, now);
}

// The banks of a refresh.
void DramChannel::reconsider(const DramRefreshSet& set) {
  arbiter_.reconsider();
  if (ranks_.waiting(set.rank) == 0) return;  // nobody wants anything of them
  for (const std::uint32_t bank : set.banks) {
    if (load_[bank] != 0) arbiter_.reconsider(bank, floor_);
  }
}

// --- a burst alone ---------------------------------------------------------------------------------------
//
// In idle time a burst comes when nothing else does. What it needs follows from the timers, until another
// comes or a refresh falls due; so long it is in no queue, and nothing is chosen. With a row that may time
// out there is always a choice.

// Sends its commands, one after the other, as long as that is before `before`. Returns whether it is through.
[[gnu::always_inline]] inline bool DramChannel::serve_alone(Clock before) {
  if (floor_ >= before) return false;
  DramQueue::Entry& entry = alone_.entry;
  const DramBurst& burst = entry.burst;
  if (entry.first == DramQueue::kUntouched) {
    if (const Clock column = at_rest_.serve(burst, floor_, before); column != kNeverClock) {
      alone_.waits = false;
      served(burst, std::exchange(floor_, column), column);
      return true;
    }
  }
  at_rest_.write_down();
  const auto may = [&](Step step) {
    const Clock at = arbiter_.candidates().ready_at(step, burst, floor_);
    if (at >= before) return false;
    floor_ = at;
    return true;
  };
  bool opened = false;
  if (const Step step = arbiter_.candidates().step_of(burst); step != Step::kColumn) {
    if (step == Step::kPrecharge) {
      if (!may(Step::kPrecharge)) return false;
      close_row(entry, floor_);
    }
    if (!may(Step::kActivate)) return false;
    open_row(entry, floor_);
    opened = true;
  }
  if (!may(Step::kColumn)) {
    if (opened) unused_.opened(burst.bank, burst.write);
    return false;
  }
  if (!opened && unused_.holds(burst.bank)) {
    unused_.forget(burst.bank);
    opened = true;
  }
  alone_.waits = false;
  send_column(entry, opened, floor_);
  return true;
}

// Up to `limit`, or until a refresh falls due, when it joins the others. Returns whether nothing else waits.
[[gnu::hot]] bool DramChannel::advance_alone(Clock limit) {
  if (!alone_.admitted) {
    if (alone_.ready > limit) return true;
    if (next_due_ <= alone_.ready || refresher_.draining() != 0) {
      join();
      return false;
    }
    const DramBurst& burst = alone_.entry.burst;
    floor_ = std::max(floor_, alone_.ready);
    release_places();
    alone_.admitted = true;
    enter(burst);
    if (burst.write && config_.posted_writes) finish(floor_, floor_, burst.access);
  }
  if (serve_alone(std::min(next_due_, limit)) || next_due_ > limit) return true;
  join();
  return false;
}

// While one may be waiting.
void DramChannel::another_comes(Clock now) {
  advance_alone(now);
  if (alone_.waits) join();
}

// It is not by itself any more: as if it had never been.
void DramChannel::join() {
  const DramQueue::Entry& entry = alone_.entry;
  alone_.waits = false;
  static_cast<void>(expect(entry.burst));  // nothing else waits that a turn could bring forward
  if (!alone_.admitted) {
    arrivals_.push(entry.burst, alone_.ready, alone_.rest);
    return;
  }
  at_rest_.write_down();
  queue_.add(entry, arrivals_.next_order());
  arrivals_.queued(entry.burst);
  arbiter_.queued(entry.burst, DramScheduler::kNoBank, floor_);
}

// A clock before which it is not done.
Clock DramChannel::alone_bound() {
  const DramBurst& burst = alone_.entry.burst;
  if (burst.write && config_.posted_writes) return alone_.admitted ? kNeverClock : alone_.ready;
  if (burst.write) return std::max(floor_, alone_.ready) + timing_.CWL + burst_;
  if (!alone_.admitted) return alone_.ready + alone_.rest;
  at_rest_.write_down();
  return forecast_.alone(burst, floor_);
}

// --- counters --------------------------------------------------------------------------------------------

DramCounters DramChannel::counters() {
  for (std::uint32_t rank = 0; rank < ranks_.count(); ++rank) ranks_.account_open(rank, floor_);
  read_level_.settle(floor_);
  write_level_.settle(floor_);
  counters_.read_queue = read_level_.integral;
  counters_.write_queue = write_level_.integral;
  DramCounters counted = counters_;
  for (std::uint32_t rank = 0; rank < ranks_.count(); ++rank) ranks_.account_sleep(counted, rank, floor_);
  return counted;
}

}  // namespace cxloom
