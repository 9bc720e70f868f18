// What of persistent memory survives the loss of power, and what recovery has to do with it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "device/switch/persist_entries.hpp"

namespace cxloom {

class LineVersions;
class System;

/// Rules of recovery. No user can change them; tests do, to show what they are for.
struct RecoveryRules {
  bool skip_empty =
      true;  ///< an entry that is Empty is not drained: its data are in memory, perhaps with newer ones over them
  bool from_memory =
      true;  ///< of a chain of buffers the one that is nearer to the memory of a line drains it first
  bool oldest_first = true;  ///< of two entries of a line the one in Drain is drained before the Dirty one
};

/// The version of each line, by its number.
using LineContents = std::map<std::uint64_t, std::uint32_t>;

struct DurableState {
  struct Entry {
    KeptLine kept;
    PersistEntry::State state = PersistEntry::State::kEmpty;
    std::uint32_t links = 0;  ///< from its buffer to the memory of its line
    NodeId buffer;
  };

  std::vector<Entry> entries;  ///< that recovery drains
  LineContents memory;         ///< what memory has of their lines

  /// Puts the entries into the order in which they are drained.
  void sort(const RecoveryRules& rules);
  /// The same for equal states of a system, and for no others.
  std::vector<std::uint64_t> key() const;
};

/// What would be left if the power failed now: memory has what it has answered for, persist buffers have their entries; what is under way and
/// in caches is gone. `system` keeps versions of lines. `lost`: a switch that is lost with its buffer.
DurableState durable_state(const System& system, const RecoveryRules& rules, std::optional<NodeId> lost = {});

/// What memory has of these lines once all entries are drained in their order.
LineContents contents_after(const DurableState& state);

}  // namespace cxloom
