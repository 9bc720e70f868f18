// The command of a sub-channel that goes out next: of the candidates of its banks in the direction that is
// served, the refreshes that have begun and the rows that time out. It stands until something changes.
#pragma once

#include <cstdint>

#include "memory/dram/controller/candidates.hpp"
#include "memory/dram/controller/idle_rows.hpp"
#include "memory/dram/device/config.hpp"
#include "memory/dram/queue/direction.hpp"
#include "memory/dram/queue/queue.hpp"
#include "memory/dram/queue/ranks.hpp"
#include "memory/dram/queue/requesters.hpp"
#include "memory/dram/queue/unused_rows.hpp"
#include "memory/dram/refresh/refresher.hpp"
#include "memory/dram/row_policy/row_policy.hpp"
#include "memory/dram/scheduler/scheduler.hpp"

namespace cxloom {

/// What an arbiter goes by, and sends by.
struct DramArbiterContext {
  const DramConfig& config;
  const DramQueue& queue;
  const DramRequesters& requesters;
  const DramUnusedRows& unused;
  const DramRefresher& refresher;
  const DramRowPolicy& rows;
  DramScheduler& scheduler;
  DramTimers& timers;
  DramCommandBus& bus;
  DramRanks& ranks;
};

class DramArbiter {
 public:
  explicit DramArbiter(const DramArbiterContext& context);

  const DramCandidates& candidates() const { return candidates_; }
  const DramDirection& direction() const { return direction_; }
  bool writing() const { return direction_.writing(); }
  /// The row policy closes idle rows.
  bool times_out() const { return times_out_; }
  /// The scheduler may pick nothing.
  bool holds_back() const { return holds_back_; }
  /// Bursts queued in a direction of which the scheduler picks none, though no refresh is in their way.
  std::uint32_t held_back(bool write) const {
    return holds_back_ && refresher_.draining() == 0 && !candidates_.any(write) ? queue_.count(write) : 0;
  }

  /// Nothing may go out before it, as of `now`, unless something changes.
  [[gnu::hot]] const DramChoice& choose(Clock now) {
    if (!chosen_) choose_again(now);
    return choice_;
  }
  /// The choice, to be sent now: it does not stand any more, and is there until the next `choose`.
  const DramChoice& take() {
    chosen_ = false;
    return choice_;
  }
  /// Something has changed in a bank, or elsewhere.
  void reconsider(std::uint32_t bank, Clock now) {
    candidates_.reconsider(bank, now);
    chosen_ = false;
  }
  void reconsider() { chosen_ = false; }
  /// The scheduler said after a notification: its choice for this bank is out of date, for all, or for none.
  void ask_again(std::uint32_t bank, Clock now) {
    if (bank == DramScheduler::kNoBank) return;
    candidates_.ask_again(bank, now);
    chosen_ = false;
  }
  /// A burst has come into the queue; the scheduler said `again` to that.
  void queued(const DramBurst& burst, std::uint32_t again, Clock now);
  /// A burst is served, one that was alone included.
  void served(bool write) { direction_.served(write); }
  /// The queues are as long as they are now, and may be served in the other direction.
  void choose_direction() {
    if (holds_back_) [[unlikely]]
      return choose_direction_of_picks();
    turn(queue_.count(false), queue_.count(true));
  }
  void close_idle(std::uint32_t bank, Clock now) { idle_rows_.close(bank, now); }

 private:
  void turn(std::uint32_t reads, std::uint32_t writes) {
    if (!direction_.turn(reads, writes)) return;
    chosen_ = false;
    candidates_.serve(direction_.writing());
  }
  void choose_again(Clock now);
  void offer_seldom(Clock now);
  void choose_direction_of_picks();
  DramChoice refresh_choice(std::uint32_t rank, Clock now) const;
  void offer(const DramChoice& choice) {
    if (choice.before(choice_)) choice_ = choice;
  }

  const DramQueue& queue_;
  const DramUnusedRows& unused_;
  const DramRefresher& refresher_;
  const DramCommandBus& bus_;
  const std::uint32_t ranks_;
  const bool powers_down_;
  const bool times_out_;
  const bool holds_back_;
  bool chosen_ = false;  ///< choice_ is up to date
  DramChoice choice_;
  DramCandidates candidates_;
  DramDirection direction_;
  DramIdleRows idle_rows_;
};

[[gnu::always_inline]] inline void DramArbiter::choose_again(Clock now) {
  if (holds_back_ && !candidates_.any(direction_.writing())) choose_direction_of_picks();
  choice_ = {};
  chosen_ = true;
  const bool idle = queue_.count(false) + queue_.count(true) == 0;
  if (idle && refresher_.draining() == 0 && !times_out_) return;
  const bool writing = direction_.writing();
  choice_.write = writing;
  candidates_.offer_first(writing, now, choice_);
  for (const std::uint32_t bank : unused_.banks(!writing)) offer(candidates_.of(bank, !writing, now));
  if (refresher_.draining() != 0 || times_out_) [[unlikely]]
    offer_seldom(now);
}

}  // namespace cxloom
