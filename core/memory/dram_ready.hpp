// What the banks of a rank need next in one direction, sorted by kind of command and, within it, by age. So the choice
// among many that could go out at the same clock ends at the first, which is the oldest.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/dram_timers.hpp"

namespace cxloom {

/// What goes first among commands that may go out at the same clock. An activate holds up others of its rank, a precharge
/// only its bank.
enum class DramStep : std::uint8_t { kRefresh, kActivate, kColumn, kPrecharge, kTimeout, kNothing };

class DramReadyList {
 public:
  struct Entry {
    std::uint64_t order = 0;  ///< of arrival
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
    while (place != entries_.begin() && (place - 1)->order > entry.order) --place;
    entries_.insert(place, entry);
  }
  void remove(std::uint64_t order) {
    auto place = entries_.begin();
    while (place->order != order) ++place;
    entries_.erase(place);
  }
  /// The entry that is ready first, none before `earliest`; of several the oldest. `ready` gives an entry's own time.
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
  std::vector<Entry> entries_;  // oldest first
};

}  // namespace cxloom
