// What the banks of a rank need next in one direction, sorted by kind of command and, within it, by priority
// and age. So the choice among many that could go out at the same clock ends at the first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "memory/dram/device/timers.hpp"

namespace cxloom {

/// The order of commands that may go out at the same clock. An
/// activate holds up others of its rank, a precharge only its bank.
enum class DramStep : std::uint8_t { kRefresh, kActivate, kColumn, kPrecharge, kTimeout, kNothing };

/// Which of several commands goes first that may go out at the same clock, the lowest: by the priority that
/// the scheduler gave the burst, then the step, then the order of arrival. The key of a burst is that without
/// a step.
using DramRank = std::uint64_t;
constexpr DramRank dram_key(std::uint16_t priority, std::uint64_t order) {
  return DramRank{priority} << 48U | order;
}
constexpr DramRank dram_rank(DramRank key, DramStep step) { return key | static_cast<DramRank>(step) << 45U; }

class DramReadyList {
 public:
  struct ReadyBurst {
    DramRank key = 0;  ///< of the burst
    std::uint32_t bank = 0;
    bool rmw = false;
  };
  struct FoundEntry {
    Clock at = kNeverClock;
    ReadyBurst burst;
  };

  bool empty() const { return bursts_.empty(); }
  /// The burst is not ready by itself before `not_before`.
  void add(const ReadyBurst& burst, Clock not_before) {
    none_before_ = bursts_.empty() ? not_before : std::min(none_before_, not_before);
    auto place = bursts_.end();
    while (place != bursts_.begin() && (place - 1)->key > burst.key) --place;
    bursts_.insert(place, burst);
  }
  void remove(DramRank key) {
    auto place = bursts_.begin();
    while (place->key != key) ++place;
    bursts_.erase(place);
  }
  /// No burst is ready by itself before this clock: the times of banks only grow.
  Clock none_before() const { return none_before_; }
  DramRank least_key() const { return bursts_.front().key; }
  /// The burst that is ready first, none before `earliest`; of several the first by key. `ready` gives its
  /// own time.
  template <class Ready>
  FoundEntry first(Clock earliest, Ready ready) const {
    FoundEntry best;
    for (const ReadyBurst& burst : bursts_) {
      const Clock at = ready(burst);
      if (at <= earliest) return {earliest, burst};
      if (at < best.at) best = {at, burst};
    }
    none_before_ = best.at;
    return best;
  }

 private:
  std::vector<ReadyBurst> bursts_;  // in the order of their keys
  mutable Clock none_before_ = 0;   // as it was found when all were last looked at
};

}  // namespace cxloom
