// How a refresh is done: which commands close the rows of its banks, when each of them may go, and the
// refresh itself.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/dram/device/timers.hpp"
#include "memory/dram/queue/command_bus.hpp"
#include "memory/dram/queue/unused_rows.hpp"

namespace cxloom {

/// The banks that one refresh takes, by their index in the sub-channel.
struct DramRefreshSet {
  std::uint32_t rank = 0;
  std::vector<std::uint32_t> banks;
};

/// The command that does it.
struct DramRefreshForm {
  DramRefreshScope scope = DramRefreshScope::kRank;
  Clock duration = 0;    ///< of a rank, of which the set is all
  bool managed = false;  ///< refresh management
};

class DramRefreshSteps {
 public:
  DramRefreshSteps(DramTimers& timers, DramCommandBus& bus, DramUnusedRows& unused)
      : timers_(timers), bus_(bus), unused_(unused) {}

  /// When the next command for a refresh may go, one that closes rows or the refresh, the command bus aside.
  /// kNeverClock: rows that were opened for the direction that goes (`writing`) are used first.
  Clock next_at(DramRefreshScope scope, const DramRefreshSet& set, bool writing) const {
    return scope == DramRefreshScope::kRank ? rank_at(set, writing) : set_at(set, writing);
  }
  /// Sends that command. Returns whether it was the refresh.
  bool send_next(const DramRefreshForm& form, const DramRefreshSet& set, bool writing, Clock now) {
    return form.scope == DramRefreshScope::kRank ? send_to_rank(form, set, now)
                                                 : send_to_set(form, set, writing, now);
  }

 private:
  // A rank is closed by one command (PREA), the banks of a set one by one.
  Clock rank_at(const DramRefreshSet& set, bool writing) const;
  Clock set_at(const DramRefreshSet& set, bool writing) const;
  bool send_to_rank(const DramRefreshForm& form, const DramRefreshSet& set, Clock now);
  bool send_to_set(const DramRefreshForm& form, const DramRefreshSet& set, bool writing, Clock now);

  DramTimers& timers_;
  DramCommandBus& bus_;
  DramUnusedRows& unused_;
};

}  // namespace cxloom
