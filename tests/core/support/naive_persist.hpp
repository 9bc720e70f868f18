// Persist buffers and recoveries that break a rule in one respect, most of them as the published rules do,
// and lose data or give old ones there: docs/model/persist.md says why.
#pragma once

#include "system/crash/durable_state.hpp"
#include "system/kinds/registry.hpp"

namespace cxloom::test {

/// The rules of a persist buffer. Those of the library are all true.
struct PersistRules {
  bool second_entry = true;         ///< a write to a line in Drain takes an entry of its own
  bool look_in_queue = true;        ///< a read waits behind a write of its line in the input queue
  bool answer_from_entries = true;  ///< a write in the input queue, which may be lost, answers no read
  bool empty_when_answered = true;  ///< an entry is Empty when its drain is answered, and not when it is sent
  bool answers_pass = true;         ///< an answer to a drain needs no turn in the input queue
  bool own_tags = true;             ///< a drain has a tag of the buffer's, and not that of the write
  bool masks = true;                ///< an entry knows which of its bytes were written
  bool same_ways = true;            ///< all ways to a line pass the same buffers
  bool keeps_failed = true;         ///< an entry whose drain ended with an error has its data still
  bool drains_again = true;         ///< and is drained again when that may end otherwise
  bool survives = true;             ///< entries outlive a failure of their switch
};

/// Also "naive-switch": a switch whose persist buffer goes by these rules.
Registry with_rules(const PersistRules& rules);

/// The rules of recovery. Those of the library are all true.
struct NaiveRecovery final : public RecoveryOrder {
  bool skip_empty = true;    ///< an entry that is Empty is not drained
  bool from_memory = true;   ///< of a chain of buffers the one nearer to memory drains a line first
  bool oldest_first = true;  ///< of two entries of a line the one in Drain is drained before the Dirty one

  bool drains(PersistEntry::State state) const override {
    return !skip_empty || RecoveryOrder::drains(state);
  }
  std::int64_t turn_of_buffer(std::uint32_t links) const override {
    const std::int64_t turn = RecoveryOrder::turn_of_buffer(links);
    return from_memory ? turn : -turn;
  }
  unsigned turn_in_line(PersistEntry::State state) const override {
    const unsigned turn = RecoveryOrder::turn_in_line(state);
    return oldest_first || state == PersistEntry::State::kEmpty ? turn : 1 - turn;
  }
};

}  // namespace cxloom::test
