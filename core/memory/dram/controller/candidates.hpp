// The next step of each bank, in reads and in writes: the burst that the scheduler picks and its command.
// The channel sends the first of them that may go.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "memory/dram/controller/ready.hpp"
#include "memory/dram/device/timers.hpp"
#include "memory/dram/queue/command_bus.hpp"
#include "memory/dram/queue/queue.hpp"
#include "memory/dram/queue/unused_rows.hpp"
#include "memory/dram/refresh/refresher.hpp"
#include "memory/dram/scheduler/scheduler.hpp"

namespace cxloom {

class DramCandidates {
 public:
  DramCandidates(const DramOrganisation& organisation, const DramQueue& queue, const DramTimers& timers,
                 const DramCommandBus& bus, const DramUnusedRows& unused, const DramRefresher& refresher,
                 DramScheduler& scheduler);

  /// Something has changed in a bank: its candidates are worked out anew, those of the direction that does
  /// not go once it does.
  void reconsider(std::uint32_t bank, Clock now);
  /// The direction that goes from now on.
  void serve(bool write);
  /// The scheduler said after a notification that its choice for this bank is out of date, or for every bank.
  void ask_again(std::uint32_t bank, Clock now);

  DramQueue::Slot slot(std::uint32_t bank, bool write) const { return ready_[write].slot(bank); }
  /// Whether any bank has one.
  bool any(bool write) const {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      for (const DramStep step : {DramStep::kActivate, DramStep::kColumn, DramStep::kPrecharge}) {
        if (!ready_[write].empty(rank, step)) return true;
      }
    }
    return false;
  }
  /// The candidate of a bank, and when it may go, not before `now`.
  DramChoice of(std::uint32_t bank, bool write, Clock now) const;
  /// Puts the first in one direction in the place of `best` if it goes out before it, none before `now`.
  void offer_first(bool write, Clock now, DramChoice& best) const;
  /// The first clock from `now` on, but at most `bound`, that is as much after one of them as `rest` says of
  /// its step.
  template <class Rest>
  Clock first_with_rest(bool write, Clock now, Clock bound, Rest rest) const;

  /// The next step of a burst.
  DramStep step_of(const DramBurst& burst) const {
    const std::int64_t row = timers_.bank(burst.bank).row;
    return row == DramTimers::kClosed ? DramStep::kActivate
           : row == burst.row         ? DramStep::kColumn
                                      : DramStep::kPrecharge;
  }
  /// The first clock from `now` on at which that may go.
  Clock ready_at(DramStep step, const DramBurst& burst, Clock now) const;

 private:
  /// When a bank allows a step, and its group.
  struct BankTime {
    Clock own = 0;
    const Clock* group = nullptr;
  };
  BankTime own_time(DramStep step, const DramBurst& burst) const;
  /// When the command bus and a rank allow a step.
  Clock rank_time(DramStep step, std::uint32_t rank, bool write) const {
    if (step == DramStep::kColumn) return std::max(bus_.free(true), timers_.rank_column_at(rank, write));
    if (step == DramStep::kActivate)
      return std::max(bus_.free_for_activate(), timers_.rank_activate_at(rank));
    return std::max(bus_.free(false), timers_.rank_precharge_at(rank));
  }
  void reconsider(std::uint32_t bank, bool write, Clock now);
  /// Does it, in line.
  void work_out(std::uint32_t bank, bool write, Clock now);
  void put_off(std::uint32_t bank, Clock now) {
    if (std::exchange(changed_[bank], now) == kNeverClock) put_off_.push_back(bank);
  }

  const DramQueue& queue_;
  const DramTimers& timers_;
  const DramCommandBus& bus_;
  const DramUnusedRows& unused_;
  const DramRefresher& refresher_;
  DramScheduler& scheduler_;
  const bool within_banks_;  ///< the scheduler chooses
  const std::uint32_t ranks_;
  std::array<DramReadyLists, 2> ready_;  ///< the candidates
  bool serves_write_ = false;            ///< the direction that goes
  std::vector<std::uint32_t> put_off_;   ///< banks that are to be reconsidered in the other one
  std::vector<Clock> changed_;           ///< by bank, when they changed; kNeverClock: it is none of them
};

inline Clock DramCandidates::ready_at(DramStep step, const DramBurst& burst, Clock now) const {
  const DramTimers::Bank& bank = timers_.bank(burst.bank);
  const Clock own = step == DramStep::kColumn     ? timers_.column_at(bank, burst.write, burst.rmw)
                    : step == DramStep::kActivate ? timers_.activate_at(bank)
                                                  : timers_.precharge_at(bank);
  return std::max({now, own, rank_time(step, bank.rank, burst.write)});
}

// Each command that goes out asks for it, so that it is in line.
[[gnu::always_inline]] inline void DramCandidates::offer_first(bool write, Clock now,
                                                               DramChoice& best) const {
  const Clock column_bus = std::max(now, bus_.free(true));
  const Clock activate_bus = std::max(now, bus_.free_for_activate());
  const Clock row_bus = std::max(now, bus_.free(false));
  const DramReadyLists& ready = ready_[write];
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    ready.offer_first(rank, DramStep::kColumn, std::max(column_bus, timers_.rank_column_at(rank, write)),
                      best);
    ready.offer_first(rank, DramStep::kActivate, std::max(activate_bus, timers_.rank_activate_at(rank)),
                      best);
    ready.offer_first(rank, DramStep::kPrecharge, std::max(row_bus, timers_.rank_precharge_at(rank)), best);
  }
}

template <class Rest>
Clock DramCandidates::first_with_rest(bool write, Clock now, Clock bound, Rest rest) const {
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    for (const DramStep step : {DramStep::kColumn, DramStep::kActivate, DramStep::kPrecharge}) {
      DramChoice first{.at = bound - rest(step)};
      ready_[write].offer_first(rank, step, std::max(now, rank_time(step, rank, write)), first);
      bound = first.at + rest(step);
    }
  }
  return bound;
}

}  // namespace cxloom
