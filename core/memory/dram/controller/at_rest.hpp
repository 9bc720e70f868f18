// A burst that finds its sub-channel at rest: no command so far keeps those that it needs waiting, which
// follow each other by constants. What they keep waiting themselves is written down when something comes that
// may have to wait: most often the next burst finds all at rest again.
#pragma once

#include <algorithm>
#include <cstdint>

#include "memory/dram/device/counters.hpp"
#include "memory/dram/device/timers.hpp"
#include "memory/dram/device/timing.hpp"
#include "memory/dram/queue/command_bus.hpp"
#include "memory/dram/queue/queue.hpp"
#include "memory/dram/queue/ranks.hpp"
#include "memory/dram/queue/unused_rows.hpp"
#include "memory/dram/row_policy/row_policy.hpp"

namespace cxloom {

/// The parts of a sub-channel that its commands change.
struct DramAtRestContext {
  const DramTiming& timing;
  DramTimers& timers;
  DramCommandBus& bus;
  DramUnusedRows& unused;
  DramRanks& ranks;
  DramRowPolicy& rows;
  DramCounters& counters;
};

class DramAtRest {
 public:
  explicit DramAtRest(const DramAtRestContext& context) : the_(context) {}

  /// Whether a device's commands follow each other by its banks' times alone, as the bus is free again
  /// sooner.
  static bool suits(const DramDevice& device) {
    const DramTiming& timing = device.timing;
    return std::min({timing.tRP, timing.tRCD, timing.tRCD_WR}) >= device.activate_clocks();
  }
  /// Sends the commands of a burst for which nothing else waits, the first at `now`, if all is at rest and
  /// the last goes out before `before`. Returns when that does; kNeverClock: none is sent.
  Clock serve(const DramBurst& burst, Clock now, Clock before);
  /// Before anything else is done with the timers and the bus.
  void write_down() {
    if (sent_.column != kNeverClock) [[unlikely]]
      write_down_commands();
  }

 private:
  struct Sent {
    Clock precharge = 0;         ///< if there was a row before
    Clock activate = 0;          ///< if that was another one
    Clock column = kNeverClock;  ///< kNeverClock: nothing is to be written down
    std::int64_t row_before = DramTimers::kClosed;
    std::int64_t row = 0;
    std::uint32_t bank = 0;
    bool write = false;
    bool close = false;
  };
  DramCommand column_command() const {
    return sent_.write ? (sent_.close ? DramCommand::kWritePrecharge : DramCommand::kWrite)
                       : (sent_.close ? DramCommand::kReadPrecharge : DramCommand::kRead);
  }
  void show(const DramBurst& burst) const;
  void write_down_commands();

  const DramAtRestContext the_;
  Sent sent_;
};

// Whether a row lay open there nobody can foresee: that takes no branch.
[[gnu::always_inline]] inline Clock DramAtRest::serve(const DramBurst& burst, Clock now, Clock before) {
  if (now < the_.timers.rest_from()) return kNeverClock;
  const DramTimers::Bank& bank = the_.timers.bank(burst.bank);
  const bool hit = bank.row == burst.row;
  const bool closed = bank.row == DramTimers::kClosed;
  const Clock activate = now + (the_.timing.tRP & -Clock{!closed});
  const Clock column = hit ? now : activate + (burst.write ? the_.timing.tRCD_WR : the_.timing.tRCD);
  if (column >= before) return kNeverClock;
  bool first_use = !hit;
  if (the_.unused.holds(burst.bank)) {
    the_.unused.forget(burst.bank);
    first_use = true;
  }
  if (hit) {
    ++the_.counters.hits;
  } else {
    ++the_.counters.activates;
    the_.counters.misses += std::uint64_t{closed};
    the_.counters.conflicts += std::uint64_t{!closed};
    the_.ranks.account_open(bank.rank, activate);
    the_.counters.open -= activate - now;  // the bank was closed so long
    the_.rows.opened(burst.bank, burst.row);
  }
  const bool close = the_.rows.used(burst.bank, !first_use, column);
  sent_ = {now, activate, column, bank.row, burst.row, burst.bank, burst.write, close};
  the_.timers.serve_at_rest(burst.bank, burst.row, burst.write, hit ? 0 : activate, column);
  if (close) [[unlikely]] {
    the_.ranks.account_open(bank.rank, column);
    the_.timers.close_at_rest(burst.bank);
  }
  if (the_.bus.watched()) [[unlikely]]
    show(burst);
  return column;
}

}  // namespace cxloom
