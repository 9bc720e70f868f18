// The part of persistent memory that survives the loss of power, and its recovery.
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

/// The entries that recovery drains, and their order.
class RecoveryOrder {
 public:
  virtual ~RecoveryOrder() = default;

  /// An entry that is Empty is not: its data are in memory, perhaps with newer ones over them.
  virtual bool drains(PersistEntry::State state) const { return state != PersistEntry::State::kEmpty; }
  /// The buffer that is fewer links from the memory of a line has the lower turn: it drains the line first.
  virtual std::int64_t turn_of_buffer(std::uint32_t links) const { return links; }
  /// The entry of a line in Drain is older than the Dirty one, and has the lower turn.
  virtual unsigned turn_in_line(PersistEntry::State state) const;
};

inline const RecoveryOrder kRecoveryOrder;

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
  void sort(const RecoveryOrder& order);
  /// Equal for equal states of a system, and for no others.
  std::vector<std::uint64_t> key() const;
};

/// What would be left if the power failed now: memory has what it has answered for, persist buffers have
/// their entries; what is under way and in caches is gone. `system` keeps versions of lines. `lost`: a switch
/// that is lost with its buffer.
DurableState durable_state(const System& system, const RecoveryOrder& order = kRecoveryOrder,
                           std::optional<NodeId> lost = {});

/// The versions of these lines in memory once all entries are drained in their order.
LineContents contents_after(const DurableState& state);

}  // namespace cxloom
