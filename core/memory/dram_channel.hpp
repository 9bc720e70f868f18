// A sub-channel of DRAM: the bursts in its queues, the commands that they need, refresh, power-down. Which burst a bank
// serves next is for its scheduler to say.
//
// It has no events of its own. It is a simulation by itself that is caught up with when somebody needs to know: each
// command goes out at the first clock at which it may, given everything that had arrived by then, and between two
// commands nothing is computed. So an idle sub-channel costs nothing, and a busy one per command.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ring.hpp"
#include "memory/dram_command.hpp"
#include "memory/dram_counters.hpp"
#include "memory/dram_params.hpp"
#include "memory/dram_queue.hpp"
#include "memory/dram_ready.hpp"
#include "memory/dram_refresh.hpp"
#include "memory/dram_row_policy.hpp"
#include "memory/dram_scheduler.hpp"
#include "memory/dram_timers.hpp"

namespace cxloom {

class DramChannel {
 public:
  /// A burst is done for the one who asked.
  struct Done {
    Clock at = 0;
    Clock first = 0;  ///< its first command; `at` if it needed none
    std::uint32_t access = 0;
  };

  DramChannel(const DramConfig& config, const DramSchedulerRegistry& schedulers, std::uint32_t index);

  /// Shows every command from now on to `log`.
  void watch(DramCommandLog* log) { log_ = log; }

  /// A burst arrives at `ready`; calls come in the order of `ready`. Returns a clock before which it is not done.
  Clock arrive(const DramBurst& burst, Clock ready);
  /// Everything before `limit` happens. Nothing may arrive before it any more.
  void advance(Clock limit);
  /// Everything that waits happens; nothing may arrive any more.
  void drain();
  /// As of the last `advance`: nothing is done before this clock, unless something new arrives, so that until then
  /// there is no need to advance.
  Clock next_done_bound() const;
  /// The next burst that is done, in the order of time; false if none is known.
  bool take_done(Clock now, Done& done) {
    if (done_.empty() || done_.front().at > now) return false;
    done = done_.front();
    done_.pop_front();
    return true;
  }

  /// As of the last `advance`.
  DramCounters counters();
  void restart_levels();
  bool idle() const { return queue_.count(false) + queue_.count(true) == 0; }

 private:
  static constexpr std::size_t kFilter = 1024;
  using Step = DramStep;
  struct Candidate {  // what a bank needs next in one direction
    Step step = Step::kNothing;
    DramQueue::Slot slot = DramQueue::kNone;
    DramRank key = 0;
  };
  struct Choice {
    Clock at = kNeverClock;
    Step step = Step::kNothing;
    bool write = false;
    std::uint32_t target = 0;  ///< a bank; of kRefresh a rank
    DramRank rank = 0;
    bool before(const Choice& other) const { return at != other.at ? at < other.at : rank < other.rank; }
  };
  struct Ready {
    DramReadyList activate;
    DramReadyList column;
    DramReadyList precharge;
  };
  struct Arrival {
    DramBurst burst;
    Clock ready;
    std::uint64_t order;
    Clock rest;  ///< it takes at least so long from then on
  };
  struct Admission {
    Clock at = kNeverClock;
    bool write = false;
  };
  struct RankState {
    std::uint32_t pending = 0;  ///< bursts queued for it
    Clock idle_from = 0;        ///< since then it has nothing to do; kNeverClock: it has
    Clock settled = 0;          ///< the account of open rows goes up to here
  };

  // Admission.
  Admission next_admission() const;
  Clock shortest(const DramBurst& burst, Clock ready) const;
  Clock read_command_bound() const;
  void admit(bool write);
  void free_written() {
    while (!written_.empty() && written_.front() <= floor_) {
      counters_.write_queue.change(written_.front(), -1);
      --held_writes_;
      written_.pop_front();
    }
  }

  // Choice.
  void reconsider(std::uint32_t bank);
  void reconsider(std::uint32_t bank, bool write);
  DramReadyList& ready(std::uint32_t bank, bool write, Step step);
  Clock ready_at(Step step, const DramBurst& burst) const;
  template <class Take>
  void for_each_first(bool write, Take take) const;
  void ask_again(std::uint32_t bank);
  void update_next_due();
  void heed_due() { next_due_ = std::min(next_due_, scheduler_->due()); }
  Choice choice_of(std::uint32_t bank, bool write) const;
  Choice timeout_choice() const;
  const Choice& choose() {
    if (!chosen_) choose_again();
    return choice_;
  }
  void choose_again();
  void choose_direction();

  // A burst alone.
  Step alone_step(const DramBurst& burst) const;
  bool serve_alone(Clock before);
  void join();

  // Effects.
  void issue(const Choice& choice);
  void send_row(DramQueue::Slot slot, Clock now);
  void forget_opener(std::uint32_t bank) {
    if (unused_[bank] != 0) take_from_opened(bank);
  }
  void take_from_opened(std::uint32_t bank);
  std::uint32_t send_column(DramQueue::Slot slot, Clock now);
  void close_idle(std::uint32_t bank, Clock now);
  void skip_idle(Clock limit);
  bool refreshes_steadily(std::uint32_t rank) const;
  void sleep(DramCounters& counters, std::uint32_t rank, Clock until) const;
  void power_up(std::uint32_t rank, Clock now) {
    if (config_.power_down) wake_up(rank, now);
  }
  void wake_up(std::uint32_t rank, Clock now);
  void account_open(std::uint32_t rank, Clock now) {
    RankState& state = ranks_[rank];
    counters_.open += timers_.open_banks(rank) * (now - state.settled);
    state.settled = now;
  }
  void hold_bus(DramCommand command, Clock now);
  void finish(Clock at, Clock first, std::uint32_t access);
  void tell(DramCommand command, std::uint32_t rank, std::uint32_t bank, Clock now,
            const DramBurst* burst = nullptr) {
    if (log_) tell_log(command, rank, bank, now, burst);
  }
  void tell_log(DramCommand command, std::uint32_t rank, std::uint32_t bank, Clock now,
                const DramBurst* burst);

  // Refresh.
  void refresh_falls_due(std::uint32_t rank, Clock now);
  void start_drain(std::uint32_t rank, Clock now);
  void reconsider_set(std::uint32_t rank);
  Choice refresh_choice(std::uint32_t rank) const;
  void issue_refresh(std::uint32_t rank, Clock now);
  bool precharge_all(std::uint32_t rank, Clock now);
  bool precharge_one(std::uint32_t rank, Clock now);

  static std::uint8_t opener(bool write) { return write ? 2 : 1; }
  Clock bus_free(bool column) const { return bus_[column && split_bus_]; }
  /// An ACT-1 waits for the ACT-2 before it, which goes in the first clock that no other command takes.
  Clock activate_bus_free() const { return bus_[0] + static_cast<Clock>(second_half_by_ != kNeverClock); }
  std::size_t hash(const DramBurst& burst) const {
    return (burst.row * 0x9e3779b1U ^ burst.bank * 0x85ebca6bU ^ burst.column * 0xc2b2ae35U) % kFilter;
  }

  const DramConfig config_;
  const DramTiming& timing_;
  const Clock burst_;
  const std::uint32_t banks_in_rank_;
  const bool split_bus_;
  const std::uint32_t index_;
  DramTimers timers_;
  DramQueue queue_;
  const std::unique_ptr<DramScheduler> scheduler_;
  const bool within_banks_;  ///< the scheduler chooses
  DramRowPolicy rows_;
  std::vector<DramRefresh> refresh_;
  std::vector<RankState> ranks_;
  DramCommandLog* log_ = nullptr;

  Clock floor_ = 0;  ///< everything before it has happened
  bool writing_ = false;
  Clock second_half_by_ = kNeverClock;  ///< an ACT-2 goes in a free clock, by then
  std::array<Clock, 2> bus_{};          ///< free from then on: commands to rows (or all), commands to columns
  std::array<std::vector<Candidate>, 2> candidates_;  ///< by bank
  std::array<std::vector<Ready>, 2> ready_;           ///< by rank: the same, sorted
  Choice choice_;
  bool chosen_ = false;                       ///< choice_ is up to date
  DramQueue::Slot alone_ = DramQueue::kNone;  ///< the only burst queued, and not among the candidates
  Clock next_due_ = kNeverClock;              ///< of a refresh, or of the scheduler
  std::uint32_t drains_ = 0;                  ///< ranks that drain

  std::vector<std::uint8_t> blocked_;  ///< by bank: waits for its refresh
  std::vector<std::uint8_t> unused_;   ///< by bank: opened for a read (1) or write (2), and not used yet
  std::array<std::vector<std::uint32_t>, 2> opened_;  ///< these banks, by direction

  std::array<Ring<Arrival>, 2> arrivals_;  ///< not in a queue yet: in the future, or waiting for room
  Ring<Clock> written_;                    ///< when the data of writes leave their place in the write queue
  std::uint32_t held_writes_ = 0;          ///< places of the write queue that are taken
  std::array<std::uint32_t, kFilter> filter_{};  ///< how many writes, arriving or queued, share a hash
  Ring<Done> done_;
  std::uint32_t forwardable_ = 0;    ///< reads arriving that a write may answer
  std::vector<std::uint32_t> load_;  ///< by bank: bursts arriving or queued
  std::uint64_t order_ = 0;
  const bool
      may_be_alone_;  ///< a burst by itself needs no choice: no row times out, no queue is full with it
  DramCounters counters_;
};

}  // namespace cxloom
