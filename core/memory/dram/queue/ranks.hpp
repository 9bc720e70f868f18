// The ranks of a sub-channel: how many bursts wait for each, since when it is idle, and its power-down.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "memory/dram/device/config.hpp"
#include "memory/dram/device/counters.hpp"
#include "memory/dram/device/timers.hpp"
#include "memory/dram/queue/command_bus.hpp"

namespace cxloom {

class DramRanks {
 public:
  DramRanks(const DramConfig& config, DramTimers& timers, const DramCommandBus& bus, DramCounters& counters);

  std::uint32_t count() const { return static_cast<std::uint32_t>(ranks_.size()); }
  /// Bursts queued for the rank.
  std::uint32_t waiting(std::uint32_t rank) const { return ranks_[rank].waiting; }
  void queued(std::uint32_t rank) {
    ++ranks_[rank].waiting;
    ranks_[rank].idle_from = kNeverClock;
  }
  /// A waiting burst of the rank is served.
  void served(std::uint32_t rank) { --ranks_[rank].waiting; }

  /// The rank has nothing to do from this clock on; kNeverClock: it has.
  Clock idle_from(std::uint32_t rank) const { return ranks_[rank].idle_from; }
  void idle_from(std::uint32_t rank, Clock clock) { ranks_[rank].idle_from = clock; }
  /// It was at rest, and a row is closed that lay open.
  void delay_idle(std::uint32_t rank, Clock until) {
    Clock& idle_from = ranks_[rank].idle_from;
    if (idle_from != kNeverClock) idle_from = std::max(idle_from, until);
  }

  /// After so long without work a rank is in power-down.
  const std::optional<Clock>& power_down() const { return power_down_; }
  bool asleep_by(std::uint32_t rank, Clock clock) const {
    return power_down_ && ranks_[rank].idle_from != kNeverClock &&
           clock >= ranks_[rank].idle_from + *power_down_;
  }
  /// The rank gets something to do, and leaves power-down for it.
  void wake(std::uint32_t rank, Clock now) {
    if (power_down_) leave_power_down(rank, now);
  }

  /// Before the number of open rows changes, and whenever somebody looks at the counters.
  void account_open(std::uint32_t rank, Clock now) {
    Rank& state = ranks_[rank];
    counters_.open += timers_.open_banks(rank) * (now - state.settled);
    state.settled = now;
  }
  /// Adds to `counters` the power-down that a rank is in, if it is, up to `until`.
  void account_sleep(DramCounters& counters, std::uint32_t rank, Clock until) const;

 private:
  struct Rank {
    std::uint32_t waiting = 0;
    Clock idle_from = 0;
    Clock settled = 0;  ///< the account of open rows goes up to here
  };

  void leave_power_down(std::uint32_t rank, Clock now);

  const std::optional<Clock> power_down_;
  const Clock shortest_power_down_;
  DramTimers& timers_;
  const DramCommandBus& bus_;
  DramCounters& counters_;
  std::vector<Rank> ranks_;
};

}  // namespace cxloom
