#include "memory/dram/controller/arbiter.hpp"

#include <algorithm>

namespace cxloom {

DramArbiter::DramArbiter(const DramArbiterContext& context)
    : queue_(context.queue),
      unused_(context.unused),
      refresher_(context.refresher),
      bus_(context.bus),
      ranks_(context.ranks.count()),
      powers_down_(context.config.power_down.has_value()),
      times_out_(context.rows.times_out()),
      holds_back_(context.scheduler.holds_back()),
      candidates_(context.config.device.organisation, context.queue, context.timers, context.bus,
                  context.unused, context.refresher, context.scheduler),
      direction_(context.config, context.requesters),
      idle_rows_(context.config.device.organisation.banks_in_rank() * ranks_,
                 context.config.device.timing.tRP, context.rows, context.queue, context.refresher,
                 context.timers, context.bus, context.ranks) {}

// What was chosen before stands against the burst alone, if nothing else has changed.
[[gnu::hot]] void DramArbiter::queued(const DramBurst& burst, std::uint32_t again, Clock now) {
  direction_.queued(burst.write);
  const bool known = chosen_ && !powers_down_ &&
                     (choice_.target != burst.bank || choice_.step == DramStep::kRefresh) &&
                     again == DramScheduler::kNoBank;
  const bool writing = direction_.writing();
  reconsider(burst.bank, now);
  ask_again(again, now);
  choose_direction();
  if (!known || writing != direction_.writing()) return;
  chosen_ = true;
  if (burst.write == writing) offer(candidates_.of(burst.bank, writing, now));
}

// A direction in which the scheduler picks nothing has nothing to do.
void DramArbiter::choose_direction_of_picks() {
  const auto left = [&](bool write) { return queue_.count(write) - held_back(write); };
  turn(left(false), left(true));
}

// Refreshes that have begun, and rows that time out.
void DramArbiter::offer_seldom(Clock now) {
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    if (refresher_.draining(rank)) offer(refresh_choice(rank, now));
  }
  if (times_out_) offer(idle_rows_.next(now));
}

DramChoice DramArbiter::refresh_choice(std::uint32_t rank, Clock now) const {
  const Clock at = refresher_.next_at(rank, direction_.writing());
  if (at == kNeverClock) return {};
  return {std::max({at, now, bus_.free(false)}), DramStep::kRefresh, false, rank,
          dram_rank(0, DramStep::kRefresh)};
}

}  // namespace cxloom
