#include "memory/dram_channel.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace cxloom {

namespace {

constexpr Clock kForwarding = 1;  // clocks to answer a read from the write queue

std::unique_ptr<DramScheduler> scheduler_of(const DramConfig& config, const DramSchedulerRegistry& kinds,
                                            const DramQueue& queue, const DramTimers& timers) {
  const DramOrganisation& organisation = config.device.organisation;
  DramSchedulerContext context{queue, timers, DramClock(config.device.clock),
                               organisation.banks_in_rank() * organisation.ranks};
  try {
    return kinds.make(config.scheduler, context);
  } catch (const InputError& error) {
    throw error.below("scheduler");
  }
}

}  // namespace

DramChannel::DramChannel(const DramConfig& config, const DramSchedulerRegistry& schedulers,
                         std::uint32_t index)
    : config_(config),
      timing_(config_.device.timing),
      burst_(config.device.organisation.burst_clocks),
      banks_in_rank_(config.device.organisation.banks_in_rank()),
      split_bus_(config.device.split_command_bus),
      index_(index),
      timers_(config.device.organisation, config.device.timing),
      queue_(banks_in_rank_ * config.device.organisation.ranks, config.read_queue + config.write_queue),
      scheduler_(scheduler_of(config_, schedulers, queue_, timers_)),
      within_banks_(scheduler_->within_banks()),
      rows_(config, banks_in_rank_ * config.device.organisation.ranks),
      ranks_(config.device.organisation.ranks),
      blocked_(std::size_t{banks_in_rank_} * ranks_.size()),
      unused_(blocked_.size()),
      load_(blocked_.size()),
      may_be_alone_(!rows_.times_out() && config.read_queue > 1 && config.write_queue > 1) {
  for (auto& candidates : candidates_) candidates.resize(blocked_.size());
  for (auto& ready : ready_) ready.resize(ranks_.size());
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) refresh_.emplace_back(config, rank);
  update_next_due();
}

Clock DramChannel::arrive(const DramBurst& burst, Clock ready) {
  const Clock rest = burst.write ? 0 : shortest(burst, ready);
  const bool first = arrivals_[burst.write].empty();
  arrivals_[burst.write].push_back({burst, ready, order_++, rest});
  ++load_[burst.bank];
  if (burst.write) {
    ++filter_[hash(burst)];
    if (!config_.posted_writes) return ready + timing_.CWL + burst_;
    // Behind others that wait it needs nothing of its own: when they are through, its turn is looked at.
    return first ? ready : kNeverClock;
  }
  if (rest == kForwarding) ++forwardable_;
  return ready + rest;
}

// A read takes at least so long; exactly so long in a sub-channel with nothing else to do.
Clock DramChannel::shortest(const DramBurst& burst, Clock ready) const {
  if (filter_[hash(burst)] != 0) return kForwarding;
  const Clock hit = timing_.CL + burst_;
  const DramTimers::Bank& bank = timers_.bank(burst.bank);
  if (load_[burst.bank] != 0 || bank.row == burst.row) return hit;
  // The row of a bank that nobody else wants may be closed before it comes, by a refresh or a timeout, but not opened.
  const bool closed = bank.row == DramTimers::kClosed || drains_ != 0 || next_due_ <= ready ||
                      refresh_[bank.rank].wanted(false) || rows_.times_out();
  return hit + timing_.tRCD + (closed ? 0 : timing_.tRP);
}

// --- time ------------------------------------------------------------------------------------------------------------

inline DramChannel::Admission DramChannel::next_admission() const {
  Admission next;
  if (!arrivals_[0].empty() && queue_.count(false) < config_.read_queue) next.at = arrivals_[0].front().ready;
  if (arrivals_[1].empty()) return next;
  const Arrival& head = arrivals_[1].front();
  Clock at = kNeverClock;
  if (held_writes_ < config_.write_queue) {
    at = head.ready;
  } else if (!written_.empty()) {
    at = std::max(head.ready, written_.front());
  }
  if (at < next.at || (at == next.at && at != kNeverClock && head.order < arrivals_[0].front().order))
    next = {at, true};
  return next;
}

void DramChannel::advance(Clock limit) {
  for (;;) {
    free_written();
    const Admission admission = next_admission();
    if (admission.at <= floor_) {
      admit(admission.write);
      continue;
    }
    if (alone_ != DramQueue::kNone) {
      const Clock before = std::min({admission.at, next_due_, limit});
      if (!serve_alone(before) && before == next_due_) join();
    }
    if (floor_ >= limit) return;
    if (next_due_ < limit && idle()) skip_idle(std::min(limit, admission.at));
    const Clock command = choose().at;
    const Clock next = std::min({admission.at, next_due_, command, limit});
    floor_ = std::max(floor_, next);
    if (next == admission.at) {
      free_written();
      admit(admission.write);
    } else if (next == limit) {
      free_written();
      return;
    } else if (next == next_due_) {
      for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        if (refresh_[rank].due() == next) refresh_falls_due(rank, next);
      }
      if (scheduler_->due() == next) {
        const std::uint32_t again = scheduler_->wake(next);
        if (again != DramScheduler::kNoBank) ask_again(again);
        ensure(scheduler_->due() > next, "a DRAM scheduler is due again at once");
      }
      update_next_due();
    } else {
      issue(choice_);
    }
  }
}

void DramChannel::drain() {
  while (!idle() || !arrivals_[0].empty() || !arrivals_[1].empty()) advance(floor_ + burst_);
}

Clock DramChannel::next_done_bound() const {
  if (!done_.empty() && done_.front().at <= floor_) return floor_;
  Clock bound = kNeverClock;
  if (!done_.empty()) {  // what is on its way comes before what has no command yet
    bound = done_.front().at;
  } else if (queue_.count(false) != 0) {
    bound = read_command_bound() + timing_.CL + burst_;
  }
  const Clock write = timing_.CWL + burst_;
  if (!arrivals_[0].empty()) {
    const Clock room = queue_.count(false) < config_.read_queue ? floor_ : read_command_bound();
    const std::size_t few = std::min<std::size_t>(arrivals_[0].size(), 4);
    for (std::size_t i = 0; i < few; ++i)
      bound = std::min(bound, std::max(room, arrivals_[0][i].ready) + arrivals_[0][i].rest);
    if (few != arrivals_[0].size()) {
      const Clock rest = forwardable_ != 0 ? kForwarding : timing_.CL + burst_;
      bound = std::min(bound, std::max(room, arrivals_[0][few].ready) + rest);
    }
  }
  if (!config_.posted_writes) {
    if (queue_.count(true) != 0) bound = std::min(bound, floor_ + write);
    if (!arrivals_[1].empty()) bound = std::min(bound, std::max(floor_, arrivals_[1].front().ready) + write);
  } else if (!arrivals_[1].empty()) {
    const Clock ready = std::max(floor_, arrivals_[1].front().ready);
    const bool room = held_writes_ < config_.write_queue;
    bound = std::min(bound, room               ? ready
                            : written_.empty() ? std::max(ready, floor_ + write)
                                               : std::max(ready, written_.front()));
  }
  return bound;
}

void DramChannel::finish(Clock at, Clock first, std::uint32_t access) {
  done_.insert({at, first, access}, [](const Done& a, const Done& b) { return a.at < b.at; });
}

// --- admission -------------------------------------------------------------------------------------------------------

void DramChannel::admit(bool write) {
  const Arrival arrival = arrivals_[write].front();
  arrivals_[write].pop_front();
  const DramBurst& burst = arrival.burst;
  if (!write && arrival.rest == kForwarding) --forwardable_;
  const DramQueue::Slot earlier = filter_[hash(burst)] != 0 ? queue_.write_to(burst) : DramQueue::kNone;
  // A read that waited outside may find a write that came after it: that one is not its business.
  const bool queued = earlier != DramQueue::kNone && queue_.at(earlier).order < arrival.order;
  if (queued && !write) {
    ++counters_.forwarded;
    --load_[burst.bank];
    finish(floor_ + kForwarding, floor_ + kForwarding, burst.access);
    return;
  }
  if (write && config_.posted_writes) finish(floor_, floor_, burst.access);
  if (queued && write && config_.posted_writes) {
    ++counters_.merged;
    --load_[burst.bank];
    --filter_[hash(burst)];
    return;
  }
  if (alone_ != DramQueue::kNone) join();
  const bool alone = may_be_alone_ && idle() && drains_ == 0;
  const std::uint32_t rank = timers_.bank(burst.bank).rank;
  if (ranks_[rank].pending++ == 0 && !refresh_[rank].draining()) power_up(rank, floor_);
  ranks_[rank].idle_from = kNeverClock;
  const DramQueue::Slot slot = queue_.add(burst, arrival.order);
  (write ? counters_.write_queue : counters_.read_queue).change(floor_, +1);
  if (write) ++held_writes_;
  std::uint32_t again = DramScheduler::kNoBank;
  if (!within_banks_) {
    again = scheduler_->arrived(slot, floor_);
    heed_due();
  }
  if (alone) {
    alone_ = slot;
    return;
  }
  const Choice before = choice_;
  const bool known =
      chosen_ && !config_.power_down && (before.target != burst.bank || before.step == Step::kRefresh);
  const bool direction = writing_;
  reconsider(burst.bank);
  if (again != DramScheduler::kNoBank) ask_again(again);
  choose_direction();
  if (known && again == DramScheduler::kNoBank && direction == writing_) {
    choice_ = before;
    chosen_ = true;
    if (write == writing_) {
      const Choice mine = choice_of(burst.bank, write);
      if (mine.before(choice_)) choice_ = mine;
    }
  }
}

void DramChannel::choose_direction() {
  const std::uint32_t reads = queue_.count(false);
  const std::uint32_t writes = queue_.count(true);
  const bool before = writing_;
  if (writing_) {
    if (writes == 0 || (reads != 0 && writes <= config_.write_low)) writing_ = false;
  } else if (writes >= config_.write_high || (reads == 0 && writes != 0)) {
    writing_ = true;
  }
  if (before != writing_) chosen_ = false;
}

// --- power-down and idle time ----------------------------------------------------------------------------------------

void DramChannel::wake_up(std::uint32_t rank, Clock now) {
  RankState& state = ranks_[rank];
  if (state.idle_from == kNeverClock) return;
  const Clock entry = state.idle_from + *config_.power_down;
  if (entry >= now) return;
  const Clock exit = std::max(now, entry + timing_.tPD);
  sleep(counters_, rank, exit);
  timers_.power_up(rank, exit);
  tell(DramCommand::kPowerDown, rank, 0, entry);
  tell(DramCommand::kPowerUp, rank, 0, exit);
}

// Refreshes in idle time follow each other at equal intervals, once there has been one that nothing delayed.
void DramChannel::skip_idle(Clock limit) {
  if (log_) return;  // who reads along wants to see every refresh
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!refreshes_steadily(rank)) return;
  }
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    DramRefresh& refresh = refresh_[rank];
    // The last is done in full, for the state that it leaves.
    const Clock count = (limit - refresh.due()) / refresh.interval() - 1;
    if (count <= 0) continue;
    const Clock awake = ranks_[rank].idle_from - (refresh.due() - refresh.interval());
    refresh.skip(count);
    ranks_[rank].idle_from += count * refresh.interval();
    counters_.refreshes += static_cast<std::uint64_t>(count);
    if (!config_.power_down) continue;
    const Clock asleep = refresh.interval() - awake - *config_.power_down;
    if (asleep > 0) counters_.asleep_closed += count * asleep;
  }
  update_next_due();
}

void DramChannel::update_next_due() {
  next_due_ = scheduler_->due();
  for (const DramRefresh& refresh : refresh_) next_due_ = std::min(next_due_, refresh.due());
}

// The last refresh of an idle rank went out when it was due, all is as it was before it, and so it will be with the next.
bool DramChannel::refreshes_steadily(std::uint32_t rank) const {
  const DramRefresh& refresh = refresh_[rank];
  if (refresh.draining() || refresh.wanted(false) || timers_.open_banks(rank) != 0) return false;
  if (timers_.refresh_all_at(rank) > refresh.due()) return false;
  const Clock awake = ranks_[rank].idle_from - (refresh.due() - refresh.interval());
  const Clock refreshing = refresh.all_banks() ? timing_.tRFC : timing_.tRFC_SB;
  if (!config_.power_down) return awake == refreshing;
  const Clock asleep = refresh.interval() - awake - *config_.power_down;  // before the next
  return asleep <= 0 ? awake == refreshing : awake == timing_.tXP + refreshing && asleep >= timing_.tPD;
}

DramCounters DramChannel::counters() {
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) account_open(rank, floor_);
  counters_.read_queue.settle(floor_);
  counters_.write_queue.settle(floor_);
  DramCounters counted = counters_;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].idle_from != kNeverClock) sleep(counted, rank, floor_);
  }
  return counted;
}

// Accounts for the power-down that a rank is in, if it is, up to `until`.
void DramChannel::sleep(DramCounters& counters, std::uint32_t rank, Clock until) const {
  if (!config_.power_down) return;
  const Clock asleep = until - ranks_[rank].idle_from - *config_.power_down;
  if (asleep <= 0) return;
  const std::uint32_t open = timers_.open_banks(rank);
  (open != 0 ? counters.asleep_open : counters.asleep_closed) += asleep;
  counters.open -= open * asleep;
}

void DramChannel::restart_levels() {
  counters_.read_queue.restart();
  counters_.write_queue.restart();
}

}  // namespace cxloom
