// What the banks of a rank need next in one direction, sorted by kind of command and, within it, by priority
// and age. So the choice among many that could go out at the same clock ends at the first.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/dram/device/timers.hpp"

namespace cxloom {

/// The order of commands that may go out at the same clock. An
/// activate holds up others of its rank, a precharge only its bank.
enum class DramStep : std::uint8_t { kRefresh, kActivate, kColumn, kPrecharge, kTimeout, kNothing };

/// Which of several commands goes first that may go out at the same clock, the lowest: by the priority that the scheduler
/// gave the burst, then the step, then the order of arrival. The key of a burst is that without a step.
using DramRank = std::uint64_t;
constexpr DramRank dram_key(std::uint16_t priority, std::uint64_t order) {
  return DramRank{priority} << 48U | order;
}
constexpr DramRank dram_rank(DramRank key, DramStep step) { return key | static_cast<DramRank>(step) << 45U; }

class DramReadyList {
 public:
  struct Entry {
    DramRank key = 0;  ///< of the burst
    std::uint32_t bank = 0;
    bool rmw = false;
  };
  struct Found {
    Clock at = kNeverClock;
    Entry entry;
  };

  bool empty() const { return entries_.empty(); }
  void add(const Entry& entry) {
    auto place = entries_.end();
    while (place != entries_.begin() && (place - 1)->key > entry.key) --place;
    entries_.insert(place, entry);
  }
  void remove(DramRank key) {
    auto place = entries_.begin();
    while (place->key != key) ++place;
    entries_.erase(place);
  }
  /// The entry that is ready first, none before `earliest`; of several the first by key. `ready` gives an entry's own time.
  template <class Ready>
  Found first(Clock earliest, Ready ready) const {
    Found best;
    for (const Entry& entry : entries_) {
      const Clock at = ready(entry);
      if (at <= earliest) return {earliest, entry};
      if (at < best.at) best = {at, entry};
    }
    return best;
  }

 private:
  std::vector<Entry> entries_;  // in the order of their keys
};

}  // namespace cxloom
