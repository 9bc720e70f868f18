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

/// A command that may go out.
struct DramChoice {
  Clock at = kNeverClock;
  DramStep step = DramStep::kNothing;
  bool write = false;
  std::uint32_t target = 0;  ///< a bank; of kRefresh a rank
  DramRank rank = 0;
  bool before(const DramChoice& other) const { return at != other.at ? at < other.at : rank < other.rank; }
};

class DramCandidates {
 public:
  DramCandidates(const DramOrganisation& organisation, const DramQueue& queue, const DramTimers& timers,
                 const DramCommandBus& bus, const DramUnusedRows& unused, const DramRefresher& refresher,
                 DramScheduler& scheduler);

  /// Something has changed in a bank: its candidates are worked out anew, those of the direction that does
  /// not go once it does.
  void reconsider(std::uint32_t bank, Clock now) {
    reconsider(bank, serves_write_, now);
    if (!within_banks_ || unused_.holds(bank, !serves_write_)) return reconsider(bank, !serves_write_, now);
    put_off(bank, now);
  }
  /// The direction that goes from now on.
  void serve(bool write);
  /// The scheduler said after a notification that its choice for this bank is out of date, or for every bank.
  void ask_again(std::uint32_t bank, Clock now);

  DramQueue::Slot slot(std::uint32_t bank, bool write) const { return candidates_[write][bank].slot; }
  /// Whether any bank has one.
  bool any(bool write) const {
    return std::ranges::any_of(ready_[write], [](const Ready& ready) {
      return !ready.activate.empty() || !ready.column.empty() || !ready.precharge.empty();
    });
  }
  /// The candidate of a bank, and when it may go, not before `now`.
  DramChoice of(std::uint32_t bank, bool write, Clock now) const;
  /// Gives `take` the first of each rank and kind of command in one direction, not before `now`; but none of
  /// those of which `worth` does not want the best that it can be.
  template <class Worth, class Take>
  void for_each_first(bool write, Clock now, Worth worth, Take take) const;

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
  struct Candidate {
    DramStep step = DramStep::kNothing;
    DramQueue::Slot slot = DramQueue::kNone;
    DramRank key = 0;
  };
  struct Ready {
    DramReadyList activate;
    DramReadyList column;
    DramReadyList precharge;

    DramReadyList& of(DramStep step) {
      return step == DramStep::kActivate ? activate : step == DramStep::kColumn ? column : precharge;
    }
  };

  /// When the bank and its group allow the step.
  Clock own_time(DramStep step, const DramReadyList::ReadyBurst& burst, bool write) const {
    const DramTimers::Bank& bank = timers_.bank(burst.bank);
    return step == DramStep::kActivate ? timers_.activate_at(bank)
           : step == DramStep::kColumn ? timers_.column_at(bank, write, burst.rmw)
                                       : timers_.precharge_at(bank);
  }
  void reconsider(std::uint32_t bank, bool write, Clock now);
  void put_off(std::uint32_t bank, Clock now) {
    if (std::exchange(changed_[bank], now) == kNeverClock) put_off_.push_back(bank);
  }

  const DramQueue& queue_;
  const DramTimers& timers_;
  const DramCommandBus& bus_;
  const DramUnusedRows& unused_;
  const DramRefresher& refresher_;
  DramScheduler& scheduler_;
  const bool within_banks_;                           ///< the scheduler chooses
  std::array<std::vector<Candidate>, 2> candidates_;  ///< by bank
  std::array<std::vector<Ready>, 2> ready_;           ///< the candidates by rank, sorted
  bool serves_write_ = false;                         ///< the direction that goes
  std::vector<std::uint32_t> put_off_;                ///< banks that are to be reconsidered in the other one
  std::vector<Clock> changed_;  ///< by bank, when they changed; kNeverClock: it is none of them
};

inline Clock DramCandidates::ready_at(DramStep step, const DramBurst& burst, Clock now) const {
  const DramTimers::Bank& bank = timers_.bank(burst.bank);
  const Clock free = std::max(
      step == DramStep::kActivate ? bus_.free_for_activate() : bus_.free(step == DramStep::kColumn), now);
  if (step == DramStep::kColumn) {
    return std::max({free, timers_.column_at(bank, burst.write, burst.rmw),
                     timers_.rank_column_at(bank.rank, burst.write)});
  }
  if (step == DramStep::kActivate)
    return std::max({free, timers_.activate_at(bank), timers_.rank_activate_at(bank.rank)});
  return std::max({free, timers_.precharge_at(bank), timers_.rank_precharge_at(bank.rank)});
}

template <class Worth, class Take>
void DramCandidates::for_each_first(bool write, Clock now, Worth worth, Take take) const {
  const auto look = [&]<DramStep step>(const DramReadyList& list, Clock earliest) {
    if (list.empty()) return;
    const Clock bound = std::max(earliest, list.none_before());
    if (!worth(DramChoice{bound, step, write, 0, dram_rank(list.least_key(), step)})) return;
    const auto first = list.first(earliest, [&](const auto& burst) { return own_time(step, burst, write); });
    take(DramChoice{first.at, step, write, first.burst.bank, dram_rank(first.burst.key, step)});
  };
  const Clock row_bus = std::max(now, bus_.free(false));
  const Clock column_bus = std::max(now, bus_.free(true));
  const Clock activate_bus = std::max(now, bus_.free_for_activate());
  const auto rank_count = static_cast<std::uint32_t>(ready_[write].size());
  for (std::uint32_t rank = 0; rank < rank_count; ++rank) {
    const Ready& ready = ready_[write][rank];
    look.template operator()<DramStep::kColumn>(ready.column,
                                                std::max(column_bus, timers_.rank_column_at(rank, write)));
    look.template operator()<DramStep::kActivate>(ready.activate,
                                                  std::max(activate_bus, timers_.rank_activate_at(rank)));
    look.template operator()<DramStep::kPrecharge>(ready.precharge,
                                                   std::max(row_bus, timers_.rank_precharge_at(rank)));
  }
}

}  // namespace cxloom
