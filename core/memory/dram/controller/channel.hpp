// A sub-channel of DRAM: its time, and the order of what happens in it. It admits bursts into its queues,
// sends the commands that they need, and says when each is done. Which burst a bank serves next is for its
// scheduler to say; when rows close and what a refresh is, for its policies.
//
// It has no events of its own. It is a simulation by itself that is caught up with when somebody needs to
// know: each command goes out at the first clock at which it may, given everything that had arrived by then,
// and between two commands nothing is computed. So an idle sub-channel costs nothing, and a busy one per
// command.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ring.hpp"
#include "memory/dram/controller/arbiter.hpp"
#include "memory/dram/controller/at_rest.hpp"
#include "memory/dram/controller/forecast.hpp"
#include "memory/dram/device/config.hpp"
#include "memory/dram/device/counters.hpp"
#include "memory/dram/device/timers.hpp"
#include "memory/dram/queue/arrivals.hpp"
#include "memory/dram/queue/command_bus.hpp"
#include "memory/dram/queue/queue.hpp"
#include "memory/dram/queue/ranks.hpp"
#include "memory/dram/queue/requesters.hpp"
#include "memory/dram/queue/unused_rows.hpp"
#include "memory/dram/queue/write_filter.hpp"
#include "memory/dram/queue/write_places.hpp"
#include "memory/dram/refresh/counted_rows.hpp"
#include "memory/dram/refresh/refresher.hpp"
#include "memory/dram/row_policy/row_policy.hpp"
#include "memory/dram/scheduler/scheduler.hpp"

namespace cxloom {

struct MediaRegistry;

class DramChannel {
 public:
  /// A burst is done for its requester.
  struct Done {
    Clock at = 0;
    Clock first = 0;  ///< its first command; `at` if it needed none
    std::uint32_t access = 0;
  };

  DramChannel(const DramConfig& config, const MediaRegistry& kinds, std::uint32_t index);

  /// Shows every command from now on to `log`.
  void watch(DramCommandLog* log) { bus_.watch(log); }

  /// The place for a burst that arrives, whose members are all given there. Everything before `now` may
  /// happen.
  DramBurst& next_burst(Clock now) {
    if (alone_.waits) another_comes(now);
    return alone_.entry.burst;
  }
  /// Whether the burst that was given there makes a turn of reads or writes shorter or longer: what is before
  /// it happens first.
  bool next_changes_turns() const { return requesters_.new_among(alone_.entry.burst); }
  /// The burst that was given there arrives at `ready`, which is not before `now`; calls come in the order of
  /// `ready`. Returns a clock before which it is not done, and nothing else sooner than was foreseen.
  Clock arrive(Clock ready, Clock now);
  /// Everything before `limit` happens. Nothing may arrive before it any more.
  void advance(Clock limit);
  /// Everything that waits happens; nothing may arrive any more. False if the scheduler picks nothing for
  /// `patience`.
  bool drain(Clock patience);
  /// As of the last `advance`: nothing is done before this clock, unless something new arrives, so that until
  /// then there is no need to advance.
  Clock next_done_bound() {
    const Clock under_way = done_.empty() ? kNeverClock : done_.front().at;
    if (under_way <= floor_) return floor_;
    return alone_.waits ? std::min(under_way, alone_bound()) : forecast_.done(floor_, under_way);
  }
  /// The next burst that is done, in the order of time; false if none is known.
  bool take_done(Clock now, Done& done) {
    if (done_.empty() || done_.front().at > now) return false;
    done = done_.front();
    done_.pop_front();
    return true;
  }

  /// As of the last `advance`.
  DramCounters counters();
  void restart_levels() {
    read_level_.restart();
    write_level_.restart();
  }
  /// The most bursts in a queue since then.
  std::uint32_t most_queued(bool write) const { return (write ? write_level_ : read_level_).largest; }
  DramRefreshScope refresh_scope() const { return refresher_.scope(); }
  Clock refresh_interval() const { return refresher_.interval(); }
  std::uint32_t queued() const { return queue_.count(false) + queue_.count(true); }
  bool idle() const { return queued() == 0; }
  /// Bursts queued in a direction of which the scheduler picks none, though no refresh is in their way.
  std::uint32_t held_back(bool write) const { return arbiter_.held_back(write); }

 private:
  using Step = DramStep;
  struct Admission {
    Clock at = kNeverClock;
    bool write = false;
  };

  // Admission.
  Admission next_admission() const;
  Clock shortest(const DramBurst& burst, Clock ready) const;
  void admit(bool write);
  /// The burst counts as queued, and its rank has something to do.
  void enter(const DramBurst& burst) {
    const std::uint32_t rank = timers_.bank(burst.bank).rank;
    if (ranks_.waiting(rank) == 0 && !refresher_.draining(rank)) ranks_.wake(rank, floor_);
    ranks_.queued(rank);
    (burst.write ? write_level_ : read_level_).change(floor_, +1);
    if (burst.write) write_places_.take();
  }
  void release_places() { write_places_.release(floor_, write_level_); }
  /// A burst that is not alone arrives. Returns whether the direction may turn sooner than was foreseen. In
  /// line, as most bursts are not.
  [[gnu::always_inline]] bool expect(const DramBurst& burst) {
    ++load_[burst.bank];
    if (burst.write) writes_.add(burst);
    return requesters_.add(burst) && arbiter_.writing();
  }
  /// It is served, or need not be.
  void forget(const DramBurst& burst) {
    --load_[burst.bank];
    if (burst.write) writes_.remove(burst);
    requesters_.remove(burst);
  }

  void heed_due() { next_due_ = std::min(next_due_, scheduler_->due()); }
  void fall_due(Clock now);

  // A burst alone.
  /// Nothing else arrives, waits, or is closed for a refresh. Every burst is put together here: copied in
  /// wider words than those in which it was just written, it would wait until they have left the store
  /// buffer.
  struct Alone {
    DramQueue::Entry entry;
    Clock ready = 0;
    Clock rest = 0;         ///< it takes at least so long from `ready` on
    bool waits = false;     ///< there is one, which has not had its read or write command
    bool admitted = false;  ///< it counts as queued
  };
  Clock alone_bound();
  void advance_queues(Clock limit);
  void another_comes(Clock now);
  bool advance_alone(Clock limit);
  bool serve_alone(Clock before);
  void join();

  // Effects.
  void issue(const DramChoice& choice);
  void open_row(DramQueue::Entry& entry, Clock now);
  void close_row(DramQueue::Entry& entry, Clock now);
  std::uint32_t send_column(DramQueue::Slot slot, Clock now);
  void send_column(const DramQueue::Entry& entry, bool first_use, Clock now);
  void served(const DramBurst& burst, Clock first, Clock now);
  void start_refresh(std::uint32_t rank, Clock now);
  void send_refresh(std::uint32_t rank, Clock now);
  void reconsider(const DramRefreshSet& set);
  void finish(Clock at, Clock first, std::uint32_t access) {
    done_.insert({at, first, access}, [](const Done& a, const Done& b) { return a.at < b.at; });
  }

  const DramConfig config_;
  const DramTiming& timing_;
  const Clock burst_;
  DramCommandBus bus_;
  DramTimers timers_;
  DramQueue queue_;
  DramUnusedRows unused_;
  DramCounters counters_;
  DramLevel read_level_;  // of the queues
  DramLevel write_level_;
  DramRanks ranks_;
  DramRefresher refresher_;
  const std::unique_ptr<DramRowPolicy> rows_;
  const std::unique_ptr<DramScheduler> scheduler_;
  const bool within_banks_;  ///< the scheduler chooses
  /// At any time, though nobody wants another.
  const bool rows_may_close_ = rows_->times_out() || refresher_.manages();
  DramRequesters requesters_;  ///< of bursts arriving or queued, not of one alone
  DramArbiter arbiter_;

  Clock floor_ = 0;  ///< everything before it has happened
  Alone alone_;
  DramAtRest at_rest_;
  /// A burst by itself needs no choice: the scheduler holds nothing back, no row times out, no activate makes
  /// management due, no queue is full with it.
  const bool may_be_alone_;
  Clock next_due_ = kNeverClock;  ///< of a refresh, or of the scheduler

  DramArrivals arrivals_;
  DramWritePlaces write_places_;
  DramWriteFilter writes_;           ///< arriving or queued, not one alone
  std::vector<std::uint32_t> load_;  ///< by bank: bursts arriving or queued; one alone does not count
  Ring<Done> done_;
  DramForecast forecast_;
};

}  // namespace cxloom
